"""Gitea's JSON of what the hub holds. Its links name its public address, whatever address a client uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.rules import head_of

if TYPE_CHECKING:
    from whilly.testing.forges.hub import CheckRow, Hub, Note, Pull, Remark, Repo, ReviewRow, Ticket, User
    from whilly.testing.forges.wire import Json

PUBLIC = "https://git.example.org"
_OPINIONS = {"approved": "APPROVED", "changes_requested": "REQUEST_CHANGES", "commented": "COMMENT"}
_STATES = {"passed": "success", "failed": "failure", "pending": "pending"}


@final
class Render:
    """Words what the hub holds as Gitea does."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def user(self, user: User) -> Json:
        """An account."""
        return {
            "id": user.id,
            "login": user.login,
            "login_name": "",
            "full_name": "",
            "email": f"{user.login}@noreply.example.org",
            "avatar_url": f"{PUBLIC}/avatars/{user.id}",
            "language": "",
            "is_admin": False,
            "last_login": "0001-01-01T00:00:00Z",
            "created": "2026-01-01T00:00:00Z",
            "restricted": False,
            "active": False,
            "prohibit_login": False,
            "location": "",
            "website": "",
            "description": "",
            "visibility": "public",
            "followers_count": 0,
            "following_count": 0,
            "starred_repos_count": 0,
            "username": user.login,
        }

    def repo(self, repo: Repo, user: User) -> Json:
        """A repository."""
        owner, _, name = repo.name.partition("/")
        level = repo.members.get(user.login, "none")
        may = {"admin": level == "admin", "push": level in {"admin", "write"}, "pull": level != "none"}
        return {
            "id": repo.id,
            "owner": self.user(self._hub.users[owner]),
            "name": name,
            "full_name": repo.name,
            "private": True,
            "default_branch": "main",
            "permissions": may,
            "html_url": f"{PUBLIC}/{repo.name}",
            "clone_url": f"{PUBLIC}/{repo.name}.git",
            "archived": False,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }

    def label(self, repo: Repo, name: str) -> Json:
        """A label."""
        return {
            "id": repo.labels[name],
            "name": name,
            "exclusive": False,
            "is_archived": False,
            "color": "ededed",
            "description": "",
            "url": f"{PUBLIC}/api/v1/repos/{repo.name}/labels/{repo.labels[name]}",
        }

    def issue(self, repo: Repo, ticket: Ticket) -> Json:
        """An issue."""
        owner, _, name = repo.name.partition("/")
        kind = "pulls" if ticket.pull else "issues"
        return {
            "id": ticket.id,
            "url": f"{PUBLIC}/api/v1/repos/{repo.name}/issues/{ticket.number}",
            "html_url": f"{PUBLIC}/{repo.name}/{kind}/{ticket.number}",
            "number": ticket.number,
            "user": self.user(ticket.author),
            "original_author": "",
            "original_author_id": 0,
            "title": ticket.title,
            "body": ticket.body,
            "ref": "",
            "assets": [],
            "labels": [self.label(repo, each) for each in ticket.labels],
            "milestone": None,
            "assignee": None,
            "assignees": None,
            "state": ticket.state,
            "is_locked": False,
            "comments": len(ticket.notes),
            "created_at": ticket.created,
            "updated_at": ticket.updated,
            "closed_at": None if ticket.state == "open" else ticket.updated,
            "due_date": None,
            "pull_request": {"merged": bool(ticket.pull.merged), "merged_at": None} if ticket.pull else None,
            "repository": {"id": repo.id, "name": name, "owner": owner, "full_name": repo.name},
            "pin_order": 0,
        }

    def note(self, repo: Repo, ticket: Ticket, note: Note) -> Json:
        """A comment."""
        return {
            "id": note.id,
            "html_url": f"{PUBLIC}/{repo.name}/issues/{ticket.number}#issuecomment-{note.id}",
            "pull_request_url": "",
            "issue_url": f"{PUBLIC}/{repo.name}/issues/{ticket.number}",
            "user": self.user(note.author),
            "original_author": "",
            "original_author_id": 0,
            "body": note.body,
            "assets": [],
            "created_at": note.created,
            "updated_at": note.updated,
        }

    def pull(self, repo: Repo, ticket: Ticket, pull: Pull) -> Json:
        """A pull request; older versions know drafts by their titles only."""
        head, base = head_of(repo, pull), repo.git.find(pull.base)
        is_draft = ticket.title.upper().startswith(("WIP:", "[WIP]"))
        is_clean = not pull.merged and repo.git.merge_tree(pull.base, head) is not None
        kept = ("id", "number", "user", "title", "body", "labels", "milestone", "assignee", "assignees", "state")
        issue = self.issue(repo, ticket)
        shown = {
            name: issue[name] for name in (*kept, "is_locked", "comments", "created_at", "updated_at", "closed_at")
        }
        return shown | {
            "url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}",
            "html_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}",
            "diff_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}.diff",
            "patch_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}.patch",
            "requested_reviewers": None,
            "mergeable": is_clean and not is_draft,
            "merged": bool(pull.merged),
            "merged_at": ticket.updated if pull.merged else None,
            "merge_commit_sha": pull.merged or None,
            "merged_by": None,
            "allow_maintainer_edit": False,
            "base": self._branch(repo, pull.base, base),
            "head": self._branch(repo, pull.head, head)
            | ({} if repo.git.find(pull.head) else {"ref": f"refs/pull/{ticket.number}/head"}),
            "merge_base": base,
            "due_date": None,
            "pin_order": 0,
        }

    def _branch(self, repo: Repo, name: str, commit: str) -> Json:
        owner = self._hub.users[repo.name.partition("/")[0]]
        return {"label": name, "ref": name, "sha": commit, "repo_id": repo.id, "repo": self.repo(repo, owner)}

    def review(self, repo: Repo, ticket: Ticket, pull: Pull, review: ReviewRow) -> Json:
        """A review."""
        return {
            "id": review.id,
            "user": self.user(review.author),
            "team": None,
            "state": _OPINIONS[review.opinion],
            "body": review.body,
            "commit_id": review.commit,
            "stale": review.commit != head_of(repo, pull),
            "official": True,
            "dismissed": False,
            "comments_count": sum(remark.review == review.id for remark in pull.remarks),
            "submitted_at": review.created,
            "updated_at": review.created,
            "html_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}#issuecomment-{review.id}",
            "pull_request_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}",
        }

    def remark(self, repo: Repo, ticket: Ticket, remark: Remark) -> Json:
        """A comment on a line."""
        return {
            "id": remark.id,
            "body": remark.body,
            "user": self.user(remark.author),
            "resolver": None,
            "pull_request_review_id": remark.review,
            "created_at": remark.created,
            "updated_at": remark.created,
            "path": remark.path,
            "commit_id": remark.commit,
            "original_commit_id": "",
            "diff_hunk": "",
            "position": remark.line,
            "original_position": 0,
            "html_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}#issuecomment-{remark.id}",
            "pull_request_url": f"{PUBLIC}/{repo.name}/pulls/{ticket.number}",
        }

    def status(self, repo: Repo, row: CheckRow) -> Json:
        """A commit status; those of actions lead to their jobs, without a host."""
        job = f"/{repo.name}/actions/runs/{row.id}/jobs/0"
        return {
            "id": row.id,
            "status": _STATES[row.state],
            "target_url": job if row.is_job else "",
            "description": row.summary,
            "url": f"{PUBLIC}/api/v1/repos/{repo.name}/statuses/{row.commit}",
            "context": row.name,
            "creator": None,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }
