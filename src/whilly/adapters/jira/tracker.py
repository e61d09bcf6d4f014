"""Jira's issues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.comment_once import comment_once
from whilly.adapters.jira.adf import to_adf
from whilly.adapters.jira.endpoint import JiraEndpoint, Rights
from whilly.adapters.jira.moves import choose_move, is_there
from whilly.adapters.jira.payloads import FIELDS, PROPERTY, read_comment, read_issue, read_person
from whilly.adapters.jira.wiki import to_wiki
from whilly.domain.errors import RuleViolation
from whilly.domain.forge.issue import Issues, IssueState
from whilly.domain.forge.marker import read_mark, strip_mark
from whilly.ports.tracker import Tracker
from whilly.transport.http.fields import Fields, read_list, read_object
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from whilly.domain.forge.issue import Comment, Issue, IssueQuery, Person
    from whilly.domain.forge.reference import IssueRef

PAGE = 100
_GONE = frozenset({404})


@final
class JiraTracker(Tracker):
    """The issues of all projects that the token sees."""

    def __init__(self, endpoint: JiraEndpoint) -> None:
        self._endpoint = endpoint
        self._http = endpoint.http

    @override
    async def fetch_issue(self, ref: IssueRef) -> Issue:
        path = await self._path(ref)
        data = await self._http.fetch(path, fields=FIELDS)
        rights, own = Rights(self._endpoint, ref.number), await self._endpoint.account()
        bare = read_issue(data, self._endpoint.place)
        comments = [
            read_comment(each, own, await rights.of(read_person(each.child("author"))), bare.url)
            async for each in list_comments(self._endpoint, path)
        ]
        return read_issue(data, self._endpoint.place, await rights.of(bare.author), tuple(comments))

    @override
    async def find_issues(self, query: IssueQuery) -> Issues:
        found: list[Issue] = []
        async for data in self._search(query.native or write_jql(query)):
            issue = read_issue(data, self._endpoint.place)
            if query.text.casefold() not in f"{issue.title}\n{issue.body}".casefold():
                continue
            if len(found) == query.limit:
                return Issues(tuple(found), is_complete=False)
            found.append(issue)
        return Issues(tuple(found))

    async def _search(self, jql: str) -> AsyncIterator[Fields]:
        """The two ways of going through results: the cloud has taken the older one away."""
        body: dict[str, object] = {"jql": jql, "fields": FIELDS.split(","), "maxResults": PAGE}
        is_cloud = await self._endpoint.is_cloud()
        path = "/rest/api/3/search/jql" if is_cloud else "/rest/api/2/search"
        seen = 0
        while True:
            request = Request("POST", path, body=body, is_repeatable=True)
            data = read_object((await self._http.send(request)).parse(), self._http.name(request))
            issues = read_list(data.raw(), data.what, "issues")
            for issue in issues:
                yield issue
            seen += len(issues)
            following = data.text("nextPageToken")
            if (is_cloud and not following) or (not is_cloud and (not issues or seen >= data.number("total"))):
                return
            body = {**body, **({"nextPageToken": following} if is_cloud else {"startAt": seen})}

    @override
    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        return await comment_once(self._http, CommentThread(self._endpoint, await self._path(ref)), key, text)

    @override
    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        changes = [*({"add": name} for name in add), *({"remove": name} for name in remove)]
        bad = [name for change in changes for name in change.values() if " " in name]
        if bad:
            message = f"{ref.short}: Jira has no labels with spaces: {', '.join(map(repr, bad))}"
            raise RuleViolation(message, remedy="write a hyphen instead")
        if changes:
            body = {"update": {"labels": changes}}
            await self._http.send(Request("PUT", await self._path(ref), body=body))

    @override
    async def set_state(self, ref: IssueRef, state: str) -> None:
        path = await self._path(ref)
        status = (await self._http.fetch(path, fields="status")).child("fields", "status")
        if is_there(status, state):
            return
        offered = await self._http.fetch(f"{path}/transitions", expand="transitions.fields")
        move = choose_move(offered.children("transitions"), state, ref.short)
        await self._http.send(Request("POST", f"{path}/transitions", body=move))

    @override
    async def fetch_account(self) -> Person:
        return await self._endpoint.account()

    async def _path(self, ref: IssueRef) -> str:
        return await self._endpoint.path(f"/issue/{ref.number}")


async def list_comments(endpoint: JiraEndpoint, path: str) -> AsyncIterator[Fields]:
    """The comments of an issue, the oldest first."""
    start = 0
    while True:
        where = f"{path}/comment"
        data = await endpoint.http.fetch(where, startAt=start, maxResults=PAGE, orderBy="created", expand="properties")
        comments = read_list(data.raw(), data.what, "comments")
        for comment in comments:
            yield comment
        start += len(comments)
        if not comments or start >= data.number("total"):
            return


@final
class CommentThread:
    """The comments of an issue. Markdown with a mark comes in; what Jira keeps goes out.

    Args:
        path: of the issue in the API.
    """

    def __init__(self, endpoint: JiraEndpoint, path: str) -> None:
        self._endpoint, self._http, self._issue, self._path = endpoint, endpoint.http, path, f"{path}/comment"

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first."""
        own = await self._endpoint.account()
        listed = [read_comment(each, own) async for each in list_comments(self._endpoint, self._issue)]
        return [comment for comment in listed if comment.author.id == own.id]

    async def write(self, text: str) -> object:
        """Add one."""
        return await self._http.write("POST", self._path, await self._render(text))

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        return await self._http.write("PUT", f"{self._path}/{comment.id}", await self._render(text))

    async def remove(self, comment: Comment) -> object:
        """Take one away."""
        return await self._http.send(Request("DELETE", f"{self._path}/{comment.id}", accept=_GONE))

    async def _render(self, text: str) -> dict[str, object]:
        key, plain = read_mark(text), strip_mark(text)
        if not await self._endpoint.is_cloud():
            return {"body": to_wiki(plain, key)}
        return {"body": to_adf(plain), "properties": [{"key": PROPERTY, "value": {"key": key}}]}


def write_jql(query: IssueQuery) -> str:
    """The query in Jira's own language; every text in it is quoted."""
    conditions = [f"project = {_quote(query.scope)}", *(f"labels = {_quote(label)}" for label in query.labels)]
    if query.state is not None:
        conditions.append(f"statusCategory {'=' if query.state is IssueState.CLOSED else '!='} Done")
    if query.updated_since is not None:
        conditions.append(f'updated >= "{query.updated_since:%Y-%m-%d %H:%M}"')
    return f"{' AND '.join(conditions)} ORDER BY updated DESC"


def _quote(text: str) -> str:
    # JQL takes the escapes of JSON.
    return json.dumps(text, ensure_ascii=False)
