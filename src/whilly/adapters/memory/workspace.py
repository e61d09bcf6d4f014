"""Workspaces in memory."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.memory.history import HEADS, list_changed, merge_files
from whilly.domain.change import Saved
from whilly.domain.errors import NotFound
from whilly.domain.ids import CommitId
from whilly.ports.workspace import Workspace

if TYPE_CHECKING:
    from whilly.adapters.memory.history import MemoryHistory
    from whilly.domain.ids import AttemptId, RunId

_MAX_BRANCH = 80
_MARKER = "<<<<<<< "


@dataclass(slots=True)
class _Tree:
    path: str
    branch: str
    head: CommitId
    merging: CommitId | None = None
    conflicts: dict[str, str | None] = field(default_factory=dict)


@final
class MemoryWorkspace(Workspace):
    """Workspaces are folders of the history; an agent of a test changes `history.folders[path]`."""

    def __init__(self, history: MemoryHistory) -> None:
        self._history = history
        self._trees: dict[RunId, _Tree] = {}

    @override
    async def open(self, run: RunId, branch: str, base: CommitId) -> str:
        if run not in self._trees:
            files = self._history.require_commit(base).files
            name = self._choose_name(branch)
            path = f"/memory/worktrees/{hashlib.sha256(run.encode()).hexdigest()[:16]}"
            self._trees[run] = _Tree(path, name, base)
            self._history.refs[f"{HEADS}{name}"] = base
            self._history.folders[path] = dict(files)
        return self._trees[run].path

    @override
    async def renew(self, run: RunId) -> None:
        self._require(run)

    @override
    async def find_branch(self, run: RunId) -> str | None:
        return self._trees[run].branch if run in self._trees else None

    @override
    async def save(self, run: RunId, attempt: AttemptId, base: CommitId) -> Saved:
        tree = self._require(run)
        commit = self._snapshot(tree)
        ref = f"refs/whilly/wip/{attempt}"
        if self._history.refs.get(ref, commit) != commit:
            self._archive(run, self._history.refs[ref])
        self._history.refs[ref] = commit
        files = self._history.folders[tree.path]
        return Saved(commit, list_changed(self._history.require_commit(base).files, files), self._unresolved(tree))

    @override
    async def bring_in(self, run: RunId, target: CommitId) -> tuple[str, ...]:
        tree = self._require(run)
        theirs = self._history.require_commit(target).files
        if tree.merging == target:
            return tuple(tree.conflicts)
        self._settle(run, tree)
        if target in self._history.list_ancestors(tree.head):
            return ()
        forks = self._history.list_forks(tree.head, target)
        before = self._history.commits[forks[0]].files if forks else {}
        merged, conflicts = merge_files(before, self._history.commits[tree.head].files, theirs)
        self._history.folders[tree.path] = merged
        tree.merging = target
        tree.conflicts = {path: merged.get(path) for path in conflicts}
        if not conflicts:
            self._settle(run, tree)
        return conflicts

    @override
    async def close(self, run: RunId, *, keep_branch: bool) -> None:
        tree = self._trees.pop(run, None)
        if tree is None:
            return
        work = self._snapshot(tree)
        if keep_branch:
            self._history.refs[f"{HEADS}{tree.branch}"] = work
        else:
            self._archive(run, work)
            self._history.refs.pop(f"{HEADS}{tree.branch}", None)
        del self._history.folders[tree.path]

    def _require(self, run: RunId) -> _Tree:
        if run not in self._trees:
            message = f"run {run} has no workspace"
            raise NotFound(message)
        return self._trees[run]

    def _snapshot(self, tree: _Tree) -> CommitId:
        files = self._history.folders[tree.path]
        if tree.merging is None and files == self._history.commits[tree.head].files:
            return tree.head
        parents = (tree.head,) if tree.merging is None else (tree.head, tree.merging)
        return self._history.make_commit(files, parents, "work in progress")

    def _settle(self, run: RunId, tree: _Tree) -> None:
        work = self._snapshot(tree)
        if self._unresolved(tree):
            self._archive(run, work)
            self._history.folders[tree.path] = dict(self._history.commits[tree.head].files)
        else:
            tree.head = self._history.refs[f"{HEADS}{tree.branch}"] = work
        tree.merging = None
        tree.conflicts = {}

    def _unresolved(self, tree: _Tree) -> tuple[str, ...]:
        files = self._history.folders[tree.path]
        left = {path for path, content in tree.conflicts.items() if content is not None and files.get(path) == content}
        marked = {path for path in tree.conflicts if _MARKER in files.get(path, "")}
        return tuple(sorted(left | marked))

    def _archive(self, run: RunId, commit: CommitId) -> None:
        self._history.refs[f"refs/whilly/archive/{run}/{commit[:12]}"] = commit

    def _choose_name(self, wanted: str) -> str:
        tame = re.sub(r"[^A-Za-z0-9._/-]+", "-", wanted)[: _MAX_BRANCH - 4]
        number = 1
        name = tame
        while f"{HEADS}{name}" in self._history.refs:
            number += 1
            name = f"{tame}-{number}"
        return name
