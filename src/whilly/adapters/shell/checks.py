"""Checks by the shell."""

from __future__ import annotations

import asyncio
import errno
from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.shell.command import KILL, Ended, run_command, shell_argv
from whilly.domain.change import CheckReport
from whilly.domain.confinement import Confinement
from whilly.domain.errors import NotFound, Unavailable
from whilly.domain.failure import read_failure
from whilly.domain.session import Launch
from whilly.ports.checks import Checks
from whilly.transport.process.census import ATTEMPT_VARIABLE, STATE_VARIABLE, find_carriers
from whilly.transport.process.ending import end_carriers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from whilly.domain.attempt import Evidence
    from whilly.domain.change import CheckCommand
    from whilly.domain.ids import AttemptId
    from whilly.ports.sandbox import Sandbox


@final
class ShellChecks(Checks):
    """Runs commands by `/bin/sh -c` (on Windows by `cmd /c`).

    Args:
        env: the whole environment of the commands, but for Whilly's two marks.
        state: Whilly's directory of this repository; part of the mark, as attempt ids are unique only within it.
        time_limit: for each command.
        grace: between TERM and KILL.
        sandbox: holds the commands, without any network; None lets them do what Whilly's user may.
        readable: what they may read besides, inside the sandbox.
    """

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        state: str,
        time_limit: timedelta,
        grace: timedelta,
        sandbox: Sandbox | None = None,
        readable: Sequence[str] = (),
    ) -> None:
        self._env = dict(env)
        self._state = state
        self._time_limit = time_limit.total_seconds()
        self._grace = grace.total_seconds()
        self._sandbox = sandbox
        self._readable = tuple(readable)

    @override
    async def run(self, attempt: AttemptId, checkout: str, commands: Sequence[CheckCommand]) -> CheckReport:
        env = {**self._env, ATTEMPT_VARIABLE: str(attempt), STATE_VARIABLE: self._state}
        if await asyncio.to_thread(self._has_leftovers, attempt):
            await self._end(attempt)
        try:
            return await self._run_all(env, checkout, commands)
        finally:
            try:
                await self._end(attempt)
            except asyncio.CancelledError:
                for carrier in find_carriers(self._state, attempt.__eq__):
                    carrier.signal(KILL)
                raise

    def _has_leftovers(self, attempt: AttemptId) -> bool:
        return next(find_carriers(self._state, attempt.__eq__), None) is not None

    async def _end(self, attempt: AttemptId) -> None:
        await end_carriers(self._state, attempt.__eq__, self._grace)

    async def _run_all(self, env: Mapping[str, str], checkout: str, commands: Sequence[CheckCommand]) -> CheckReport:
        setup = " && ".join(command.run for command in commands if command.kind == "setup")
        passed: list[str] = []
        for command in commands:
            ended = await self._run_one(env, checkout, command)
            if ended.code not in command.accept:
                return CheckReport(tuple(passed), self._read(command, ended, checkout, setup))
            passed.append(command.run)
        return CheckReport(tuple(passed))

    def _launch(self, argv: tuple[str, ...], checkout: str, env: Mapping[str, str]) -> Launch:
        launch = Launch(argv, cwd=checkout, env=env)
        if self._sandbox is None:
            return launch
        held = self._sandbox.contain(launch, Confinement(home="", writable=(checkout,), readable=self._readable))
        # The marks stay on the host's part, by which all of it is found.
        return replace(held, env={**held.env, **{name: env[name] for name in (ATTEMPT_VARIABLE, STATE_VARIABLE)}})

    async def _run_one(self, env: Mapping[str, str], checkout: str, command: CheckCommand) -> Ended:
        try:
            launch = self._launch(shell_argv(command.run), checkout, env)
            return await run_command(launch.argv, launch.cwd, launch.env, self._time_limit, self._grace)
        except ValueError as error:
            return Ended(126, f"this command cannot be run: {error}".encode("utf-8", "backslashreplace"))
        except (FileNotFoundError, NotADirectoryError) as error:
            message = f"the checkout {checkout} is not there"
            raise NotFound(message) from error
        except OSError as error:
            if error.errno == errno.E2BIG:
                return Ended(126, b"this command cannot be run: it is too long")
            message = f"a check could not be started: {error.strerror}"
            raise Unavailable(message, remedy="free some memory or end some processes") from error

    def _read(self, command: CheckCommand, ended: Ended, checkout: str, setup: str) -> Evidence:
        output = ended.output.decode("utf-8", "replace")
        limit = self._time_limit if ended.code is None else None
        return read_failure(command.run, ended.code, output, root=checkout, setup=setup, time_limit=limit)
