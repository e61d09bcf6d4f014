"""Checks on folders in memory, without a process."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.change import CheckReport
from whilly.domain.failure import read_failure
from whilly.ports.checks import Checks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.domain.change import CheckCommand
    from whilly.domain.ids import AttemptId

_NOT_FOUND = 127


@final
class MemoryChecks(Checks):
    """Understands `true`, `false`, `exit N`, `echo TEXT`, `test -f PATH` and `grep -q TEXT PATH`, joined by `&&`.

    And `sleep SECONDS`, by itself.

    Args:
        folders: the files of every checkout, by its path.

    Attributes:
        asked: every command that was run, with the attempt that it was run for.
    """

    def __init__(self, folders: Mapping[str, Mapping[str, str]]) -> None:
        self._folders = folders
        self.asked: list[tuple[AttemptId, str]] = []

    @override
    async def run(self, attempt: AttemptId, checkout: str, commands: Sequence[CheckCommand]) -> CheckReport:
        setup = " && ".join(command.run for command in commands if command.kind == "setup")
        passed: list[str] = []
        for command in commands:
            self.asked.append((attempt, command.run))
            if command.run.startswith("sleep "):
                await asyncio.sleep(float(command.run.removeprefix("sleep ")))
                continue
            code, output = _run_line(command.run, self._folders.get(checkout, {}))
            if code not in command.accept:
                return CheckReport(tuple(passed), read_failure(command.run, code, output, root=checkout, setup=setup))
            passed.append(command.run)
        return CheckReport(tuple(passed))


def _run_line(line: str, files: Mapping[str, str]) -> tuple[int, str]:
    output = ""
    code = 0
    for part in line.split("&&"):
        code, said = _run_words(shlex.split(part), files)
        output += said
        if code != 0 or part.split()[:1] == ["exit"]:
            break
    return code, output


def _run_words(words: list[str], files: Mapping[str, str]) -> tuple[int, str]:
    code, output = 0, ""
    match words:
        case ["true"]:
            pass
        case ["false"]:
            code = 1
        case ["exit", number]:
            code = int(number)
        case ["echo", *rest]:
            output = " ".join(rest) + "\n"
        case ["test", "-f", path]:
            code = int(path not in files)
        case ["grep", "-q", text, path]:
            code = int(text not in files.get(path, ""))
        case _:
            code, output = _NOT_FOUND, f"sh: 1: {words[0] if words else ''}: not found\n"
    return code, output
