"""GitLab's JSON of what the hub holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.rules import find_obstacle, head_of

if TYPE_CHECKING:
    from whilly.testing.forges.hub import CheckRow, Hub, Note, Pull, Remark, Repo, Ticket, User
    from whilly.testing.forges.wire import Json

PUBLIC = "https://gitlab.example.com"
LEVELS = {"admin": 40, "write": 30, "read": 10}
_STATUSES = {"passed": "success", "failed": "failed", "pending": "running"}
_DETAILS = {
    "": "mergeable",
    "closed": "not_open",
    "draft": "draft_status",
    "conflict": "conflict",
    "checks": "ci_must_pass",
    "approvals": "not_approved",
}


@final
class Render:
    """Words what the hub holds as GitLab does."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._asked: set[tuple[int, str, str]] = set()

    def user(self, user: User) -> Json:
        """An account."""
        return {"id": user.id, "username": user.login, "name": user.login, "state": "active", "bot": False}

    def project(self, repo: Repo, user: User) -> Json:
        """A project."""
        level = LEVELS.get(repo.members.get(user.login, ""), 0)
        return {
            "id": repo.id,
            "path_with_namespace": repo.name,
            "default_branch": "main",
            "web_url": f"{PUBLIC}/{repo.name}",
            "http_url_to_repo": f"{PUBLIC}/{repo.name}.git",
            "permissions": {"project_access": {"access_level": level}, "group_access": None},
        }

    def issue(self, repo: Repo, ticket: Ticket) -> Json:
        """An issue."""
        return {
            "id": ticket.id,
            "iid": ticket.number,
            "project_id": repo.id,
            "title": ticket.title,
            "description": ticket.body or None,
            "state": "opened" if ticket.state == "open" else "closed",
            "author": self.user(ticket.author),
            "labels": list(ticket.labels),
            "created_at": ticket.created,
            "updated_at": ticket.updated,
            "confidential": False,
            "web_url": f"{PUBLIC}/{repo.name}/-/issues/{ticket.number}",
        }

    def note(self, note: Note) -> Json:
        """A comment."""
        return {
            "id": note.id,
            "type": None,
            "body": note.body,
            "author": self.user(note.author),
            "created_at": note.created,
            "updated_at": note.updated,
            "system": False,
            "resolvable": False,
        }

    def remark(self, remark: Remark, *, is_resolved: bool) -> Json:
        """A comment on a line."""
        return {
            "id": remark.id,
            "type": "DiffNote",
            "body": remark.body,
            "author": self.user(remark.author),
            "created_at": remark.created,
            "updated_at": remark.created,
            "system": False,
            "resolvable": True,
            "resolved": is_resolved,
            "position": {"new_path": remark.path, "old_path": remark.path, "new_line": remark.line, "old_line": None},
        }

    def discussions(self, ticket: Ticket, pull: Pull) -> list[Json]:
        """All threads, the single comments among them, and a line that GitLab itself has written."""
        system = {"id": 1, "type": None, "body": "added 1 commit", "author": None, "system": True}
        shown: list[Json] = [{"id": "system", "individual_note": True, "notes": [system]}]
        shown += [{"id": f"n{note.id}", "individual_note": True, "notes": [self.note(note)]} for note in ticket.notes]
        for start in (remark for remark in pull.remarks if remark.first == remark.id):
            thread = [remark for remark in pull.remarks if remark.first == start.id]
            notes = [self.remark(remark, is_resolved=start.is_resolved) for remark in thread]
            shown.append({"id": f"d{start.id}", "individual_note": False, "notes": notes})
        return shown

    def pull(self, repo: Repo, ticket: Ticket, pull: Pull) -> Json:
        """A merge request; whether it merges is told at the second time of asking."""
        head = head_of(repo, pull)
        pull.is_draft = ticket.title.lower().startswith("draft:")
        state = "merged" if pull.merged else "opened" if ticket.state == "open" else "closed"
        return self.issue(repo, ticket) | {
            "state": state,
            "draft": pull.is_draft,
            "source_branch": pull.head,
            "target_branch": pull.base,
            "source_project_id": repo.id,
            "target_project_id": repo.id,
            "sha": head,
            "merge_commit_sha": pull.merged or None,
            "squash_commit_sha": None,
            "web_url": f"{PUBLIC}/{repo.name}/-/merge_requests/{ticket.number}",
            **self._merge_status(repo, ticket, pull, head),
        }

    def _merge_status(self, repo: Repo, ticket: Ticket, pull: Pull, head: str) -> Json:
        asked = (ticket.id, head, repo.git.find(pull.base))
        if asked not in self._asked:
            self._asked.add(asked)
            return {"detailed_merge_status": "checking", "has_conflicts": False}
        obstacle = find_obstacle(repo, ticket, pull)
        has_conflicts = not pull.merged and repo.git.merge_tree(pull.base, head) is None
        return {"detailed_merge_status": _DETAILS[obstacle], "has_conflicts": has_conflicts}

    def status(self, row: CheckRow) -> Json:
        """A job, or a status that somebody reported."""
        return {
            "id": row.id,
            "sha": row.commit,
            "name": row.name,
            "status": _STATUSES[row.state],
            "description": row.summary,
            "target_url": f"{PUBLIC}/-/jobs/{row.id}",
            "allow_failure": False,
        }
