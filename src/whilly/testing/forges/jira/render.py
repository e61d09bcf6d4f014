"""Jira's JSON of what the hub holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, final

from whilly.adapters.jira.adf import to_adf

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub, Note, Repo, Ticket, User
    from whilly.testing.forges.wire import Json

STATUSES = {"To Do": ("1", "new"), "In Progress": ("3", "indeterminate"), "Done": ("6", "done")}


@final
class Render:
    """Words what the hub holds as Jira does.

    Args:
        is_cloud: whether texts are documents and people have account ids.
    """

    def __init__(self, hub: Hub, url: str, *, is_cloud: bool) -> None:
        self._hub, self._url, self.is_cloud = hub, url, is_cloud
        self.properties: dict[int, list[Json]] = {}

    def user(self, user: User) -> Json:
        """An account."""
        if self.is_cloud:
            return {
                "accountId": f"5b10-{user.id}",
                "accountType": "atlassian",
                "displayName": user.login,
                "active": True,
            }
        return {"name": user.login, "key": f"JIRAUSER{user.id}", "displayName": user.login, "active": True}

    def status(self, ticket: Ticket) -> Json:
        """Where an issue is."""
        return self.status_named(ticket.reason or ("Done" if ticket.state == "closed" else "To Do"))

    def status_named(self, name: str) -> Json:
        """A status."""
        number, category = STATUSES[name]
        return {"id": number, "name": name, "statusCategory": {"id": 2, "key": category, "name": name}}

    def issue(self, repo: Repo, ticket: Ticket) -> Json:
        """An issue."""
        fields = {
            "summary": ticket.title,
            "description": self.text(ticket.body),
            "status": self.status(ticket),
            "labels": list(ticket.labels),
            "creator": self.user(ticket.author),
            "reporter": self.user(ticket.author),
            "priority": {"id": "3", "name": "Medium"},
            "created": _date(ticket.created),
            "updated": _date(ticket.updated),
        }
        key = f"{repo.name}-{ticket.number}"
        return {"id": str(ticket.id), "key": key, "self": f"{self._url}/rest/api/2/issue/{ticket.id}", "fields": fields}

    def note(self, note: Note) -> Json:
        """A comment, with its properties."""
        return {
            "id": str(note.id),
            "author": self.user(note.author),
            "body": self.text(note.body),
            "created": _date(note.created),
            "updated": _date(note.updated),
            "properties": self.properties.get(note.id, []),
        }

    def text(self, text: str) -> Json:
        """A text as this Jira keeps it; documents are in the hub as JSON."""
        if not self.is_cloud:
            return text
        if not text:
            return None
        return json.loads(text) if text.startswith('{"type": "doc"') else to_adf(text)


def _date(moment: str) -> str:
    return moment.replace("Z", ".000+0000")
