"""A run's workspace: a linked work tree on a branch of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.comparison import list_changed
from whilly.adapters.git.identity import Identity
from whilly.adapters.git.layout import find_record
from whilly.adapters.git.translation import translated
from whilly.adapters.git.worktree.closing import Closing
from whilly.adapters.git.worktree.conflict import find_marked, find_unsettled, has_markers
from whilly.adapters.git.worktree.keeping import hold_commits, hold_work
from whilly.adapters.git.worktree.merging import conflicts, settle, start_merge, undo_merge
from whilly.adapters.git.worktree.opening import Opening, mark_merging
from whilly.adapters.git.worktree.rejoining import rejoin
from whilly.adapters.git.worktree.snapshot import remember_saved, take_snapshot
from whilly.adapters.git.worktree.submodules import find_stranded
from whilly.domain.change import Saved
from whilly.domain.ids import CommitId
from whilly.ports.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout
    from whilly.adapters.git.worktree.tree import Status, WorkTree
    from whilly.domain.ids import AttemptId, RunId
    from whilly.ports.clock import Clock


@final
class GitWorkspace(Workspace):
    """Workspaces in `.whilly/worktrees`, one per run."""

    def __init__(self, git: Git, layout: Layout, clock: Clock) -> None:
        self._git = git
        self._layout = layout
        self._identity = Identity(git, layout, clock)
        self._opening = Opening(git, layout)
        self._closing = Closing(git, layout, self._opening)

    @override
    @translated
    async def open(self, run: RunId, branch: str, base: CommitId) -> str:
        return str(await self._opening.open(run, branch, base))

    @override
    @translated
    async def renew(self, run: RunId) -> None:
        # An agent of this tier may do what its user may: there is nothing to be safe from.
        await self._opening.require(run)

    @override
    async def find_branch(self, run: RunId) -> str | None:
        record = find_record(self._layout.record(run))
        return record.branch if record else None

    @override
    @translated
    async def save(self, run: RunId, attempt: AttemptId, base: CommitId) -> Saved:
        _record, tree = await self._opening.require(run)
        message = f"whilly: work in progress of {attempt}"
        identity = await self._identity.environment()
        snapshot = await take_snapshot(tree, message, identity)
        joined, is_joined = snapshot.commit, True
        if snapshot.status.head != base:
            joined, is_joined = await rejoin(self._git, self._layout.root, base, snapshot.commit, identity)
        commit = await hold_work(self._git, self._layout, attempt, joined)
        await remember_saved(tree, replace(snapshot, commit=commit))
        paths = await list_changed(self._git, self._layout.root, base, commit)
        unresolved = await self._find_unresolved(tree, snapshot.status, base, paths)
        stranded = await find_stranded(tree, snapshot.status, base)
        return Saved(CommitId(commit), paths, unresolved, snapshot.left_out, stranded, not is_joined)

    @override
    @translated
    async def bring_in(self, run: RunId, target: CommitId) -> tuple[str, ...]:
        record, tree = await self._opening.require(run)
        if tree.merging() == target:
            mark_merging(self._layout, run, record, "")
            return conflicts(await tree.status())
        identity = await self._identity.environment()
        if record.merging and tree.merging() is None:
            half_done = await take_snapshot(tree, "whilly: a merge that was cut off", identity)
            await self._hold(run, [half_done.commit])
            await undo_merge(tree, record.merging)
        head = await settle(tree, record.branch, identity, lambda commits: self._hold(run, commits))
        record = mark_merging(self._layout, run, record, head)
        found = await start_merge(tree, target, identity)
        mark_merging(self._layout, run, record, "")
        return found

    @override
    @translated
    async def close(self, run: RunId, *, keep_branch: bool) -> None:
        await self._closing.close(run, await self._identity.environment(), keep_branch=keep_branch)

    async def _hold(self, run: RunId, commits: Iterable[str]) -> None:
        await hold_commits(self._git, self._layout, run, commits)

    async def _find_unresolved(
        self, tree: WorkTree, status: Status, base: CommitId, paths: Iterable[str]
    ) -> tuple[str, ...]:
        unsettled = await asyncio.to_thread(find_unsettled, tree.path, status.unmerged)
        in_conflict = {entry.path for entry in status.unmerged}
        marked = await asyncio.to_thread(find_marked, tree.path, {*paths, *in_conflict})
        for path in sorted(marked - in_conflict):
            # A text about conflict markers may hold some, as it did before.
            before = await tree.run("cat-file", "blob", f"{base}:{path}", accept=(0, 128))
            if before.code == 0 and has_markers(before.out):
                marked.discard(path)
        return tuple(sorted(unsettled | marked))
