"""Workspace: the isolated checkout of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.change import Saved
    from whilly.domain.ids import AttemptId, CommitId, RunId


class Workspace(Protocol):
    """The checkout that an agent works in. No call deletes a commit that no ref holds."""

    async def open(self, run: RunId, branch: str, base: CommitId) -> str:
        """Absolute path of the run's workspace; created at `base` on `branch`, or found as it was left.

        A branch of that name which belongs to something else is never taken over: the run then gets another name.

        Raises:
            Unavailable: disk full or git failed for a reason that may pass.
            NotFound: `base` does not exist.
        """
        ...

    async def renew(self, run: RunId) -> None:
        """Leave nothing in the workspace but its work, before a person opens it.

        Where agents are not trusted, git's configuration and hooks there are theirs, and ignored files are, too; they
        go. Elsewhere nothing happens.

        A merge whose conflicts are not all settled begins anew; what was done of it is kept on a ref.

        Raises:
            NotFound: the run has no workspace.
        """
        ...

    async def find_branch(self, run: RunId) -> str | None:
        """The name of the branch that `open` gave to the run; None when it has none (any more)."""
        ...

    async def save(self, run: RunId, attempt: AttemptId, base: CommitId) -> Saved:
        """Commit everything in the workspace to `refs/whilly/wip/<run>/<attempt>` and say what it changed.

        Ignored files are left out. Saving an unchanged workspace again gives the same tree.

        Raises:
            NotFound: the run has no workspace.
        """
        ...

    async def bring_in(self, run: RunId, target: CommitId) -> tuple[str, ...]:
        """Merge `target` into the workspace and leave the conflicts there, with markers; the conflicted paths."""
        ...

    async def close(self, run: RunId, *, keep_branch: bool) -> None:
        """Remove the checkout after its commits are safe; `keep_branch` leaves the branch for people.

        Closing a closed one is not an error.
        """
        ...
