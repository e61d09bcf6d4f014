"""What is still in conflict in a work tree."""

from __future__ import annotations

import hashlib
import re
import stat
from typing import TYPE_CHECKING

from whilly.adapters.git.worktree.tree import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from whilly.adapters.git.worktree.tree import Unmerged

_MAX_BYTES = 32 * 1024 * 1024
_BINARY_PROBE = 8000
_SHA1_LENGTH = 40
_OURS = re.compile(rb"^<{7,}(?: [^\r\n]*)?\r?$", re.MULTILINE)
_MIDDLE = re.compile(rb"^={7,}\r?$", re.MULTILINE)
_THEIRS = re.compile(rb"^>{7,}(?: [^\r\n]*)?\r?$", re.MULTILINE)


def is_text(content: bytes) -> bool:
    """As git tells it: no NUL near the beginning."""
    return b"\0" not in content[:_BINARY_PROBE]


def has_markers(content: bytes) -> bool:
    """Whether a text holds at least one whole set of conflict markers: ours, the middle, theirs, in this order."""
    if not is_text(content):
        return False
    ours = _OURS.search(content)
    middle = _MIDDLE.search(content, ours.end()) if ours else None
    return middle is not None and _THEIRS.search(content, middle.end()) is not None


def find_marked(root: Path, paths: Iterable[str]) -> set[str]:
    """Those of the files below `root` that hold conflict markers; huge ones are not looked into."""
    return {path for path in paths if has_markers(_read_file(root / path) or b"")}


def find_unsettled(root: Path, unmerged: Iterable[Unmerged]) -> set[str]:
    """Those of the conflicts in the index that the files do not settle either.

    A text that both sides have is settled once its markers are gone. What has no markers (a binary file, a file that
    one side deleted or moved, a link, a submodule) is settled when the file is no longer what the merge left there:
    to keep exactly that, it has to be put into the index (`git add`).
    """
    return {entry.path for entry in unmerged if not _is_settled(root, entry)}


def _is_settled(root: Path, entry: Unmerged) -> bool:
    modes = {entry.ours[0], entry.theirs[0]}
    if not modes <= {NONE, "100644", "100755"}:
        return False
    content = _read_file(root / entry.path)
    if content is None:
        return not (root / entry.path).exists()
    if NONE not in modes and is_text(content):
        return not has_markers(content)
    return _blob_name(content, len(entry.ours[1])) not in {entry.ours[1], entry.theirs[1]}


def _blob_name(content: bytes, length: int) -> str:
    digest = hashlib.sha1(usedforsecurity=False) if length == _SHA1_LENGTH else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest()


def _read_file(path: Path) -> bytes | None:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return None
        return path.read_bytes()
    except OSError:
        return None
