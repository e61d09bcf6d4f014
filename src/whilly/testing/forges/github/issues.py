"""Issues, comments and labels, as GitHub serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.github.desk import NOT_FOUND as MISSING
from whilly.testing.forges.serving import find_ticket, paginate, text_of
from whilly.testing.forges.wire import Call, Refused, Reply, Route

if TYPE_CHECKING:
    from whilly.testing.forges.github.desk import Desk
    from whilly.testing.forges.hub import Note, Repo, Ticket


def invalid(resource: str, field: str = "", code: str = "invalid", message: str = "") -> Reply:
    """GitHub's words for a request that makes no sense."""
    error = {"resource": resource, "code": code, **({"field": field} if field else {})}
    if message:
        error["message"] = message
    return Reply(422, {"message": "Validation Failed", "errors": [error]})


@final
class IssueRoutes:
    """The handlers of issues."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> list[Route]:
        """Beneath a repository."""
        one = r"/issues/(\d+)"
        return [
            ("GET", "/issues", self._list),
            ("POST", "/issues", self._create),
            ("GET", one, self._get),
            ("PATCH", one, self._edit),
            ("GET", f"{one}/comments", self._list_notes),
            ("POST", f"{one}/comments", self._comment),
            ("GET", r"/issues/comments/(\d+)", self._get_note),
            ("PATCH", r"/issues/comments/(\d+)", self._edit_note),
            ("DELETE", r"/issues/comments/(\d+)", self._delete_note),
            ("POST", f"{one}/labels", self._add_labels),
            ("DELETE", f"{one}/labels/(.+)", self._remove_label),
        ]

    def _url(self, call: Call) -> str:
        return f"{self._desk.url}{call.path}"

    def _list(self, call: Call) -> Reply:
        repo, query = self._desk.require_repo(call), call.query
        wanted = set(filter(None, query.get("labels", "").split(",")))
        state = query.get("state", "open")
        tickets = [
            ticket
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
            if wanted <= set(ticket.labels)
            and state in {"all", ticket.state}
            and ticket.updated >= query.get("since", "")
        ]
        items = [self._desk.render.issue(repo, ticket) for ticket in tickets]
        return paginate(items, call, self._url(call), self._desk.page_cap)

    def _create(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call, writes=True)
        if not text_of(call.data, "title"):
            return invalid("Issue", "title", "missing_field")
        author = self._desk.require_user(call)
        ticket = self._desk.hub.add_ticket(repo, author, call.data["title"], text_of(call.data, "body"))
        self._desk.hub.set_labels(repo, ticket, call.data.get("labels") or [])
        return Reply(201, self._desk.render.issue(repo, ticket))

    def _get(self, call: Call) -> Reply:
        repo, ticket = self._find(call)
        return Reply(data=self._desk.render.issue(repo, ticket))

    def _edit(self, call: Call) -> Reply:
        repo, ticket = self._find(call, writes=True)
        data = call.data
        ticket.title, ticket.body = text_of(data, "title", ticket.title), text_of(data, "body", ticket.body)
        if data.get("state") not in {None, "open", "closed"}:
            return invalid("Issue", "state")
        ticket.state = text_of(data, "state", ticket.state)
        ticket.reason = "" if ticket.state == "open" else text_of(data, "state_reason", ticket.reason or "completed")
        if data.get("labels") is not None:
            self._desk.hub.set_labels(repo, ticket, data["labels"])
        ticket.updated = self._desk.hub.now()
        return Reply(data=self._desk.render.issue(repo, ticket))

    def _list_notes(self, call: Call) -> Reply:
        repo, ticket = self._find(call)
        items = [self._desk.render.note(repo, ticket, note) for note in ticket.notes]
        return paginate(items, call, self._url(call), self._desk.page_cap)

    def _comment(self, call: Call) -> Reply:
        repo, ticket = self._find(call, writes=True)
        if not text_of(call.data, "body").strip():
            return invalid("IssueComment", "body", "missing_field")
        note = self._desk.hub.add_note(ticket, self._desk.require_user(call), call.data["body"])
        return Reply(201, self._desk.render.note(repo, ticket, note))

    def _get_note(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call)
        ticket, note = self._find_note(repo, call)
        return Reply(data=self._desk.render.note(repo, ticket, note))

    def _edit_note(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call, writes=True)
        ticket, note = self._find_note(repo, call)
        note.body, note.updated = call.data["body"], self._desk.hub.now()
        return Reply(data=self._desk.render.note(repo, ticket, note))

    def _delete_note(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call, writes=True)
        ticket, note = self._find_note(repo, call)
        ticket.notes.remove(note)
        return Reply(204)

    def _add_labels(self, call: Call) -> Reply:
        repo, ticket = self._find(call, writes=True)
        names = call.data if isinstance(call.data, list) else call.data.get("labels", [])
        self._desk.hub.set_labels(repo, ticket, [*ticket.labels, *names])
        return Reply(data=[self._desk.render.label(repo, name) for name in ticket.labels])

    def _remove_label(self, call: Call) -> Reply:
        repo, ticket = self._find(call, writes=True)
        if call.args[2] not in ticket.labels:
            return Reply(404, {"message": "Label does not exist"})
        self._desk.hub.set_labels(repo, ticket, [name for name in ticket.labels if name != call.args[2]])
        return Reply(data=[self._desk.render.label(repo, name) for name in ticket.labels])

    def _find(self, call: Call, *, writes: bool = False) -> tuple[Repo, Ticket]:
        repo = self._desk.require_repo(call, writes=writes)
        return repo, find_ticket(repo, call.args[1], MISSING)

    def _find_note(self, repo: Repo, call: Call) -> tuple[Ticket, Note]:
        found = self._desk.hub.find_note(repo, int(call.args[1]))
        if found is None:
            raise Refused(MISSING)
        return found
