"""Issues, comments and labels, as Gitea serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitea.desk import MISSING, PAGE_CAP, problem
from whilly.testing.forges.gitea.render import PUBLIC
from whilly.testing.forges.serving import find_ticket, paginate, text_of
from whilly.testing.forges.wire import Call, Json, Refused, Reply, Route

if TYPE_CHECKING:
    from whilly.testing.forges.gitea.desk import Desk
    from whilly.testing.forges.hub import Note, Repo, Ticket

SCOPE = "write:issue"


@final
class IssueRoutes:
    """The handlers of issues."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> list[Route]:
        """Beneath a repository."""
        one = r"/issues/(\d+)"
        return [
            ("GET", "/labels", self._list_labels),
            ("POST", "/labels", self._make_label),
            ("GET", "/issues", self._list),
            ("POST", "/issues", self._create),
            ("GET", one, self._get),
            ("PATCH", one, self._edit),
            ("GET", f"{one}/comments", self._list_notes),
            ("POST", f"{one}/comments", self._comment),
            ("PATCH", r"/issues/comments/(\d+)", self._edit_note),
            ("DELETE", r"/issues/comments/(\d+)", self._delete_note),
            ("POST", f"{one}/labels", self._add_labels),
            ("DELETE", rf"{one}/labels/(\d+)", self._remove_label),
        ]

    def page(self, items: list[Json], call: Call) -> Reply:
        """One page, with a link to the next one at the public address."""
        return paginate(items, call, f"{PUBLIC}{call.path}", PAGE_CAP, ("limit",))

    def _list_labels(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call)
        return self.page([self._desk.render.label(repo, name) for name in repo.labels], call)

    def _make_label(self, call: Call) -> Reply:
        repo = self._desk.require_writer(call, SCOPE)
        name = text_of(call.data, "name")
        repo.labels[name] = self._desk.hub.next_id()
        return Reply(201, self._desk.render.label(repo, name))

    def _list(self, call: Call) -> Reply:
        repo, query = self._desk.require_repo(call), call.query
        # Labels that do not exist are no condition.
        wanted = {name for name in query.get("labels", "").split(",") if name in repo.labels}
        state, kind = query.get("state") or "open", query.get("type", "")
        items = [
            self._desk.render.issue(repo, ticket)
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.number, reverse=True)
            if wanted <= set(ticket.labels)
            and state in {"all", ticket.state}
            and kind in {"", "pulls" if ticket.pull else "issues"}
            and ticket.updated >= query.get("since", "")
        ]
        return self.page(items, call)

    def _create(self, call: Call) -> Reply:
        repo, data = self._desk.require_repo(call, SCOPE), call.data
        if not text_of(data, "title"):
            return problem(422, "[Title]: Required")
        author = self._desk.require_user(call)
        ticket = self._desk.hub.add_ticket(repo, author, data["title"], text_of(data, "body"))
        self._desk.hub.set_labels(repo, ticket, self._names(repo, data.get("labels") or []))
        return Reply(201, self._desk.render.issue(repo, ticket))

    def _get(self, call: Call) -> Reply:
        repo, ticket = self._find(call)
        return Reply(data=self._desk.render.issue(repo, ticket))

    def _edit(self, call: Call) -> Reply:
        repo, ticket = self._find(call, SCOPE)
        data = call.data
        ticket.title, ticket.body = text_of(data, "title", ticket.title), text_of(data, "body", ticket.body)
        ticket.state, ticket.updated = text_of(data, "state", ticket.state), self._desk.hub.now()
        return Reply(201, self._desk.render.issue(repo, ticket))

    def _list_notes(self, call: Call) -> Reply:
        repo, ticket = self._find(call)
        # Not paged, unlike everything else.
        return Reply(data=[self._desk.render.note(repo, ticket, note) for note in ticket.notes])

    def _comment(self, call: Call) -> Reply:
        repo, ticket = self._find(call, SCOPE)
        if not text_of(call.data, "body"):
            return problem(422, "[Body]: Required")
        note = self._desk.hub.add_note(ticket, self._desk.require_user(call), call.data["body"])
        return Reply(201, self._desk.render.note(repo, ticket, note))

    def _edit_note(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call, SCOPE)
        found = self._find_note(repo, call)
        if found is None:
            return self._edit_remark(repo, call)
        ticket, note = found
        note.body, note.updated = call.data["body"], self._desk.hub.now()
        return Reply(data=self._desk.render.note(repo, ticket, note))

    def _delete_note(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call, SCOPE)
        found = self._find_note(repo, call)
        if found is not None:
            found[0].notes.remove(found[1])
            return Reply(204)
        for ticket in repo.tickets.values():
            for remark in ticket.pull.remarks if ticket.pull else ():
                if remark.id == int(call.args[1]) and ticket.pull:
                    ticket.pull.remarks.remove(remark)
                    return Reply(204)
        return MISSING

    def _edit_remark(self, repo: Repo, call: Call) -> Reply:
        """Comments on lines are comments, too."""
        for ticket in repo.tickets.values():
            for remark in ticket.pull.remarks if ticket.pull else ():
                if remark.id == int(call.args[1]):
                    remark.body = call.data["body"]
                    return Reply(data=self._desk.render.remark(repo, ticket, remark))
        return MISSING

    def _add_labels(self, call: Call) -> Reply:
        repo, ticket = self._find(call, SCOPE)
        self._desk.hub.set_labels(repo, ticket, [*ticket.labels, *self._names(repo, call.data.get("labels", []))])
        return Reply(data=[self._desk.render.label(repo, name) for name in ticket.labels])

    def _remove_label(self, call: Call) -> Reply:
        repo, ticket = self._find(call, SCOPE)
        gone = self._names(repo, [int(call.args[2])])
        self._desk.hub.set_labels(repo, ticket, [name for name in ticket.labels if name not in gone])
        return Reply(204)

    def _names(self, repo: Repo, ids: list[Json]) -> list[str]:
        if any(not isinstance(each, int) for each in ids):
            message = '[]: json: cannot unmarshal number " into Go struct field IssueLabelsOption.Labels of type int64'
            raise Refused(problem(422, message))
        return [name for name, own in repo.labels.items() if own in ids]

    def _find(self, call: Call, scope: str = "") -> tuple[Repo, Ticket]:
        repo = self._desk.require_repo(call, scope)
        return repo, find_ticket(repo, call.args[1], MISSING)

    def _find_note(self, repo: Repo, call: Call) -> tuple[Ticket, Note] | None:
        return self._desk.hub.find_note(repo, int(call.args[1]))
