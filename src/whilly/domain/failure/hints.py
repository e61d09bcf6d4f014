"""What is read out of a failure's output: the error, its place in the project, what failed, what is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from whilly.domain.failure.missing import Missing, find_missing
from whilly.domain.failure.place import find_place

_MAX_FAILING = 10
_MAX_LINE = 300
_FAILING = re.compile(
    r"^(?:FAILED|ERROR) (?!collecting )(?P<pytest>[^\s:]+\.py(?:::.+?)?)(?: - |$)"
    r"|^(?:FAIL|ERROR): (?P<unittest>\S+ \(.+?\))"
    r"|^\s*--- FAIL: (?P<go>\S+)"
    r"|^---- (?P<cargo>\S+) stdout ----$"
    r"|^\s*● (?P<jest>.+ \u203a .+?)$"
    r"|^not ok \d+ - (?P<tap>.+?)(?: #.*)?$"
    r"|^✖ (?P<node>.+) \([\d.]+m?s\)$",
    re.MULTILINE,
)
_PYTHON_ERROR = re.compile(
    r"^(?:E {3,})?(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failure|Group))"
    r"(?:: (?P<message>.*))?$",
    re.MULTILINE,
)
_PYTEST_ASSERT = re.compile(r"^E {3,}(?P<message>assert .*)$", re.MULTILINE)
_OTHER_ERRORS = (
    re.compile(r"^(?P<text>error\[E\d+\]: .*)$", re.MULTILINE),
    re.compile(r"^thread '.*' (?:\(\d+\) )?panicked at .*:\n(?P<text>.*)$", re.MULTILINE),
    re.compile(r"^(?P<text>panic: .*)$", re.MULTILINE),
    re.compile(r"^\s*(?P<text>\w*Error(?: \[\w+\])?: .*)$", re.MULTILINE),
    re.compile(r"^(?P<text>\S+\.go:\d+:\d+: .*)$", re.MULTILINE),
    re.compile(r"(?P<text>error TS\d+: .*)$", re.MULTILINE),
    re.compile(r"^\s+(?P<text>\S+\.go:\d+: .*)$", re.MULTILINE),
    re.compile(r"^\s+(?P<text>expect\(.*)$", re.MULTILINE),
    re.compile(r"^(?P<text>error: .*)$", re.MULTILINE),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an output says.

    Attributes:
        headline: the most telling of it, in one line; empty when nothing was recognised.
        failing: names of the tests that failed, at most a few.
        lacks_dependency: something that is not of the project itself is not installed.
    """

    headline: str = ""
    hints: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    lacks_dependency: bool = False

    def headed(self, headline: str) -> Reading:
        """The same under another headline."""
        return replace(self, headline=headline)


def read_hints(section: str, text: str) -> Reading:
    """Read `section`, the account of the failure within the whole `text`."""
    failing = tuple(dict.fromkeys(_clip(found[found.lastgroup or 0]) for found in _FAILING.finditer(section)))
    error = find_error(section)
    place = find_place(section)
    missing = find_missing(text)
    hints = []
    if error:
        hints.append(f"error: {error}")
    if place:
        hints.append(f"raised at {place}")
    hints.extend(_describe(thing) for thing in missing)
    hints.extend(f"failing test: {name}" for name in failing[:_MAX_FAILING])
    if len(failing) > _MAX_FAILING:
        hints.append(f"and {len(failing) - _MAX_FAILING} more failing tests")
    lacks = any(thing.is_dependency for thing in missing)
    return Reading(_headline(error, failing, missing), tuple(hints), failing, lacks)


def find_error(section: str) -> str:
    """The error that ended it: class and message; the first one where a test tool lists several."""
    found = [*_PYTHON_ERROR.finditer(section)]
    bare = _PYTEST_ASSERT.search(section)
    if bare and (not found or bare.start() < found[0].start()):
        return _clip(f"AssertionError: {bare['message']}")
    if found:
        # A traceback ends with the error that counts; a test tool's list begins with it.
        chosen = found[-1] if section.startswith("Traceback ") else found[0]
        return _clip(chosen["name"] + (f": {chosen['message']}" if chosen["message"] else ""))
    for pattern in _OTHER_ERRORS:
        other = pattern.search(section)
        if other:
            return _clip(other["text"].strip())
    return ""


def _headline(error: str, failing: tuple[str, ...], missing: tuple[Missing, ...]) -> str:
    if missing and (missing[0].is_dependency or not failing):
        return _describe(missing[0])
    if failing:
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        return f"{failing[0]}{more}" + (f": {error}" if error else "")
    return error


def _describe(thing: Missing) -> str:
    return _clip(
        f"{thing.kind} {thing.name} was not found" if thing.kind == "command" else f"missing {thing.kind}: {thing.name}"
    )


def _clip(line: str) -> str:
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…"
