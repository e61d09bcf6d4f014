"""A target's commits brought into a workspace, with conflict markers where the two do not fit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from whilly.adapters.git.command import explain
from whilly.adapters.git.worktree.conflict import find_marked, find_unsettled
from whilly.adapters.git.worktree.snapshot import take_snapshot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from whilly.adapters.git.worktree.tree import Status, WorkTree
    from whilly.domain.ids import CommitId

_MERGE = (
    "-c", "merge.conflictStyle=zdiff3", "-c", "rerere.enabled=false", "-c", "merge.autoStash=false",
    "-c", "merge.verifySignatures=false",
    "merge", "--no-ff", "--no-edit", "--no-log", "--allow-unrelated-histories",
)  # fmt: skip
_UNDER_WAY = {
    "rebase-merge": ("rebase", "--quit"),
    "rebase-apply": ("am", "--quit"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "--quit"),
    "REVERT_HEAD": ("revert", "--quit"),
    "BISECT_LOG": ("bisect", "reset", "HEAD"),
}
"""What an agent may have begun and not ended: git's file for it, and the command that ends it and keeps the files."""


async def start_merge(tree: WorkTree, target: CommitId, identity: Mapping[str, str]) -> tuple[str, ...]:
    """Merge `target` into a settled work tree; the paths in conflict."""
    message = f"whilly: bring in {target[:12]}"
    merged = await tree.run(*_MERGE, "-m", message, target, env=identity, accept=(0, 1))
    if merged.code == 0:
        return ()
    if tree.merging() is None:
        raise explain(_MERGE, merged)
    return conflicts(await tree.status())


def conflicts(status: Status) -> tuple[str, ...]:
    """The paths that are in conflict in the index."""
    return tuple(sorted(entry.path for entry in status.unmerged))


async def undo_merge(tree: WorkTree, head: str) -> None:
    """Go back to `head` from a merge that was killed half-way; the work tree was clean when it began."""
    await tree.run("reset", "--quiet", "--hard", head)
    await tree.run("clean", "--quiet", "--force", "-d")


async def settle(
    tree: WorkTree, branch: str, identity: Mapping[str, str], hold: Callable[[Sequence[str]], Awaitable[None]]
) -> str:
    """Commit what lies in the work tree and end what the agent has begun there, so that a merge can start; its head.

    An earlier merge whose conflicts are not resolved is not committed: it is held by a ref, and undone.
    """
    snapshot = await take_snapshot(tree, "whilly: work so far", identity)
    status = snapshot.status
    if tree.merging() is not None and status.head is not None and await _is_unresolved(tree, status):
        await hold([snapshot.commit])
        await tree.run("reset", "--quiet", "--hard", status.head)
        return status.head
    under_way = [command for name, command in _UNDER_WAY.items() if (tree.git_dir / name).exists()]
    if snapshot.commit == status.head and status.branch == branch and not under_way:
        return snapshot.commit
    if status.branch == branch and not under_way:
        await tree.run("update-ref", "HEAD", snapshot.commit)
    else:
        # On another branch, or on none: that branch is not ours to move.
        await hold([snapshot.commit])
        for command in under_way:
            await tree.run(*command, accept=(0, 1, 128))
        await tree.run("update-ref", "--no-deref", "HEAD", snapshot.commit)
    await tree.run("reset", "--quiet", "--mixed")
    return snapshot.commit


async def _is_unresolved(tree: WorkTree, status: Status) -> bool:
    paths = [entry.path for entry in status.unmerged]
    marked = await asyncio.to_thread(find_marked, tree.path, paths)
    return bool(marked or await asyncio.to_thread(find_unsettled, tree.path, status.unmerged))
