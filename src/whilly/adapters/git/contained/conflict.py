"""What is still in conflict in a commit, told from its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.contained.contents import list_entries, list_present, read
from whilly.adapters.git.worktree.conflict import has_markers, is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.contents import Entry
    from whilly.adapters.git.contained.places import Unmerged

_FILES = {"100644", "100755"}


async def find_unresolved(
    git: Git, root: Path, base: str, commit: str, unmerged: Iterable[Unmerged]
) -> tuple[str, ...]:
    """Paths that hold conflict markers which `base` did not, or whose conflict without markers is not settled.

    A conflict without markers (a picture, a file that one side deleted) is settled when the path is no longer what
    the merge left there.
    """
    entries = [entry for entry in await list_entries(git, root, base, commit) if entry.is_there]
    conflicts = {each.path: each for each in unmerged}
    present = await list_present(git, root, commit, conflicts)
    names = [name for entry in entries for name in (entry.name, entry.old_name)] + list(present.values())
    contents = await read(git, root, (name for name in names if name.strip("0")))
    found = {entry.path for entry in entries if _is_marked(entry, contents)}
    found |= {path for path, name in present.items() if not _is_settled(conflicts[path], name, contents)}
    return tuple(sorted(found))


def _is_marked(entry: Entry, contents: Mapping[str, bytes]) -> bool:
    # A text about conflict markers may hold some, as it did before.
    return has_markers(contents.get(entry.name, b"")) and not has_markers(contents.get(entry.old_name, b""))


def _is_settled(conflict: Unmerged, name: str, contents: Mapping[str, bytes]) -> bool:
    modes = {conflict.ours[0], conflict.theirs[0]}
    content = contents.get(name, b"")
    if modes <= _FILES and is_text(content):
        return not has_markers(content)
    return name not in {conflict.ours[1], conflict.theirs[1]}
