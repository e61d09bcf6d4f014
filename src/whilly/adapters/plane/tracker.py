"""Plane's work items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.plane.endpoint import PlaneEndpoint, Rights
from whilly.adapters.plane.html import to_html
from whilly.adapters.plane.payloads import SOURCE, read_author, read_comment, read_issue, read_person
from whilly.domain.errors import BadResponse, RuleViolation
from whilly.domain.forge.issue import Issues, Permission
from whilly.domain.forge.reference import IssueRef
from whilly.ports.tracker import Tracker
from whilly.transport.http.fields import Fields, read_list, read_object
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.forge.issue import Comment, Issue, IssueQuery, Person

GROUPS = {
    "open": ("unstarted", "backlog", "started", "triage"),
    "closed": ("completed", "cancelled"),
    "not_planned": ("cancelled", "completed"),
}
"""Whilly's states → Plane's groups of states, the wanted one first. All other states are names of Plane's own."""
_EXISTS = 409
_COLOUR = "#858585"
_MOST_FORGED = 20


@final
class PlaneTracker(Tracker):
    """The work items of one workspace."""

    def __init__(self, endpoint: PlaneEndpoint) -> None:
        self._endpoint = endpoint
        self._http = endpoint.http

    @override
    async def fetch_issue(self, ref: IssueRef) -> Issue:
        item = await self._item_path(ref)
        project = item.rpartition("/work-items/")[0]
        data = await self._http.fetch(item, expand="state,labels")
        ref = await self._name(ref, data)
        rights, people = Rights(self._endpoint, project), await self._people(project)
        author, own = read_author(data, "created_by", people), await self._endpoint.account()
        comments = [
            read_comment(each, people, own, await rights.of(read_author(each, "actor", people)))
            async for each in self._endpoint.items(f"{item}comments/")
        ]
        # They come with the newest first, whatever they are asked to be sorted by.
        comments.sort(key=lambda comment: comment.created_at)
        return read_issue(data, ref, self._url(ref), author, await rights.of(author), tuple(comments))

    @override
    async def find_issues(self, query: IssueQuery) -> Issues:
        project = await self._endpoint.project(query.scope)
        found: list[Issue] = []
        # Plane ignores every filter of this list.
        async for data in self._endpoint.items(f"{project}/work-items/", order_by="-updated_at", expand="state,labels"):
            ref = IssueRef(self._endpoint.place.name, query.scope, f"{query.scope}-{data.need('sequence_id')}")
            issue = read_issue(data, ref, self._url(ref), read_author(data, "created_by", {}))
            if query.updated_since is not None and issue.updated_at < query.updated_since:
                break
            if not _fits(issue, query):
                continue
            if len(found) == query.limit:
                return Issues(tuple(found), is_complete=False)
            found.append(issue)
        return Issues(tuple(found))

    @override
    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        path = f"{await self._item_path(ref)}comments/"
        own, html = await self._endpoint.account(), to_html(text)
        for attempt in range(_MOST_FORGED):
            # Somebody else may have taken the key: then the next one is tried.
            name = f"{key}#{attempt}" if attempt else key
            body = {"comment_html": html, "external_source": SOURCE, "external_id": name}
            # The pair is unique in Plane, so asking twice makes one.
            request = Request("POST", path, body=body, accept=frozenset({_EXISTS}), is_repeatable=True)
            answer = await self._http.send(request)
            data = read_object(answer.parse(), self._http.name(request))
            if answer.status == _EXISTS:
                data = await self._http.fetch(f"{path}{data.need('id')}/")
            comment = read_comment(data, {own.id: own}, own, Permission.UNKNOWN)
            if comment.key == key:
                return await self._settle(path, comment, data, html)
        message = f"{ref.short}: others have taken the key {key!r} of a comment"
        raise BadResponse(message)

    async def _settle(self, path: str, comment: Comment, data: Fields, html: str) -> Comment:
        """The comment with the wanted text."""
        if data.text("comment_html") == html:
            return comment
        after = await self._http.write("PATCH", f"{path}{comment.id}/", {"comment_html": html})
        return replace(read_comment(after, {comment.author.id: comment.author}, comment.author, comment.permission))

    @override
    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        item = await self._item_path(ref)
        project = item.rpartition("/work-items/")[0]
        data = await self._http.fetch(item, expand="state,labels")
        now = {label.text("name"): label.need("id") for label in data.children("labels")}
        gone = set(remove)
        wanted = [name for name in dict.fromkeys([*now, *add]) if name not in gone]
        if wanted == list(now):
            return
        known = {each.text("name"): each.need("id") async for each in self._endpoint.items(f"{project}/labels/")}
        for name in wanted:
            if name not in known:
                body = {"name": name, "color": _COLOUR}
                known[name] = (await self._http.write("POST", f"{project}/labels/", body)).need("id")
        await self._http.write("PATCH", item, {"labels": [known[name] for name in wanted]})

    @override
    async def set_state(self, ref: IssueRef, state: str) -> None:
        item = await self._item_path(ref)
        project = item.rpartition("/work-items/")[0]
        now = (await self._http.fetch(item, expand="state")).child("state")
        if _is_there(now, state):
            return
        states = [each async for each in self._endpoint.items(f"{project}/states/")]
        leading = [each for each in states if _is_there(each, state)]
        if state in GROUPS:
            leading.sort(key=lambda each: GROUPS[state].index(each.text("group")))
        if not leading:
            names = ", ".join(each.text("name") for each in states)
            message = f"{ref.short}: its project has no state {state!r}"
            raise RuleViolation(message, remedy=f"it has: {names}")
        # Under the name `state_id` it would be ignored without a word.
        await self._http.write("PATCH", item, {"state": leading[0].need("id")})

    @override
    async def fetch_account(self) -> Person:
        return await self._endpoint.account()

    async def _item_path(self, ref: IssueRef) -> str:
        if _is_key(ref):
            data = await self._http.fetch(f"{self._endpoint.path}/work-items/{ref.number}/")
            return f"{self._endpoint.path}/projects/{data.need('project')}/work-items/{data.need('id')}/"
        return f"{self._endpoint.path}/projects/{ref.scope}/work-items/{ref.number}/"

    async def _name(self, ref: IssueRef, data: Fields) -> IssueRef:
        """By its key, also where an address named it by its id: one item has one name."""
        if _is_key(ref):
            return ref
        scope = await self._endpoint.identifier(ref.scope)
        return IssueRef(ref.place, scope, f"{scope}-{data.need('sequence_id')}")

    async def _people(self, project: str) -> dict[str, Person]:
        answer = await self._http.get(f"{project}/members/", accept=[403])
        people = read_list(answer.parse(), project) if answer.is_success else []
        return {each.text("id"): read_person(each) for each in people}

    def _url(self, ref: IssueRef) -> str:
        return f"{self._endpoint.place.url}/{self._endpoint.workspace}/browse/{ref.number}/"


def _is_key(ref: IssueRef) -> bool:
    return ref.number.rpartition("-")[2].isdigit() and ref.number.count("-") == 1


def _is_there(state: Fields, wanted: str) -> bool:
    if wanted in GROUPS:
        return state.text("group") in GROUPS[wanted]
    return state.text("name").casefold() == wanted.casefold()


def _fits(issue: Issue, query: IssueQuery) -> bool:
    says = query.text.casefold() in f"{issue.title}\n{issue.body}".casefold()
    return says and set(query.labels) <= set(issue.labels) and query.state in {None, issue.state}
