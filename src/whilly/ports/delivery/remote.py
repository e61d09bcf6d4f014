"""Remote: the repository that a forge hosts. Whilly reads and pushes branches there; agents never do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId


class Remote(Protocol):
    """Branches of a hosted repository.

    Every method may raise:
        Unavailable: it cannot be reached now.
        NotAuthorized: the credential is missing, wrong or too weak.
        NotFound: there is no such repository.
        BadResponse: it refused for any other reason.
    """

    async def find_head(self, branch: str) -> CommitId | None:
        """The commit that the branch is at; None when there is no such branch."""
        ...

    async def fetch(self, branch: str) -> CommitId:
        """Bring the branch's commit into the user's repository; no branch and no remote-tracking ref of theirs moves.

        Raises:
            NotFound: there is no such branch, either.
        """
        ...

    async def push(self, branch: str, commit: CommitId, expected: CommitId | None) -> bool:
        """Move the branch from `expected` (None: create it) to `commit`.

        Returns:
            Whether it is at `commit` now, whoever moved it there; False when it is elsewhere than expected.

        Raises:
            RuleViolation: the host does not let anybody, or us, do that to this branch.
        """
        ...
