"""JiraServer: issues, comments, labels and transitions, as Jira Cloud or Jira Data Center serves them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, final

from whilly.testing.forges.jira.render import STATUSES, Render
from whilly.testing.forges.serving import find_caller, may_write
from whilly.testing.forges.wire import Call, Json, Refused, Reply, Route, WireServer

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub, Note, Repo, Ticket, User

PAGE_CAP = 50
_ABSENT = {"errorMessages": ["Issue does not exist or you do not have permission to see it."], "errors": {}}
_GONE = {"errorMessages": ["The requested API has been removed. Please migrate to the /rest/api/3/search/jql API."]}


@final
class JiraServer(WireServer):
    """A Jira on loopback with one project, which is the hub's first repository.

    Args:
        is_cloud: which of the two it is.
    """

    def __init__(self, hub: Hub, *, is_cloud: bool) -> None:
        self.hub, self.is_cloud = hub, is_cloud
        super().__init__(self._all_routes(), lambda _: Reply(404, {"message": "null for uri"}))
        self.render = Render(hub, self.url, is_cloud=is_cloud)

    def _all_routes(self) -> list[Route]:
        api = f"/rest/api/{'[23]' if self.is_cloud else '2'}"
        issue = rf"{api}/issue/([A-Z]+-\d+)"
        return [
            ("GET", f"{api}/serverInfo", self._info),
            ("GET", f"{api}/myself", lambda call: Reply(data=self.render.user(self._require_user(call)))),
            ("GET", f"{api}/user/permission/search", self._permitted),
            ("*", f"{api}/search", self._search),
            ("*", f"{api}/search/jql", self._search_cloud),
            ("GET", f"{api}/field", lambda _: Reply(data=[])),
            ("GET", issue, self._get),
            ("PUT", issue, self._edit),
            ("GET", f"{issue}/comment", self._list_notes),
            ("POST", f"{issue}/comment", self._comment),
            ("PUT", rf"{issue}/comment/(\d+)", self._edit_note),
            ("DELETE", rf"{issue}/comment/(\d+)", self._delete_note),
            ("GET", f"{issue}/transitions", self._transitions),
            ("POST", f"{issue}/transitions", self._move),
        ]

    def _info(self, _: Call) -> Reply:
        kind = "Cloud" if self.is_cloud else "Server"
        return Reply(
            data={"baseUrl": self.url, "version": "9.12.0", "versionNumbers": [9, 12, 0], "deploymentType": kind}
        )

    def _require_user(self, call: Call) -> User:
        user = find_caller(self.hub, call)
        if user is None:
            raise Refused(Reply(401, {"message": "Client must be authenticated to access this resource."}))
        return user

    def _find(self, call: Call, *, writes: bool = False) -> tuple[Repo, Ticket]:
        user, (project, _, number) = self._require_user(call), call.args[0].partition("-")
        repo = self.hub.repos.get(project)
        ticket = repo.tickets.get(int(number)) if repo else None
        if repo is None or ticket is None:
            raise Refused(Reply(404, _ABSENT))
        if writes and not may_write(repo, user):
            raise Refused(
                Reply(403, {"errorMessages": ["You do not have permission to edit this issue."], "errors": {}})
            )
        return repo, ticket

    def _permitted(self, call: Call) -> Reply:
        caller, repo = self._require_user(call), self.hub.repo
        if repo.members.get(caller.login) != "admin":
            return Reply(403, {"errorMessages": ["You do not have permission to view users."], "errors": {}})
        wanted = call.query.get("accountId" if self.is_cloud else "username")
        shown = [(user, self.render.user(user)) for user in self.hub.users.values()]
        found = [user for user, data in shown if wanted in {data.get("accountId"), data.get("name")}]
        return Reply(data=[self.render.user(user) for user in found if may_write(repo, user)])

    def _get(self, call: Call) -> Reply:
        return Reply(data=self.render.issue(*self._find(call)))

    def _edit(self, call: Call) -> Reply:
        repo, ticket = self._find(call, writes=True)
        labels = list(ticket.labels)
        for change in call.data.get("update", {}).get("labels", []):
            labels += [change["add"]] if "add" in change else []
            labels = [label for label in labels if label != change.get("remove")]
        self.hub.set_labels(repo, ticket, labels)
        ticket.title = call.data.get("fields", {}).get("summary", ticket.title)
        return Reply(204)

    def _list_notes(self, call: Call) -> Reply:
        _, ticket = self._find(call)
        start = int(call.query.get("startAt") or 0)
        size = min(PAGE_CAP, int(call.query.get("maxResults") or PAGE_CAP))
        shown = [self.render.note(note) for note in ticket.notes[start : start + size]]
        return Reply(data={"comments": shown, "startAt": start, "maxResults": size, "total": len(ticket.notes)})

    def _comment(self, call: Call) -> Reply:
        _, ticket = self._find(call)
        note = self.hub.add_note(ticket, self._require_user(call), self._take_text(call))
        self.render.properties[note.id] = call.data.get("properties", [])
        return Reply(201, self.render.note(note))

    def _edit_note(self, call: Call) -> Reply:
        note = self._find_note(call)[1]
        note.body, note.updated = self._take_text(call), self.hub.now()
        if "properties" in call.data:
            self.render.properties[note.id] = call.data["properties"]
        return Reply(data=self.render.note(note))

    def _delete_note(self, call: Call) -> Reply:
        ticket, note = self._find_note(call)
        ticket.notes.remove(note)
        return Reply(204)

    def _find_note(self, call: Call) -> tuple[Ticket, Note]:
        _, ticket = self._find(call)
        note = next((note for note in ticket.notes if note.id == int(call.args[1])), None)
        if note is None:
            raise Refused(Reply(404, {"errorMessages": ["Can not find a comment for the id."], "errors": {}}))
        return ticket, note

    def _take_text(self, call: Call) -> str:
        body = call.data.get("body")
        is_document = isinstance(body, dict) and body.get("type") == "doc" and _is_valid(body)
        is_version_3 = call.path.startswith("/rest/api/3/")
        if not body or is_document is not is_version_3:
            raise Refused(Reply(400, {"errorMessages": [], "errors": {"comment": "Comment body is not valid!"}}))
        return json.dumps(body) if is_document else str(body)

    def _transitions(self, call: Call) -> Reply:
        _, ticket = self._find(call)
        return Reply(data={"expand": "transitions", "transitions": self._moves(ticket)})

    def _moves(self, ticket: Ticket) -> list[Json]:
        """From everywhere to everywhere else; what ends an issue needs a resolution."""
        now = self.render.status(ticket)["name"]
        values = [{"name": "Done"}, {"name": "Won't Do"}]
        needed = {"resolution": {"required": True, "allowedValues": values}}
        return [
            {
                "id": f"{STATUSES[name][0]}1",
                "name": f"Move to {name}",
                "to": self.render.status_named(name),
                "fields": needed if name == "Done" else {},
            }
            for name in STATUSES
            if name != now
        ]

    def _move(self, call: Call) -> Reply:
        _, ticket = self._find(call)
        # Both a number and a text name it.
        wanted = str(call.data.get("transition", {}).get("id"))
        move = next((move for move in self._moves(ticket) if move["id"] == wanted), None)
        if move is None:
            return Reply(
                400, {"errorMessages": [f"Transition id '{wanted}' is not valid for this issue."], "errors": {}}
            )
        if move["fields"] and not call.data.get("fields", {}).get("resolution"):
            return Reply(400, {"errorMessages": [], "errors": {"resolution": "Resolution is required."}})
        ticket.reason, ticket.updated = move["to"]["name"], self.hub.now()
        ticket.state = "closed" if ticket.reason == "Done" else "open"
        return Reply(204)

    def _search(self, call: Call) -> Reply:
        self._require_user(call)
        if self.is_cloud:
            return Reply(410, _GONE)
        given = call.data or call.query
        found, start = self._select(str(given.get("jql"))), int(given.get("startAt") or 0)
        size = min(PAGE_CAP, int(given.get("maxResults") or PAGE_CAP))
        return Reply(
            data={"issues": found[start : start + size], "startAt": start, "maxResults": size, "total": len(found)}
        )

    def _search_cloud(self, call: Call) -> Reply:
        self._require_user(call)
        given = call.data or call.query
        found, start = self._select(str(given.get("jql"))), int(given.get("nextPageToken") or 0)
        size = min(PAGE_CAP, int(given.get("maxResults") or PAGE_CAP))
        is_last = start + size >= len(found)
        more = {} if is_last else {"nextPageToken": str(start + size)}
        return Reply(data={"issues": found[start : start + size], "isLast": is_last, **more})

    def _select(self, jql: str) -> list[Json]:
        """The part of the language that is asked for: a project, labels, whether it is done."""
        project = re.search(r'project = "([^"]+)"', jql)
        repo = self.hub.repos.get(project[1] if project else "")
        if repo is None:
            raise Refused(Reply(400, {"errorMessages": ["The value does not exist for the field 'project'."]}))
        labels = set(re.findall(r'labels = "([^"]+)"', jql))
        done = re.search(r"statusCategory (!?=) Done", jql)
        states = {None: {"open", "closed"}, "=": {"closed"}, "!=": {"open"}}[done[1] if done else None]
        return [
            self.render.issue(repo, ticket)
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
            if labels <= set(ticket.labels) and ticket.state in states
        ]


def _is_valid(node: Json) -> bool:
    """What Jira refuses of a document: text nodes without a text."""
    if node.get("type") == "text":
        return bool(node.get("text"))
    return all(_is_valid(child) for child in node.get("content", []))
