"""GitLab's issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.comment_once import comment_once
from whilly.adapters.gitlab.endpoint import GitlabEndpoint, Rights, project_path
from whilly.adapters.gitlab.payloads import read_issue, read_note, read_person
from whilly.domain.errors import RuleViolation
from whilly.domain.forge.issue import Issues, IssueState
from whilly.domain.forge.reference import IssueRef
from whilly.ports.tracker import Tracker
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.forge.issue import Comment, Issue, IssueQuery, Person
    from whilly.transport.http.fields import Fields

EVENTS = {"open": "reopen", "closed": "close", "not_planned": "close"}
_GONE = frozenset({404})
PAGE = 100


@final
class GitlabTracker(Tracker):
    """The issues of all projects that the token sees."""

    def __init__(self, endpoint: GitlabEndpoint) -> None:
        self._endpoint = endpoint
        self._http = endpoint.http

    @override
    async def fetch_issue(self, ref: IssueRef) -> Issue:
        data = await self._http.fetch(_path(ref))
        rights = Rights(self._endpoint, ref.scope)
        bare = read_issue(data, ref, self._endpoint.place)
        own = await self._endpoint.account()
        comments = [
            read_note(each, own, await rights.of(read_person(each.child("author"))), bare.url)
            async for each in self._http.items(f"{_path(ref)}/notes", sort="asc", order_by="created_at", per_page=PAGE)
            if not each.flag("system")
        ]
        permission = await rights.of(bare.author)
        return read_issue(data, ref, self._endpoint.place, permission, tuple(comments))

    @override
    async def find_issues(self, query: IssueQuery) -> Issues:
        found: list[Issue] = []
        listed = self._http.items(
            f"{project_path(query.scope)}/issues",
            per_page=PAGE,
            order_by="updated_at",
            sort="desc",
            scope="all",
            state={IssueState.OPEN: "opened", IssueState.CLOSED: "closed", None: None}[query.state],
            labels=",".join(query.labels) or None,
            updated_after=query.updated_since.isoformat() if query.updated_since else None,
        )
        async for data in listed:
            issue = self._read(data, query)
            if query.text.casefold() not in f"{issue.title}\n{issue.body}".casefold():
                continue
            if len(found) == query.limit:
                return Issues(tuple(found), is_complete=False)
            found.append(issue)
        return Issues(tuple(found))

    def _read(self, data: Fields, query: IssueQuery) -> Issue:
        place = self._endpoint.place
        return read_issue(data, IssueRef(place.name, query.scope, data.need("iid")), place)

    @override
    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        return await comment_once(self._http, NoteThread(self._endpoint, _path(ref)), key, text)

    @override
    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        body = {"add_labels": ",".join(add), "remove_labels": ",".join(remove)}
        if fields := {name: value for name, value in body.items() if value}:
            await self._http.write("PUT", _path(ref), fields)

    @override
    async def set_state(self, ref: IssueRef, state: str) -> None:
        if state not in EVENTS:
            message = f"{ref.short}: GitLab has no state {state!r}"
            raise RuleViolation(message, remedy=f"one of {', '.join(EVENTS)}")
        await self._http.write("PUT", _path(ref), {"state_event": EVENTS[state]})

    @override
    async def fetch_account(self) -> Person:
        return await self._endpoint.account()


@final
class NoteThread:
    """The conversation of an issue or a merge request.

    Args:
        path: of the issue or merge request in the API.
    """

    def __init__(self, endpoint: GitlabEndpoint, path: str) -> None:
        self._endpoint, self._http, self._path = endpoint, endpoint.http, f"{path}/notes"

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first."""
        own = await self._endpoint.account()
        listed = self._http.items(self._path, sort="asc", order_by="created_at", per_page=PAGE)
        comments = [read_note(each, own) async for each in listed if not each.flag("system")]
        return [comment for comment in comments if comment.author.id == own.id]

    async def write(self, text: str) -> object:
        """Add one."""
        return await self._http.write("POST", self._path, {"body": text})

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        return await self._http.write("PUT", f"{self._path}/{comment.id}", {"body": text})

    async def remove(self, comment: Comment) -> object:
        """Take one away."""
        return await self._http.send(Request("DELETE", f"{self._path}/{comment.id}", accept=_GONE))


def _path(ref: IssueRef) -> str:
    return f"{project_path(ref.scope)}/issues/{ref.number}"
