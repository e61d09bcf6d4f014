"""Work inside submodules: it lies in a repository of its own, which goes with the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.command import decode
from whilly.domain.errors import PortError

if TYPE_CHECKING:
    from whilly.adapters.git.worktree.tree import Status, WorkTree

GITLINK = "160000"


async def find_stranded(tree: WorkTree, status: Status, base: str) -> tuple[str, ...]:
    """Submodules with work that no commit of this repository can hold, sorted.

    These are edits that are not committed there, and commits that none of its remotes is known to have.
    """
    if not (tree.path / ".gitmodules").exists():
        return ()
    words = ("diff-tree", "-r", "-z", "--no-renames", "--raw", base, "HEAD")
    moved = _read_moved((await tree.run(*words, accept=(0, 128))).out) | set(status.moved_submodules)
    lost = [path for path in moved if not await _is_published(tree, path)]
    return tuple(sorted({*lost, *status.dirty_submodules}))


def _read_moved(raw: bytes) -> set[str]:
    """Paths of submodules that differ, from `git diff-tree --raw -z`: modes, objects and state; then the path."""
    fields = decode(raw).split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return {path for facts, path in pairs if facts.split(" ")[1:2] == [GITLINK]}


async def _is_published(tree: WorkTree, path: str) -> bool:
    """Whether a remote of the submodule is known to have the commit that is checked out there."""
    words = ("for-each-ref", "--count=1", "--contains", "HEAD", "refs/remotes")
    place = tree.path / path
    if not (place / ".git").exists():
        # It was not filled, so nobody has worked in it.
        return True
    try:
        return bool((await tree.git.run(place, *words)).text)
    except PortError:
        return False
