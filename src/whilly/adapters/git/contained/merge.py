"""A target merged with the work of a run, in objects only: `git merge-tree`, in the user's repository."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.adapters.git.command import decode
from whilly.adapters.git.contained.places import Unmerged

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Git

_MERGE = ("-c", "merge.conflictStyle=zdiff3", "merge-tree", "--write-tree", "-z", "--allow-unrelated-histories")
_NONE = ("000000", "")


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge came to.

    Attributes:
        files: the tree, with markers where the two do not fit.
    """

    files: str
    unmerged: tuple[Unmerged, ...]


async def merge(git: Git, root: Path, ours: str, theirs: str) -> Merged:
    """Merge two commits; nothing moves."""
    answer = await git.run(root, *_MERGE, ours, theirs, accept=(0, 1))
    # The tree, the conflicted entries, an empty field, messages.
    head, _, _messages = answer.out.partition(b"\0\0")
    files, *entries = decode(head).split("\0")
    sides: dict[str, dict[str, tuple[str, str]]] = {}
    for entry in filter(None, entries):
        facts, _, path = entry.partition("\t")
        mode, name, number = facts.split(" ")
        sides.setdefault(path, {})[number] = (mode, name)
    unmerged = tuple(
        Unmerged(path, *(found.get(number, _NONE) for number in ("1", "2", "3"))) for path, found in sides.items()
    )
    return Merged(files.strip(), unmerged)
