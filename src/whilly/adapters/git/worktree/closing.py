"""A work tree removed, after all that it holds is held by refs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from whilly.adapters.git.worktree.keeping import find_tip, hold_commits, update_refs
from whilly.adapters.git.worktree.snapshot import find_saved, take_snapshot
from whilly.adapters.git.worktree.submodules import find_stranded
from whilly.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout, Record
    from whilly.adapters.git.worktree.opening import Opening
    from whilly.adapters.git.worktree.snapshot import Snapshot
    from whilly.adapters.git.worktree.tree import WorkTree
    from whilly.domain.ids import RunId


@final
class Closing:
    """Ends work trees. Each step may be repeated after a kill; what it removes was made safe by the one before."""

    def __init__(self, git: Git, layout: Layout, opening: Opening) -> None:
        self._git = git
        self._layout = layout
        self._opening = opening

    async def close(self, run: RunId, identity: Mapping[str, str], *, keep_branch: bool) -> None:
        """See `Workspace.close`."""
        record = await asyncio.to_thread(self._opening.find_or_adopt, run)
        if record is not None:
            await self._put_away(run, record, identity, keep_branch=keep_branch)
        # Also what an earlier call could not remove.
        await asyncio.to_thread(self._layout.remove_gone, self._layout.workspace(run).name)

    async def _put_away(self, run: RunId, record: Record, identity: Mapping[str, str], *, keep_branch: bool) -> None:
        path = self._layout.workspace(run)
        tip = None
        if record.is_ready and path.is_dir():
            record, tree = await self._opening.require(run)
            work = await find_saved(tree) or await take_snapshot(tree, "whilly: work when it was closed", identity)
            tip = await self._hold(run, record, tree, work)
            # From here on something would be lost.
            await _require_nothing_else(tree, work, record.base)
            if keep_branch:
                await self._leave_branch(record, work, tip)
            elif work.status.branch != record.branch:
                tip = None
        await asyncio.to_thread(self._layout.set_aside, path)
        if not keep_branch:
            await self._delete_branch(run, record, tip)
        await asyncio.to_thread(self._layout.record(run).unlink, missing_ok=True)

    async def _hold(self, run: RunId, record: Record, tree: WorkTree, work: Snapshot) -> str | None:
        tip = work.status.head
        if work.status.branch != record.branch:
            tip, _place = await find_tip(self._git, self._layout, record.branch)
        commits = [work.commit, *tree.reflog(), tip or ""]
        await hold_commits(self._git, self._layout, run, commits, besides=record.branch)
        return tip

    async def _leave_branch(self, record: Record, work: Snapshot, tip: str | None) -> None:
        if work.status.branch != record.branch:
            # Somebody else may have it checked out by now.
            tip, place = await find_tip(self._git, self._layout, record.branch)
            if place is not None:
                return
        if work.commit != tip:
            order = f"update refs/heads/{record.branch}\0{work.commit}\0{tip or '0' * len(work.commit)}\0"
            await update_refs(self._git, self._layout, [order])

    async def _delete_branch(self, run: RunId, record: Record, own_tip: str | None) -> None:
        """`own_tip`: where it was when it was checked out here, so nowhere else; held by another ref."""
        tip, place = (own_tip, None) if own_tip else await find_tip(self._git, self._layout, record.branch)
        if tip is None or place is not None:
            return
        if own_tip is None:
            await hold_commits(self._git, self._layout, run, [tip], besides=record.branch)
        await update_refs(self._git, self._layout, [f"delete refs/heads/{record.branch}\0{tip}\0"])


async def _require_nothing_else(tree: WorkTree, work: Snapshot, base: str) -> None:
    """See that the commits hold all that somebody may have worked on here.

    Raises:
        Unavailable: they do not; the workspace has to stay.
    """
    stranded = await find_stranded(tree, work.status, base or "HEAD")
    if stranded:
        message = f"work inside {', '.join(stranded)} is nowhere but in the workspace {tree.path}"
        raise Unavailable(message, remedy="push it from there, or remove the workspace if nobody needs it")
    if work.left_out:
        message = f"{', '.join(work.left_out)} could not be read and is nowhere but in the workspace {tree.path}"
        raise Unavailable(message, remedy="make it readable (chmod u+r) or remove it")
