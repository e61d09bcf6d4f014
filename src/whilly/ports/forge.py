"""Forge: where code and pull requests live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.forge.issue import Comment
    from whilly.domain.forge.pull_request import (
        Check,
        Merged,
        MergeMethod,
        NotMerged,
        PullChange,
        PullDraft,
        PullQuery,
        PullRef,
        PullRequest,
        PullStatus,
        PushAccess,
    )
    from whilly.domain.ids import CommitId


class Forge(Protocol):
    """Opens pull requests and looks after them. Every call may be made again and means the same.

    Any call may raise, beside what it names: `Unavailable` (not reachable, or no answer in time), `RateLimited` (with
    when to come back), `NotAuthorized` (the token, or the scope that it lacks), `NotFound`, `BadResponse`.
    """

    async def open_pull_request(self, draft: PullDraft) -> PullRequest:
        """The one pull request of this head branch or key: found as it is, or opened. Also after a lost answer.

        One that Whilly opened under the same key and that was closed or merged since is found, not opened again. One
        that is found is not changed.

        Raises:
            NotFound: the repository or the head branch does not exist.
            RuleViolation: there is nothing between head and base.
        """
        ...

    async def find_pull_requests(self, query: PullQuery) -> Sequence[PullRequest]:
        """The pull requests that fit, the most recently changed first; `mergeable` is `UNKNOWN` here."""
        ...

    async def fetch_pull_request(self, ref: PullRef) -> PullStatus:
        """The pull request as it is now, with its reviews, threads, and the checks of its head.

        Raises:
            NotFound: there is no such pull request, or the token may not see it.
        """
        ...

    async def fetch_log(self, ref: PullRef, check: Check) -> str:
        """The end of the check's log, at most about a megabyte; what it says about itself when there is no log."""
        ...

    async def answer(self, ref: PullRef, thread: str, key: str, text: str, *, resolve: bool = False) -> Comment:
        """Leave one comment under this key in a thread, as `Tracker.comment` does; then mark the thread as done.

        Where the forge cannot mark threads as done, `resolve` does nothing.

        Raises:
            NotFound: there is no such thread.
        """
        ...

    async def change_pull_request(self, ref: PullRef, change: PullChange) -> PullRequest:
        """Change what is said in it and how it stands; the key that it was opened under stays.

        Raises:
            RuleViolation: it is merged, and cannot be opened again.
        """
        ...

    async def merge(
        self, ref: PullRef, head: CommitId, method: MergeMethod, title: str = "", text: str = ""
    ) -> Merged | NotMerged:
        """Merge it if its head is this commit, and say what happened; waits a while for the forge to make up its mind.

        One that is merged already is `Merged`, also with another head.
        """
        ...

    async def fetch_push_access(self, repository: str) -> PushAccess:
        """Where and with what Whilly pushes to this repository.

        Raises:
            NotFound: there is no such repository, or the token may not see it.
            NotAuthorized: the account may not push to it.
        """
        ...
