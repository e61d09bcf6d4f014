"""Output as text for people: without escape codes, and the part of it that matters."""

from __future__ import annotations

import re

from whilly.domain.text.clean import ESCAPES

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_MAX_LINE = 2000
_SECTIONS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^=+ (?:FAILURES|ERRORS) =+$",  # pytest
        r"^={70}\n(?:FAIL|ERROR): ",  # unittest
        r"^✖ failing tests:$",  # node:test, spec reporter
        r"^not ok \d+ - ",  # TAP
        r"^(?:FAIL \S+|\s*● .+ \u203a .+)$",  # jest
        r"^  \d+ failing$",  # mocha
        r"^failures:$",  # cargo test
        r"^error(?:\[E\d+\])?: ",  # rustc
        r"^(?:panic: |# \S+$)",  # go build
        r"^(?:make(?:\[\d+\])?: \*\*\* )",
    )
)
"""Where the account of what failed begins, by tool; the first that is found counts."""
_GO_TEST = re.compile(r"^\s*--- FAIL: ", re.MULTILINE)
_GO_NOISE = re.compile(r"^(?:=== (?:RUN|PAUSE|CONT|NAME)|\s*--- (?:PASS|SKIP): |ok  \t).*\n", re.MULTILINE)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)
_CHAINED = re.compile(r"\n\n(?:During handling of|The above exception was)[^\n]*:\n\n\Z")


def clean_output(output: str, root: str = "") -> str:
    """The output without escape codes, control characters and overwritten progress; paths below `root` relative."""
    text = ESCAPES.sub("", output).replace("\r\n", "\n")
    lines = (_CONTROLS.sub("", line.rstrip("\r").rpartition("\r")[2]) for line in text.split("\n"))
    text = "\n".join(_shorten(line) for line in lines)
    if root.strip("/"):
        text = re.sub(re.escape(root.rstrip("/")) + r"(?:/(?=\S)|(?![\w.-]))", "", text)
    return text.rstrip() + "\n" if text.strip() else ""


def _shorten(line: str) -> str:
    # No pattern of this package takes long on a line of this length.
    return line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE * 3 // 4]} … {line[-_MAX_LINE // 5 :]}"


def find_section(text: str) -> str:
    """The tool's own account of the failure, up to the end; the whole text when there is none."""
    for pattern in _SECTIONS:
        found = pattern.search(text)
        if found:
            return text[found.start() :]
    if _GO_TEST.search(text):
        # With -v, a test's messages come before the line that says that it failed.
        return _GO_NOISE.sub("", text)
    starts = [found.start() for found in _TRACEBACK.finditer(text)]
    while len(starts) > 1 and _CHAINED.search(text, starts[-2], starts[-1]):
        starts.pop()
    return text[starts[-1] :] if starts else text


def cut_to(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning, where the first failure is told, and the end; cut between lines."""
    if len(text) <= limit:
        return text
    room = limit - 60
    head, tail = text[: room * 2 // 5], text[-(room * 3 // 5) :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    return f"{head}[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
