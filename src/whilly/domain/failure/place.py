"""The innermost place in the project's own code that a failure names."""

from __future__ import annotations

import re

_FRAME = re.compile(r'^ {2,}File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<name>.+)$', re.MULTILINE)
_PYTEST = re.compile(r"^(?P<path>[^\s:]+\.py):(?P<line>\d+): (?:in (?P<name>\S+)|(?P<error>\w+)|)$", re.MULTILINE)
_TEST_END = re.compile(r"^(?:_{3,} .+ _{3,}|=+ .+ =+)$", re.MULTILINE)
_NODE = re.compile(r"^\s+at (?:(?P<name>.+?) \()?(?P<path>(?:file://)?[^\s():]+):(?P<line>\d+):\d+\)?", re.MULTILINE)
_RUST = re.compile(
    r"panicked at (?P<path>[^\s:]+\.rs):(?P<line>\d+)|^\s*--> (?P<path2>[^\s:]+\.rs):(?P<line2>\d+)", re.MULTILINE
)
_GO = re.compile(r"^\s*(?P<path>[^\s:]+\.go):(?P<line>\d+)(?::\d+)?(?:: | \+0x)", re.MULTILINE)
_FOREIGN = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|\.venv|venv|\.tox|\.nox|vendor|\.cargo|rustc)/"
    r"|/lib/python\d|^<|^node:|/go/pkg/mod/|/usr/(?:local/)?go/|^/",
)
"""Absolute paths are foreign, too: those below the checkout were made relative before."""


def find_place(section: str) -> str:
    """`path:line` and, where known, the function; empty when none is the project's."""
    frames = [*_FRAME.finditer(_first_traceback(section))]
    for frame in reversed(frames):
        if not _FOREIGN.search(frame["path"]):
            return _render(frame["path"], frame["line"], frame["name"])
    return _find_in_pytest(section) or _find_elsewhere(section)


def _first_traceback(section: str) -> str:
    # Of several tests that failed, the first; of one chain of errors, the last link, which is the one that counts.
    if section.startswith("Traceback "):
        return section.rpartition("Traceback (most recent call last):")[2]
    return section.partition("\n\n")[0] if "Traceback" in section.partition("\n\n")[0] else section


def _find_in_pytest(section: str) -> str:
    tests = [*_TEST_END.finditer(section)]
    # The first line is the section's own title, the second the first test's.
    end = tests[2].start() if tests[2:] else len(section)
    for frame in reversed([*_PYTEST.finditer(section, 0, end)]):
        if not _FOREIGN.search(frame["path"]):
            return _render(frame["path"], frame["line"], frame["name"])
    return ""


def _find_elsewhere(section: str) -> str:
    for pattern in (_NODE, _RUST, _GO):
        for found in pattern.finditer(section):
            groups = found.groupdict()
            path = groups.get("path") or groups.get("path2") or ""
            line = groups.get("line") or groups.get("line2") or ""
            if path and not _FOREIGN.search(path):
                return _render(path.removeprefix("./"), line, groups.get("name"))
    return ""


def _render(path: str, line: str, name: str | None) -> str:
    return f"{path}:{line}" + (f" in {name}" if name else "")
