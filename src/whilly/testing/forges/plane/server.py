"""PlaneServer: work items, comments, states and labels as Plane serves them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from whilly.testing.forges.plane.render import STATES, WORKSPACE, Render
from whilly.testing.forges.serving import text_of
from whilly.testing.forges.wire import Call, Json, Refused, Reply, Route, WireServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.testing.forges.hub import Hub, Note, Repo, Ticket, User

PAGE_CAP = 50
"""Smaller than Plane's, so that there are pages."""
_ABSENT = Reply(404, {"error": "The requested resource does not exist."})
_EMPTY = "<p></p>"


@final
class PlaneServer(WireServer):
    """A Plane on loopback with one workspace, whose project is the hub's first repository.

    Attributes:
        has_roles: whether the list of the workspace's members tells their roles.
    """

    def __init__(self, hub: Hub) -> None:
        self.hub, self.has_roles = hub, True
        super().__init__(self._all_routes(), self._miss)
        self.render = Render(hub)

    def _all_routes(self) -> list[Route]:
        api = "/api/v1"
        space = f"{api}/workspaces/{WORKSPACE}"
        project = f"{space}/projects/([^/]+)"
        item = rf"{project}/work-items/([^/]+)"
        routes: list[Route] = [
            ("GET", f"{api}/users/me/", lambda call: Reply(data=self.render.user(self._require_user(call)))),
            ("GET", f"{space}/projects/", self._list_projects),
            ("GET", f"{space}/members/", self._list_members),
            ("GET", rf"{space}/work-items/([A-Z]+)-(\d+)/", self._get_by_key),
            ("GET", f"{project}/members/", self._list_members),
            ("GET", f"{project}/states/", lambda call: self._page(call, [self.render.state(name) for name in STATES])),
            ("GET", f"{project}/labels/", self._list_labels),
            ("POST", f"{project}/labels/", self._make_label),
            ("GET", f"{project}/work-items/", self._list),
            ("POST", f"{project}/work-items/", self._create),
            ("GET", f"{item}/", self._get),
            ("PATCH", f"{item}/", self._edit),
            ("GET", f"{item}/comments/", self._list_notes),
            ("POST", f"{item}/comments/", self._comment),
            ("GET", f"{item}/comments/([^/]+)/", self._get_note),
            ("PATCH", f"{item}/comments/([^/]+)/", self._edit_note),
            ("DELETE", f"{item}/comments/([^/]+)/", self._delete_note),
        ]
        return routes

    def _miss(self, call: Call) -> Reply:
        if call.path.endswith("/"):
            return _ABSENT
        # A client that follows this turns a POST into a GET.
        return Reply(301, headers={"location": f"{call.path}/"}, raw=b"")

    def _require_user(self, call: Call) -> User:
        key = call.headers.get("x-api-key")
        if key is None:
            raise Refused(Reply(401, {"detail": "Authentication credentials were not provided."}))
        user = self.hub.find_user(key)
        if user is None:
            raise Refused(Reply(403, {"detail": "Given API token is not valid"}))
        return user

    def _page(self, call: Call, items: list[Json]) -> Reply:
        self._require_user(call)
        size = min(PAGE_CAP, int(call.query.get("per_page") or PAGE_CAP))
        cursor = re.fullmatch(r"\d+:(\d+):\d+", call.query.get("cursor", f"{size}:0:0"))
        if cursor is None:
            return Reply(400, {"detail": "Invalid cursor"})
        page = int(cursor[1])
        shown = items[page * size : (page + 1) * size]
        has_more = (page + 1) * size < len(items)
        return Reply(
            data={
                "results": shown,
                "next_cursor": f"{size}:{page + 1}:0",
                "prev_cursor": f"{size}:{page - 1}:1",
                "next_page_results": has_more,
                "prev_page_results": page > 0,
                "total_count": len(items),
                "total_results": len(items),
                "total_pages": -(-len(items) // size),
                "count": len(shown),
                "extra_stats": None,
                "grouped_by": None,
                "sub_grouped_by": None,
            }
        )

    def _list_projects(self, call: Call) -> Reply:
        projects = [
            {"id": self.render.uuid(repo.id), "identifier": repo.name, "name": repo.name}
            for repo in self.hub.repos.values()
        ]
        return self._page(call, projects)

    def _list_members(self, call: Call) -> Reply:
        self._require_user(call)
        tells = self.has_roles and not call.args
        return Reply(data=[self.render.member(user, tells=tells) for user in self.hub.users.values()])

    def _list_labels(self, call: Call) -> Reply:
        return self._page(call, [self.render.label(name) for name in self.hub.repo.labels])

    def _make_label(self, call: Call) -> Reply:
        self._require_user(call)
        name = text_of(call.data, "name")
        if name in self.hub.repo.labels:
            return Reply(409, {"error": "Label with the same name already exists", "id": self.render.label(name)["id"]})
        self.hub.repo.labels[name] = self.hub.next_id()
        return Reply(201, self.render.label(name))

    def _list(self, call: Call) -> Reply:
        # Filters are ignored, as they are there.
        tickets = sorted(self.hub.repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
        return self._page(call, [self._show(ticket, call) for ticket in tickets])

    def _create(self, call: Call) -> Reply:
        author = self._require_user(call)
        if not text_of(call.data, "name"):
            return Reply(400, {"name": ["This field is required."]})
        body = text_of(call.data, "description_html")
        return Reply(201, self._show(self.hub.add_ticket(self.hub.repo, author, call.data["name"], body), call))

    def _get_by_key(self, call: Call) -> Reply:
        self._require_user(call)
        repo, ticket = self.hub.repos.get(call.args[0]), self.hub.repo.tickets.get(int(call.args[1]))
        return _ABSENT if repo is None or ticket is None else Reply(data=self._show(ticket, call))

    def _get(self, call: Call) -> Reply:
        return Reply(data=self._show(self._find(call), call))

    def _edit(self, call: Call) -> Reply:
        ticket, repo, data = self._find(call), self.hub.repo, call.data
        if "state" in data:
            name = next((name for name in STATES if self.render.state(name)["id"] == data["state"]), "")
            if not name:
                return Reply(400, {"state": ["Invalid state"]})
            ticket.reason = name
            ticket.state = "closed" if STATES[name] in {"completed", "cancelled"} else "open"
        if "labels" in data:
            self.hub.set_labels(
                repo, ticket, [name for name in repo.labels if self.render.label(name)["id"] in data["labels"]]
            )
        ticket.updated = self.hub.now()
        return Reply(data=self._show(ticket, call))

    def _show(self, ticket: Ticket, call: Call) -> Json:
        return self.render.item(self.hub.repo, ticket, set(call.query.get("expand", "").split(",")))

    def _list_notes(self, call: Call) -> Reply:
        # The newest come first, whatever is asked for.
        return self._page(call, [self.render.note(note) for note in reversed(self._find(call).notes)])

    def _comment(self, call: Call) -> Reply:
        ticket, author = self._find(call), self._require_user(call)
        pair = (call.data.get("external_source"), call.data.get("external_id"))
        for note in ticket.notes:
            if all(pair) and self.render.external.get(note.id) == pair:
                told = "Comment with the same external id and external source already exists"
                return Reply(409, {"error": told, "id": self.render.uuid(note.id)})
        note = self.hub.add_note(ticket, author, text_of(call.data, "comment_html", _EMPTY))
        self.render.external[note.id] = pair
        return Reply(201, self.render.note(note))

    def _get_note(self, call: Call) -> Reply:
        return Reply(data=self.render.note(self._find_note(call)[1]))

    def _edit_note(self, call: Call) -> Reply:
        _, note = self._find_note(call)
        note.body, note.updated = text_of(call.data, "comment_html", note.body), self.hub.now()
        return Reply(data=self.render.note(note))

    def _delete_note(self, call: Call) -> Reply:
        ticket, note = self._find_note(call)
        ticket.notes.remove(note)
        return Reply(204)

    def _find(self, call: Call) -> Ticket:
        self._require_user(call)
        is_wanted: Callable[[Repo], bool] = lambda repo: self.render.uuid(repo.id) == call.args[0]  # noqa: E731  (one line says it)
        tickets = [ticket for repo in self.hub.repos.values() if is_wanted(repo) for ticket in repo.tickets.values()]
        ticket = next((each for each in tickets if self.render.uuid(each.id) == call.args[1]), None)
        if ticket is None:
            raise Refused(_ABSENT)
        return ticket

    def _find_note(self, call: Call) -> tuple[Ticket, Note]:
        ticket = self._find(call)
        note = next((each for each in ticket.notes if self.render.uuid(each.id) == call.args[2]), None)
        if note is None:
            raise Refused(_ABSENT)
        return ticket, note
