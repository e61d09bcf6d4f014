"""Repository: the user's repository, of which only refs under `refs/whilly/`, `whilly/*` and the target move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.change import Combined, Conflicted
    from whilly.domain.ids import CommitId


class Repository(Protocol):
    """Git, asked to do whole things. The user's checkout, index and uncommitted changes are never touched."""

    async def find_commit(self, ref: str) -> CommitId | None:
        """The commit that a ref, branch or abbreviated id means; None when there is none."""
        ...

    async def checkout(self, commit: CommitId, name: str) -> str:
        """Absolute path of a clean checkout of exactly this commit; an older one of that name is replaced."""
        ...

    async def discard(self, name: str) -> None:
        """Remove a checkout made by `checkout`; absent is not an error."""
        ...

    async def combine(self, commit: CommitId, base: CommitId, target: CommitId, message: str) -> Combined | Conflicted:
        """Put the change `base..commit` on top of `target` as one commit with this message; nothing moves."""
        ...

    async def advance(self, branch: str, new: CommitId, old: CommitId | None) -> bool:
        """Move a branch from `old` (None: create it) to `new`; False when it was no longer at `old`.

        Raises:
            RuleViolation: the branch is checked out in somebody's work tree, which would then lie.
        """
        ...

    async def checked_out_at(self, branch: str) -> str | None:
        """Path of the work tree in which this branch is checked out; None when it is nowhere."""
        ...

    async def changed_paths(self, old: CommitId, new: CommitId) -> tuple[str, ...]:
        """Repository-relative paths in which two commits differ, sorted; renames count as both paths."""
        ...

    async def is_ancestor(self, older: CommitId, newer: CommitId) -> bool:
        """Whether `newer` contains `older`."""
        ...
