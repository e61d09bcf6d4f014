"""In which paths two commits differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.command import explain
from whilly.domain.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Git


async def list_changed(git: Git, root: Path, old: str, new: str) -> tuple[str, ...]:
    """The paths, sorted; a rename counts as both.

    Raises:
        NotFound: one of the commits does not exist.
    """
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    answer = await git.run(root, *words, accept=(0, 128))
    if b"bad object" in answer.err or b"unknown revision" in answer.err or b"Needed a single" in answer.err:
        message = f"there is no commit {old} or {new}"
        raise NotFound(message)
    if answer.code != 0:
        raise explain(words, answer)
    return tuple(sorted(set(answer.fields)))
