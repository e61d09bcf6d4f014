"""Gitea's issues."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.comment_once import comment_once
from whilly.adapters.gitea.endpoint import PAGE, GiteaEndpoint, Rights
from whilly.adapters.hub_payloads import read_comment, read_issue, read_person
from whilly.domain.errors import RuleViolation
from whilly.domain.forge.issue import Issues
from whilly.domain.forge.reference import IssueRef
from whilly.ports.tracker import Tracker
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.forge.issue import Comment, Issue, IssueQuery, Person

STATES = {"open": "open", "closed": "closed", "not_planned": "closed"}
_GONE = frozenset({404})


@final
class GiteaTracker(Tracker):
    """The issues of all repositories that the token sees."""

    def __init__(self, endpoint: GiteaEndpoint) -> None:
        self._endpoint = endpoint
        self._http = endpoint.http

    @override
    async def fetch_issue(self, ref: IssueRef) -> Issue:
        data = await self._http.fetch(_path(ref))
        own, rights = await self._endpoint.account(), Rights(self._endpoint, ref.scope)
        comments = [
            read_comment(each, own, await rights.of(read_person(each.child("user"))))
            async for each in self._http.items(f"{_path(ref)}/comments", limit=PAGE)
        ]
        permission = await rights.of(read_person(data.child("user")))
        return self._publish(read_issue(data, ref, permission, tuple(comments)))

    @override
    async def find_issues(self, query: IssueQuery) -> Issues:
        found: list[Issue] = []
        listed = self._http.items(
            f"/repos/{query.scope}/issues",
            type="issues",
            limit=PAGE,
            state=query.state or "all",
            labels=",".join(query.labels) or None,
            since=query.updated_since.isoformat() if query.updated_since else None,
        )
        async for data in listed:
            ref = IssueRef(self._endpoint.place.name, query.scope, data.need("number"))
            issue = self._publish(read_issue(data, ref))
            # Labels that do not exist are no condition for Gitea.
            is_labelled = set(query.labels) <= set(issue.labels)
            if not is_labelled or query.text.casefold() not in f"{issue.title}\n{issue.body}".casefold():
                continue
            if len(found) == query.limit:
                return Issues(_newest_first(found), is_complete=False)
            found.append(issue)
        return Issues(_newest_first(found))

    @override
    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        thread = IssueThread(self._endpoint, ref.scope, ref.number)
        return await comment_once(self._http, thread, key, text)

    @override
    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        await self._endpoint.add_labels(ref.scope, ref.number, add)
        await self._endpoint.remove_labels(ref.scope, ref.number, remove)

    @override
    async def set_state(self, ref: IssueRef, state: str) -> None:
        if state not in STATES:
            message = f"{ref.short}: Gitea has no state {state!r}"
            raise RuleViolation(message, remedy=f"one of {', '.join(STATES)}")
        await self._http.write("PATCH", _path(ref), {"state": STATES[state]})

    @override
    async def fetch_account(self) -> Person:
        return await self._endpoint.account()

    def _publish(self, issue: Issue) -> Issue:
        """With the address at which people see it."""
        return replace(issue, url=f"{self._endpoint.place.url}/{issue.ref.scope}/issues/{issue.ref.number}")


@final
class IssueThread:
    """The conversation of an issue or a pull request."""

    def __init__(self, endpoint: GiteaEndpoint, repository: str, number: str) -> None:
        self._endpoint, self._http = endpoint, endpoint.http
        self._path = f"/repos/{repository}/issues/{number}/comments"
        self._comments = f"/repos/{repository}/issues/comments"

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first."""
        own = await self._endpoint.account()
        listed = [read_comment(each, own) async for each in self._http.items(self._path, limit=PAGE)]
        return [comment for comment in listed if comment.author.id == own.id]

    async def write(self, text: str) -> object:
        """Add one."""
        return await self._http.write("POST", self._path, {"body": text})

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        return await self._http.write("PATCH", f"{self._comments}/{comment.id}", {"body": text})

    async def remove(self, comment: Comment) -> object:
        """Take one away."""
        return await self._http.send(Request("DELETE", f"{self._comments}/{comment.id}", accept=_GONE))


def _newest_first(issues: list[Issue]) -> tuple[Issue, ...]:
    return tuple(sorted(issues, key=lambda issue: issue.updated_at, reverse=True))


def _path(ref: IssueRef) -> str:
    return f"/repos/{ref.scope}/issues/{ref.number}"
