"""Issues in memory."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import NotFound, RuleViolation
from whilly.domain.forge.issue import Comment, Issue, Issues, IssueState, Permission, Person
from whilly.domain.forge.reference import IssueRef
from whilly.ports.tracker import Tracker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whilly.domain.forge.issue import IssueQuery
    from whilly.ports.clock import Clock

_STATES = {"open": IssueState.OPEN, "closed": IssueState.CLOSED, "not_planned": IssueState.CLOSED}


@final
class MemoryTracker(Tracker):
    """A tracker whose issues end with the process.

    Args:
        account: Whilly's own.
        rights: what people may do, by login; nothing when they are not in it.
    """

    def __init__(self, clock: Clock, account: Person, rights: Mapping[str, Permission], place: str = "memory") -> None:
        self._clock, self._account, self._rights, self._place = clock, account, rights, place
        self._issues: dict[IssueRef, Issue] = {}
        self._ids = itertools.count(1)

    def file(self, scope: str, author: Person, title: str, body: str, labels: Iterable[str] = ()) -> IssueRef:
        """Have somebody file an issue."""
        ref = IssueRef(self._place, scope, str(len(self._issues) + 1))
        now = self._clock.now()
        self._issues[ref] = Issue(
            ref=ref,
            title=title,
            body=body,
            author=author,
            permission=self._permission(author),
            state=IssueState.OPEN,
            status="open",
            url=f"https://memory.invalid/{scope}/issues/{ref.number}",
            created_at=now,
            updated_at=now,
            labels=tuple(labels),
        )
        return ref

    def say(self, ref: IssueRef, author: Person, text: str, key: str = "") -> Comment:
        """Have somebody comment."""
        issue = self._require(ref)
        # No two comments at the same moment, though the clock may stand still.
        now = max([self._clock.now(), *(each.created_at + timedelta(microseconds=1) for each in issue.comments)])
        comment = Comment(str(next(self._ids)), author, self._permission(author), text, now, now, key=key)
        self._issues[ref] = replace(issue, comments=(*issue.comments, comment), updated_at=now)
        return comment

    @override
    async def fetch_issue(self, ref: IssueRef) -> Issue:
        return self._require(ref)

    @override
    async def find_issues(self, query: IssueQuery) -> Issues:
        found = [
            replace(issue, comments=(), permission=Permission.UNKNOWN)
            for issue in self._issues.values()
            if issue.ref.scope == query.scope
            and set(query.labels) <= set(issue.labels)
            and query.state in {None, issue.state}
            and query.text.casefold() in f"{issue.title}\n{issue.body}".casefold()
            and (query.updated_since is None or issue.updated_at >= query.updated_since)
        ]
        found.sort(key=lambda issue: issue.updated_at, reverse=True)
        return Issues(tuple(found[: query.limit]), is_complete=len(found) <= query.limit)

    @override
    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        issue = self._require(ref)
        earlier = next((each for each in issue.comments if each.key == key), None)
        if earlier is None:
            return self.say(ref, self._account, text, key)
        if earlier.text == text:
            return earlier
        after = replace(earlier, text=text, updated_at=self._clock.now())
        comments = tuple(after if each is earlier else each for each in issue.comments)
        self._issues[ref] = replace(issue, comments=comments, updated_at=self._clock.now())
        return after

    @override
    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        issue, gone = self._require(ref), set(remove)
        labels = [label for label in dict.fromkeys([*issue.labels, *add]) if label not in gone]
        self._issues[ref] = replace(issue, labels=tuple(labels), updated_at=self._clock.now())

    @override
    async def set_state(self, ref: IssueRef, state: str) -> None:
        if state not in _STATES:
            message = f"{ref.short}: there is no state {state!r}"
            raise RuleViolation(message, remedy=f"one of {', '.join(_STATES)}")
        issue = self._require(ref)
        self._issues[ref] = replace(issue, state=_STATES[state], status=state, updated_at=self._clock.now())

    @override
    async def fetch_account(self) -> Person:
        return self._account

    def _require(self, ref: IssueRef) -> Issue:
        if ref not in self._issues:
            message = f"there is no issue {ref.short}"
            raise NotFound(message)
        return self._issues[ref]

    def _permission(self, person: Person) -> Permission:
        return self._rights.get(person.login, Permission.NONE)
