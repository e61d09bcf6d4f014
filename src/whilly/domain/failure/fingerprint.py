"""Whether two failures are the same."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_LINES = 1000
_TELLING = re.compile(
    r"^E\s+\S"  # pytest: what was raised
    r"|^(?:FAILED|ERROR) \S|^(?:FAIL|ERROR): "
    r"|^(?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt|Warning|Failure)\b(?:: |$| \[)"
    r"|^\s*--- FAIL: |^panic: |^\s+\S+\.go:\d+: |^\S+\.go:\d+:\d+: "
    r"|^error(?:\[E\d+\])?: |^test .+ \.\.\. FAILED|panicked at |^\s+(?:left|right): |^assertion "
    r"|^\s*● |^\s+(?:Expected|Received)\b.*: |^not ok |^\s*✖ |^\s+(?:error|name|expected|actual): "
    r"|^\s*\w*Error \[|^\s*.+ !== .+$"
    r"|error TS\d+: |^[^\s:]+\.\w+:\d+(?::\d+)?:? ",
)
_VOLATILE = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x…"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]?(?:\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"(?:/private)?/(?:tmp|var/folders|var/tmp)/(?:[^\s'\":,;()\[\]]*/)?"), "<tmp>/"),
    (re.compile(r"\btmp[a-z0-9_]{6,}\b"), "<tmp>"),
    (re.compile(r"\bpytest-\d+\b"), "pytest-…"),
    (re.compile(r"\d+(?:[.,]\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|min|minutes?)\b"), "<duration>"),
    (re.compile(r"\b(duration_ms|seed|random_seed|pid|PID|port|process|thread)([ =:#-]+)\d+(?:\.\d+)?"), r"\1\2…"),
    (re.compile(r"(\.\w{1,5}):\d+(?::\d+)?"), r"\1:…"),
    (re.compile(r"\b(lines?|column|char|row|col) \d+\b"), r"\1 …"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "<hex>"),
    (re.compile(r"^thread '([^']*)' \(\d+\)"), r"thread '\1'"),
    (re.compile(r"^not ok \d+"), "not ok"),
    (re.compile(r"^\s*\d+\) "), ""),
    (re.compile(r"\[ *\d+%\]"), ""),
    (re.compile(r"\(\d+ lines hidden\)"), "(… lines hidden)"),
    (re.compile(r"127\.0\.0\.1:\d+|localhost:\d+"), "localhost:…"),
    (re.compile(r"\s+"), " "),
)
_TALLY = re.compile(
    r"\b\d+ (?:passed|failed|total|tests? in)\b|^(?:Ran|collected) \d+ |^(?:test result|Tests|Test Suites|Time): "
)


def compute_fingerprint(command: str, exit_code: int | None, section: str, failing: Iterable[str] = ()) -> str:
    """Equal for the same failure, whatever its timings, addresses, temporary paths, line numbers and order."""
    lines = section.splitlines()
    telling = [line for number, line in enumerate(lines) if _is_telling(lines, number)]
    chosen = list(dict.fromkeys(telling or lines))[-_MAX_LINES:]
    facts = {_steady(line) for line in chosen} | {f"failing {_steady(name)}" for name in failing}
    text = "\n".join([" ".join(command.split()), str(exit_code), *sorted(facts - {""})])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def _is_telling(lines: list[str], number: int) -> bool:
    # Rust says what a panic was about in the line after it.
    return bool(_TELLING.search(lines[number])) or (number > 0 and "panicked at " in lines[number - 1])


def _steady(line: str) -> str:
    if _TALLY.search(line):
        line = re.sub(r"\d+", "…", line)
    for pattern, replacement in _VOLATILE:
        line = pattern.sub(replacement, line)
    return line.strip()
