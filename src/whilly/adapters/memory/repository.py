"""A repository in memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.memory.history import HEADS, list_changed, merge_files
from whilly.domain.change import Combined, Conflicted
from whilly.domain.errors import RuleViolation
from whilly.ports.repository import Repository

if TYPE_CHECKING:
    from whilly.adapters.memory.history import MemoryHistory
    from whilly.domain.ids import CommitId


@final
class MemoryRepository(Repository):
    """Merges file by file: two changes of one file conflict, wherever in it they are."""

    def __init__(self, history: MemoryHistory) -> None:
        self._history = history

    @override
    async def find_commit(self, ref: str) -> CommitId | None:
        return self._history.find_commit(ref)

    @override
    async def checkout(self, commit: CommitId, name: str) -> str:
        files = self._history.require_commit(commit).files
        path = _place(name)
        self._history.folders[path] = dict(files)
        return path

    @override
    async def discard(self, name: str) -> None:
        self._history.folders.pop(_place(name), None)

    @override
    async def combine(self, commit: CommitId, base: CommitId, target: CommitId, message: str) -> Combined | Conflicted:
        change, head = self._history.require_commit(commit), self._history.require_commit(target)
        self._history.require_commit(base)
        start = self._find_start(commit, base, target)
        files, conflicts = merge_files(self._history.commits[start].files, head.files, change.files)
        if conflicts:
            detail = "\n".join(f"CONFLICT (content): Merge conflict in {path}" for path in conflicts)
            return Conflicted(target, conflicts, detail)
        made = self._history.make_commit(files, (target,), message)
        return Combined(made, is_same_tree=files == change.files, is_empty=files == head.files)

    @override
    async def advance(self, branch: str, new: CommitId, old: CommitId | None) -> bool:
        place = await self.checked_out_at(branch)
        if place is not None:
            message = f"branch {branch} is checked out in {place}"
            raise RuleViolation(message, remedy="switch it to another branch")
        if self._history.refs.get(f"{HEADS}{branch}") != old:
            return False
        self._history.refs[f"{HEADS}{branch}"] = new
        return True

    @override
    async def checked_out_at(self, branch: str) -> str | None:
        return self._history.checked_out.get(branch)

    @override
    async def changed_paths(self, old: CommitId, new: CommitId) -> tuple[str, ...]:
        return list_changed(self._history.require_commit(old).files, self._history.require_commit(new).files)

    @override
    async def is_ancestor(self, older: CommitId, newer: CommitId) -> bool:
        return older in self._history.list_ancestors(newer)

    def _find_start(self, commit: CommitId, base: CommitId, target: CommitId) -> CommitId:
        # A change that has taken in a later head of the target starts there.
        forks = self._history.list_forks(commit, target)
        if len(forks) == 1 and forks[0] not in {base, commit} and base in self._history.list_ancestors(forks[0]):
            return forks[0]
        return base


def _place(name: str) -> str:
    return f"/memory/checkouts/{hashlib.sha256(name.encode()).hexdigest()[:16]}"
