"""Conflict markers that are still there."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

from whilly.adapters.git.command import encode

if TYPE_CHECKING:
    from pathlib import Path

_MAX_BYTES = 32 * 1024 * 1024
_BINARY_PROBE = 8000
_OURS = re.compile(rb"^<{7,}(?: [^\r\n]*)?\r?$", re.MULTILINE)
_MIDDLE = re.compile(rb"^={7,}\r?$", re.MULTILINE)
_THEIRS = re.compile(rb"^>{7,}(?: [^\r\n]*)?\r?$", re.MULTILINE)


def has_markers(content: bytes) -> bool:
    """Whether a text holds at least one whole set of markers: ours, the middle, theirs, in this order."""
    if b"\0" in content[:_BINARY_PROBE]:
        return False
    ours = _OURS.search(content)
    middle = _MIDDLE.search(content, ours.end()) if ours else None
    return middle is not None and _THEIRS.search(content, middle.end()) is not None


def file_has_markers(root: Path, path: str) -> bool:
    """The same, of a regular file under `root`; an absent or huge one has none."""
    place = root / encode(path).decode("utf-8", "surrogateescape")
    try:
        found = place.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return False
        return has_markers(place.read_bytes())
    except OSError:
        return False
