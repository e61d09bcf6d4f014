"""A run's checkout in the contained tier: the agent's alone, and never opened by git outside a sandbox."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.comparison import list_changed
from whilly.adapters.git.contained.clone import keep_index, lay_merge, make_clone, replace_tree
from whilly.adapters.git.contained.conflict import find_unresolved
from whilly.adapters.git.contained.merge import merge
from whilly.adapters.git.contained.places import Record, find_record, write_record
from whilly.adapters.git.names import alternatives, safe_branch
from whilly.adapters.git.removal import move_away, remove_tree
from whilly.adapters.git.translation import translated
from whilly.adapters.git.worktree.keeping import find_tip, hold_commits, hold_work, update_refs
from whilly.adapters.git.worktree.rejoining import rejoin
from whilly.domain.change import Saved
from whilly.domain.errors import NotFound, PortError, Unavailable
from whilly.domain.ids import CommitId
from whilly.ports.workspace import Workspace

if TYPE_CHECKING:
    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.export import Export, Exported
    from whilly.adapters.git.contained.mirror import Mirror
    from whilly.adapters.git.identity import Identity
    from whilly.adapters.git.layout import Layout
    from whilly.domain.ids import AttemptId, RunId


@final
class ContainedWorkspace(Workspace):
    """Checkouts in `.whilly/contained/runs`, one per run.

    Args:
        trusted: git for the user's repository.
    """

    def __init__(self, trusted: Git, layout: Layout, identity: Identity, mirror: Mirror, export: Export) -> None:
        self._trusted = trusted
        self._layout = layout
        self._identity = identity
        self._mirror = mirror
        self._export = export
        self._places = mirror.places

    @override
    @translated
    async def open(self, run: RunId, branch: str, base: CommitId) -> str:
        record = find_record(self._places.record(run))
        tree = self._places.tree(run)
        if record is not None and record.is_laid and tree.is_dir():
            return str(tree)
        await asyncio.to_thread(self._layout.prepare)
        if record is None:
            await self._mirror.require(base)
            record = await self._take_branch(run, safe_branch(branch), base)
        await self._lay(run, record)
        return str(tree)

    @override
    @translated
    async def renew(self, run: RunId) -> None:
        record = self._require(run)
        work = await self._take(run, record, "whilly: work so far")
        await hold_commits(self._trusted, self._layout, run, [work.commit])
        base = CommitId(record.base)
        if not record.merged or not await find_unresolved(
            self._trusted, self._layout.root, base, work.commit, record.unmerged
        ):
            record = write_record(self._places.record(run), Record(record.branch, record.base, work.commit))
        await self._lay(run, record)

    @override
    async def find_branch(self, run: RunId) -> str | None:
        record = find_record(self._places.record(run))
        return record.branch if record else None

    @override
    @translated
    async def save(self, run: RunId, attempt: AttemptId, base: CommitId) -> Saved:
        record = self._require(run)
        work = await self._take(run, record, f"whilly: work in progress of {attempt}")
        identity = await self._identity.environment()
        joined, is_joined = await rejoin(self._trusted, self._layout.root, base, work.commit, identity)
        commit = await hold_work(self._trusted, self._layout, attempt, joined)
        write_record(self._places.record(run), replace(record, saved=commit))
        paths = await list_changed(self._trusted, self._layout.root, base, commit)
        unresolved = await find_unresolved(self._trusted, self._layout.root, base, commit, record.unmerged)
        return Saved(CommitId(commit), paths, unresolved, work.left_out, is_astray=not is_joined)

    @override
    @translated
    async def bring_in(self, run: RunId, target: CommitId) -> tuple[str, ...]:
        record = self._require(run)
        if record.merged != target:
            record = await self._merge(run, record, target)
        if not record.is_laid:
            await self._lay(run, record)
        return tuple(sorted(entry.path for entry in record.unmerged))

    @override
    @translated
    async def close(self, run: RunId, *, keep_branch: bool) -> None:
        record = find_record(self._places.record(run))
        if record is not None:
            await self._put_away(run, record, keep_branch=keep_branch)
        # Also what an earlier call could not remove.
        await asyncio.to_thread(self._layout.remove_gone, self._places.run(run).name)

    async def _put_away(self, run: RunId, record: Record, *, keep_branch: bool) -> None:
        work = await self._take_last(run, record)
        tip, place = await find_tip(self._trusted, self._layout, record.branch)
        is_ours = tip is not None and place is None
        if is_ours and keep_branch:
            await update_refs(self._trusted, self._layout, [f"update refs/heads/{record.branch}\0{work}\0{tip}\0"])
        await hold_commits(
            self._trusted, self._layout, run, [work, tip or ""], besides="" if keep_branch else record.branch
        )
        if is_ours and not keep_branch:
            await update_refs(self._trusted, self._layout, [f"delete refs/heads/{record.branch}\0{tip}\0"])
        await asyncio.to_thread(move_away, self._places.run(run), self._places.gone)
        await asyncio.to_thread(self._places.record(run).unlink, missing_ok=True)

    def _require(self, run: RunId) -> Record:
        record = find_record(self._places.record(run))
        if record is None or not self._places.tree(run).is_dir():
            message = f"run {run} has no workspace"
            raise NotFound(message)
        return record

    async def _take(self, run: RunId, record: Record, message: str) -> Exported:
        parents = [record.tip, *([record.merged] if record.merged else [])]
        known = [*([] if record.merged else [record.tip]), *([record.saved] if record.saved else [])]
        return await self._export.take(run, parents, known, message, await self._identity.environment())

    async def _take_last(self, run: RunId, record: Record) -> str:
        """The work of a run that ends; what git must not be given is set aside, so that nothing is lost."""
        if not record.is_laid or not self._places.tree(run).is_dir():
            return record.tip
        try:
            return (await self._take(run, record, "whilly: work when it was closed")).commit
        except Unavailable:
            raise
        except PortError:
            aside = self._places.root / "refused" / self._places.run(run).name
            await asyncio.to_thread(remove_tree, aside)
            aside.parent.mkdir(parents=True, exist_ok=True)
            self._places.run(run).rename(aside)
            return record.tip

    async def _take_branch(self, run: RunId, wanted: str, base: CommitId) -> Record:
        for name in alternatives(wanted, run):
            words = ("update-ref", f"refs/heads/{name}", base, "0" * len(base))
            made = await self._trusted.run(self._layout.root, *words, accept=(0, 1, 128))
            if made.code == 0:
                return write_record(self._places.record(run), Record(name, base, tip=base))
        message = f"no name for a branch like {wanted} is free"
        raise Unavailable(message, remedy="delete some branches under whilly/")

    async def _merge(self, run: RunId, record: Record, target: CommitId) -> Record:
        work = await self._take(run, record, "whilly: work so far")
        ours = work.commit
        left = await find_unresolved(
            self._trusted, self._layout.root, CommitId(record.base), work.commit, record.unmerged
        )
        await hold_commits(self._trusted, self._layout, run, [work.commit])
        if record.merged and left:
            # A merge that was not resolved is no beginning for the next one.
            ours = CommitId(record.tip)
        found = await merge(self._trusted, self._layout.root, ours, target)
        changed = Record(record.branch, record.base, ours, found.files, target, found.unmerged)
        return write_record(self._places.record(run), changed)

    async def _lay(self, run: RunId, record: Record) -> None:
        """Make the checkout as the record says; whatever is there has been taken before."""
        fresh = self._places.run(run) / "fresh"
        await asyncio.to_thread(remove_tree, fresh)
        for commit in filter(None, (record.tip, record.merged)):
            await self._mirror.require(commit)
        identity = await self._identity.environment()
        await make_clone(self._mirror.git, self._places, fresh, record.branch, record.tip, identity)
        if record.merged:
            files = await self._commit_files(record)
            await self._mirror.require(files)
            await lay_merge(self._mirror.git, fresh, files, record.merged, record.unmerged)
        await asyncio.to_thread(keep_index, fresh)
        await asyncio.to_thread(replace_tree, fresh, self._places.tree(run), self._places.gone)
        write_record(self._places.record(run), replace(record, is_laid=True))

    async def _commit_files(self, record: Record) -> str:
        # The mirror is given commits only; this one makes the merged files reachable.
        words = ("commit-tree", record.files, "-p", record.tip, "-p", record.merged)
        identity = await self._identity.environment()
        return (await self._trusted.run(self._layout.root, *words, stdin=b"whilly: a merge\n", env=identity)).text
