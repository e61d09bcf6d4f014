"""MemoryRemote: branches of a hosted repository, beside a history in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import NotFound, RuleViolation
from whilly.ports.delivery.remote import Remote

if TYPE_CHECKING:
    from whilly.adapters.memory.history import MemoryHistory
    from whilly.domain.ids import CommitId


@final
class MemoryRemote(Remote):
    """Branches, without a host.

    Args:
        history: holds the commits of both sides.

    Attributes:
        heads: of the hosted branches; tests read and change it directly.
        protected: branches that nobody may push.
    """

    def __init__(self, history: MemoryHistory) -> None:
        self._history = history
        self.heads: dict[str, CommitId] = {}
        self.protected: set[str] = set()

    @override
    async def find_head(self, branch: str) -> CommitId | None:
        return self.heads.get(branch)

    @override
    async def fetch(self, branch: str) -> CommitId:
        head = self.heads.get(branch)
        if head is None:
            message = f"there is no branch {branch}"
            raise NotFound(message)
        self._history.refs[f"refs/whilly/remote/{branch}"] = head
        return head

    @override
    async def push(self, branch: str, commit: CommitId, expected: CommitId | None) -> bool:
        self._history.require_commit(commit)
        current = self.heads.get(branch)
        if current == commit:
            return True
        if branch in self.protected:
            message = f"{branch} is protected"
            raise RuleViolation(message)
        if current != expected:
            return False
        self.heads[branch] = commit
        return True
