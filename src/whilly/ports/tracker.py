"""Tracker: where work items live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.forge.issue import Comment, Issue, IssueQuery, Issues, Person
    from whilly.domain.forge.reference import IssueRef


class Tracker(Protocol):
    """Reads issues, and writes Whilly's own marks on them. Every call may be made again and means the same.

    Any call may raise, beside what it names: `Unavailable` (not reachable, or no answer in time), `RateLimited` (with
    when to come back), `NotAuthorized` (the token, or the scope that it lacks), `NotFound`, `BadResponse`.
    """

    async def fetch_issue(self, ref: IssueRef) -> Issue:
        """The issue as it is now, with all comments, and what each author may do there.

        Raises:
            NotFound: there is no such issue, or the token may not see it.
        """
        ...

    async def find_issues(self, query: IssueQuery) -> Issues:
        """The issues that fit; none is not an error. What authors may do is `UNKNOWN` here."""
        ...

    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        """Leave one comment under this key: the same key again replaces its text, and never makes a second one.

        That holds also when an answer was lost, and when a request arrived twice. Only comments of Whilly's own
        account are taken for its own, whatever is written in others.
        """
        ...

    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        """Add and remove labels; the others stay. Labels that the tracker does not know yet are made."""
        ...

    async def set_state(self, ref: IssueRef, state: str) -> None:
        """Bring the issue into a state: `open`, `closed`, `not_planned`, or one of the tracker's own names.

        Raises:
            RuleViolation: the tracker has no such state, or no way there from the present one.
        """
        ...

    async def fetch_account(self) -> Person:
        """Whose token it is; asked for once."""
        ...
