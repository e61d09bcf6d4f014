"""Issues and notes, as GitLab serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitlab.desk import missing
from whilly.testing.forges.serving import find_ticket, text_of
from whilly.testing.forges.wire import Call, Refused, Reply, Route

if TYPE_CHECKING:
    from whilly.testing.forges.gitlab.desk import Desk
    from whilly.testing.forges.hub import Note, Repo, Ticket

_STATES = {"opened": "open", "closed": "closed"}
_EVENTS = {"close": "closed", "reopen": "open"}


@final
class IssueRoutes:
    """The handlers of issues, and of the notes on issues and merge requests."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> list[Route]:
        """Beneath a project."""
        one, notes = r"/issues/(\d+)", r"/(?:issues|merge_requests)/(\d+)/notes"
        return [
            ("GET", "/issues", self._list),
            ("POST", "/issues", self._create),
            ("GET", one, self._get),
            ("PUT", one, self._edit),
            ("GET", notes, self._list_notes),
            ("POST", notes, self._comment),
            ("PUT", rf"{notes}/(\d+)", self._edit_note),
            ("DELETE", rf"{notes}/(\d+)", self._delete_note),
        ]

    def _list(self, call: Call) -> Reply:
        repo, query = self._desk.require_project(call), call.query
        wanted = set(filter(None, query.get("labels", "").split(",")))
        state = _STATES.get(query.get("state", ""))
        items = [
            self._desk.render.issue(repo, ticket)
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
            if ticket.pull is None
            and wanted <= set(ticket.labels)
            and state in {None, ticket.state}
            and ticket.updated >= query.get("updated_after", "")
        ]
        return self._desk.page(items, call)

    def _create(self, call: Call) -> Reply:
        repo = self._desk.require_project(call, writes=True)
        if not text_of(call.data, "title"):
            return Reply(400, {"error": "title is missing"})
        author = self._desk.require_user(call)
        ticket = self._desk.hub.add_ticket(repo, author, call.data["title"], text_of(call.data, "description"))
        self._desk.hub.set_labels(repo, ticket, [each for each in text_of(call.data, "labels").split(",") if each])
        return Reply(201, self._desk.render.issue(repo, ticket))

    def _get(self, call: Call) -> Reply:
        repo, ticket = self._find(call)
        return Reply(data=self._desk.render.issue(repo, ticket))

    def _edit(self, call: Call) -> Reply:
        repo, ticket = self._find(call, writes=True)
        edit_ticket(self._desk, repo, ticket, call)
        return Reply(data=self._desk.render.issue(repo, ticket))

    def _list_notes(self, call: Call) -> Reply:
        _, ticket = self._find(call)
        notes = [self._desk.render.note(note) for note in ticket.notes]
        system = {"id": 1, "body": "changed the description", "author": None, "system": True}
        return self._desk.page([system, *notes], call)

    def _comment(self, call: Call) -> Reply:
        _, ticket = self._find(call, writes=True)
        if not text_of(call.data, "body"):
            return Reply(400, {"error": "body is missing"})
        note = self._desk.hub.add_note(ticket, self._desk.require_user(call), call.data["body"])
        return Reply(201, self._desk.render.note(note))

    def _edit_note(self, call: Call) -> Reply:
        note = self._find_note(call)[1]
        note.body, note.updated = call.data["body"], self._desk.hub.now()
        return Reply(data=self._desk.render.note(note))

    def _delete_note(self, call: Call) -> Reply:
        ticket, note = self._find_note(call)
        ticket.notes.remove(note)
        return Reply(204)

    def _find(self, call: Call, *, writes: bool = False) -> tuple[Repo, Ticket]:
        repo = self._desk.require_project(call, writes=writes)
        is_pull = "/merge_requests/" in call.path
        return repo, find_ticket(repo, call.args[1], missing("Not"), is_pull=is_pull)

    def _find_note(self, call: Call) -> tuple[Ticket, Note]:
        _, ticket = self._find(call, writes=True)
        note = next((note for note in ticket.notes if note.id == int(call.args[2])), None)
        if note is None:
            raise Refused(missing("Note"))
        return ticket, note


def edit_ticket(desk: Desk, repo: Repo, ticket: Ticket, call: Call) -> None:
    """Do what an update says to an issue or a merge request."""
    data = call.data
    ticket.title, ticket.body = text_of(data, "title", ticket.title), text_of(data, "description", ticket.body)
    ticket.state = _EVENTS.get(text_of(data, "state_event"), ticket.state)
    gone = set(text_of(data, "remove_labels").split(","))
    names = [*ticket.labels, *text_of(data, "add_labels").split(",")]
    desk.hub.set_labels(repo, ticket, [name for name in names if name and name not in gone])
