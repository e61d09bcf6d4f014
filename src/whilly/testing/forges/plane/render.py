"""Plane's JSON of what the hub holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub, Note, Repo, Ticket, User
    from whilly.testing.forges.wire import Json

WORKSPACE = "acme"
STATES = {
    "Backlog": "backlog",
    "Todo": "unstarted",
    "In Progress": "started",
    "Done": "completed",
    "Cancelled": "cancelled",
}
_ROLES = {"admin": 20, "write": 15, "read": 5}
_COLOUR = "#60646C"


@final
class Render:
    """Words what the hub holds as Plane does.

    Attributes:
        external: the pairs of source and id under which comments were made.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.external: dict[int, tuple[Json, Json]] = {}

    def uuid(self, number: int) -> str:
        """The id of a thing: always the same, and not a number."""
        return f"00000000-0000-4000-8000-{number:012d}"

    def user(self, user: User) -> Json:
        """An account."""
        return {
            "id": self.uuid(user.id),
            "display_name": user.login,
            "first_name": user.login,
            "last_name": "",
            "email": "",
        }

    def member(self, user: User, *, tells: bool) -> Json:
        """A member, with the role where it is told."""
        role = _ROLES[self._hub.repo.members[user.login]]
        return self.user(user) | ({"role": role} if tells else {})

    def state(self, name: str) -> Json:
        """A state."""
        number = list(STATES).index(name) + 1
        return {"id": self.uuid(number), "name": name, "color": _COLOUR, "group": STATES[name]}

    def label(self, name: str) -> Json:
        """A label."""
        return {"id": self.uuid(self._hub.repo.labels[name]), "name": name, "color": _COLOUR}

    def item(self, repo: Repo, ticket: Ticket, expanded: set[str]) -> Json:
        """A work item; what is not expanded is an id."""
        state = self.state(ticket.reason or ("Done" if ticket.state == "closed" else "Todo"))
        labels = [self.label(name) for name in ticket.labels]
        return {
            "id": self.uuid(ticket.id),
            "name": ticket.title,
            "description_html": ticket.body or "<p></p>",
            "priority": "none",
            "sequence_id": ticket.number,
            "project": self.uuid(repo.id),
            "state": state if "state" in expanded else state["id"],
            "labels": labels if "labels" in expanded else [label["id"] for label in labels],
            "created_by": self.uuid(ticket.author.id),
            "created_at": ticket.created,
            "updated_at": ticket.updated,
        }

    def note(self, note: Note) -> Json:
        """A comment."""
        source, name = self.external.get(note.id, (None, None))
        return {
            "id": self.uuid(note.id),
            "comment_html": note.body,
            "actor": self.uuid(note.author.id),
            "created_by": self.uuid(note.author.id),
            "created_at": note.created,
            "updated_at": note.updated,
            "edited_at": None,
            "external_source": source,
            "external_id": name,
        }
