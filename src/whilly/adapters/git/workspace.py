"""A run's workspace: a linked work tree on a branch of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.identity import Identity
from whilly.adapters.git.layout import archive_ref, remove_tree, wip_ref
from whilly.adapters.git.markers import file_has_markers
from whilly.adapters.git.names import safe_branch
from whilly.adapters.git.record import Record, find_record, write_record
from whilly.adapters.git.snapshot import take_snapshot
from whilly.adapters.git.tree import WorkTree, read_git_dir
from whilly.domain.change import Saved
from whilly.domain.errors import NotFound
from whilly.domain.ids import CommitId
from whilly.ports.workspace import Workspace

if TYPE_CHECKING:
    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout
    from whilly.domain.ids import AttemptId, RunId
    from whilly.ports.clock import Clock


@final
class GitWorkspace(Workspace):
    """Workspaces in `.whilly/worktrees`."""

    def __init__(self, git: Git, layout: Layout, clock: Clock) -> None:
        self._git = git
        self._layout = layout
        self._identity = Identity(git, layout, clock)

    @override
    async def open(self, run: RunId, branch: str, base: CommitId) -> str:
        path = self._layout.workspace(run)
        record = find_record(self._layout.record(run))
        if record is not None and record.is_ready and read_git_dir(path) is not None:
            return str(path)
        await asyncio.to_thread(self._layout.prepare)
        name = safe_branch(branch)
        write_record(self._layout.record(run), Record(name, base))
        await self._git.run(self._layout.root, "worktree", "add", "--quiet", "-b", name, str(path), base)
        write_record(self._layout.record(run), Record(name, base).ready(str(read_git_dir(path))))
        return str(path)

    @override
    async def find_branch(self, run: RunId) -> str | None:
        record = find_record(self._layout.record(run))
        return record.branch if record else None

    @override
    async def save(self, run: RunId, attempt: AttemptId, base: CommitId) -> Saved:
        tree = self._require(run)
        snapshot = await take_snapshot(
            tree, f"whilly: work in progress of {attempt}", await self._identity.environment()
        )
        await tree.run("update-ref", wip_ref(attempt), snapshot.commit)
        differs = await tree.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, snapshot.commit)
        paths = tuple(sorted(set(differs.fields)))
        unresolved = [path for path in paths if file_has_markers(tree.path, path)]
        return Saved(CommitId(snapshot.commit), paths, tuple(unresolved), snapshot.left_out)

    @override
    async def bring_in(self, run: RunId, target: CommitId) -> tuple[str, ...]:
        tree = self._require(run)
        identity = await self._identity.environment()
        snapshot = await take_snapshot(tree, "whilly: work before merging", identity)
        if snapshot.status.is_dirty:
            await tree.run("update-ref", "HEAD", snapshot.commit)
            await tree.run("reset", "--quiet", "--mixed")
        merged = await tree.run(
            "-c", "merge.conflictStyle=zdiff3", "merge", "--no-ff", "--no-edit", "-m", "whilly: merge", target,
            env=identity, accept=(0, 1),
        )  # fmt: skip
        if merged.code == 0:
            return ()
        return tuple(sorted(entry.path for entry in (await tree.status()).unmerged))

    @override
    async def close(self, run: RunId, *, keep_branch: bool) -> None:
        record = find_record(self._layout.record(run))
        path = self._layout.workspace(run)
        if record is None:
            return
        if path.exists():
            tree = self._require(run)
            snapshot = await take_snapshot(tree, "whilly: closed", await self._identity.environment())
            await tree.run("update-ref", archive_ref(run, "head"), snapshot.commit)
            await asyncio.to_thread(remove_tree, path)
            await self._git.run(
                self._layout.root, "worktree", "remove", "--force", "--force", str(path), accept=(0, 128)
            )
        if not keep_branch:
            await self._git.run(self._layout.root, "update-ref", "-d", f"refs/heads/{record.branch}")
        self._layout.record(run).unlink(missing_ok=True)

    def _require(self, run: RunId) -> WorkTree:
        record = find_record(self._layout.record(run))
        path = self._layout.workspace(run)
        git_dir = read_git_dir(path)
        if record is None or git_dir is None:
            message = f"run {run} has no workspace"
            raise NotFound(message)
        return WorkTree(self._git, path, git_dir)
