"""GitHub's JSON of what the hub holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.rules import find_obstacle, head_of

if TYPE_CHECKING:
    from whilly.testing.forges.hub import CheckRow, Hub, Note, Pull, Remark, Repo, ReviewRow, Ticket, User
    from whilly.testing.forges.wire import Json

_ASSOCIATIONS = {"admin": "OWNER", "write": "COLLABORATOR", "read": "NONE"}
_CONCLUSIONS = {"passed": "success", "failed": "failure"}


@final
class Render:
    """Words what the hub holds as GitHub does.

    Args:
        url: of the server, for people.
    """

    def __init__(self, hub: Hub, url: str) -> None:
        self._hub, self._url = hub, url
        self._asked: set[tuple[int, str, str]] = set()

    def user(self, user: User) -> Json:
        """An account."""
        return {"id": user.id, "login": user.login, "type": "User", "url": f"{self._url}/api/v3/users/{user.login}"}

    def repo(self, repo: Repo, user: User) -> Json:
        """A repository."""
        owner, _, name = repo.name.partition("/")
        api = f"{self._url}/api/v3/repos/{repo.name}"
        level = repo.members.get(user.login, "none")
        may = {"admin": level == "admin", "push": level in {"admin", "write"}, "pull": level != "none"}
        return {
            "id": repo.id,
            "name": name,
            "full_name": repo.name,
            "owner": self.user(self._hub.users[owner]),
            "private": True,
            "default_branch": "main",
            "permissions": may,
            "url": api,
            "html_url": f"{self._url}/{repo.name}",
            "clone_url": f"{self._url}/{repo.name}.git",
        }

    def label(self, repo: Repo, name: str) -> Json:
        """A label."""
        return {"id": repo.labels.get(name, 0), "name": name, "color": "ededed", "description": None}

    def issue(self, repo: Repo, ticket: Ticket) -> Json:
        """An issue, also one that is a pull request."""
        kind = "pull" if ticket.pull else "issues"
        api = f"{self._url}/api/v3/repos/{repo.name}"
        shown = {
            "id": ticket.id,
            "node_id": f"I_{ticket.id}",
            "number": ticket.number,
            "title": ticket.title,
            # GitHub has no empty bodies.
            "body": ticket.body or None,
            "user": self.user(ticket.author),
            "author_association": self.association(repo, ticket.author),
            "state": ticket.state,
            "state_reason": ticket.reason or None,
            "labels": [self.label(repo, name) for name in ticket.labels],
            "comments": len(ticket.notes),
            "created_at": ticket.created,
            "updated_at": ticket.updated,
            "url": f"{api}/issues/{ticket.number}",
            "html_url": f"{self._url}/{repo.name}/{kind}/{ticket.number}",
        }
        return shown | ({"pull_request": {"url": f"{api}/pulls/{ticket.number}"}} if ticket.pull else {})

    def association(self, repo: Repo, user: User) -> str:
        """How GitHub calls what somebody is to a repository."""
        return _ASSOCIATIONS.get(repo.members.get(user.login, ""), "NONE")

    def note(self, repo: Repo, ticket: Ticket, note: Note) -> Json:
        """A comment."""
        return {
            "id": note.id,
            "body": note.body,
            "user": self.user(note.author),
            "author_association": self.association(repo, note.author),
            "created_at": note.created,
            "updated_at": note.updated,
            "url": f"{self._url}/api/v3/repos/{repo.name}/issues/comments/{note.id}",
            "html_url": f"{self._url}/{repo.name}/issues/{ticket.number}#issuecomment-{note.id}",
        }

    def pull(self, repo: Repo, ticket: Ticket, pull: Pull, *, is_single: bool = False) -> Json:
        """A pull request; whether it merges is only told of a single one, and not at the first time of asking."""
        head, owner = head_of(repo, pull), repo.name.partition("/")[0]
        shown = self.issue(repo, ticket)
        shown.pop("pull_request")
        shown |= {
            "node_id": f"PR_{ticket.id}",
            "draft": pull.is_draft,
            "merged_at": ticket.updated if pull.merged else None,
            "merge_commit_sha": pull.merged or None,
            "requested_reviewers": [self.user(self._hub.users[login]) for login in pull.reviewers],
            "head": {"label": f"{owner}:{pull.head}", "ref": pull.head, "sha": head, "repo": {"full_name": repo.name}},
            "base": {"label": f"{owner}:{pull.base}", "ref": pull.base, "sha": repo.git.find(pull.base)},
            "url": f"{self._url}/api/v3/repos/{repo.name}/pulls/{ticket.number}",
            "issue_url": f"{self._url}/api/v3/repos/{repo.name}/issues/{ticket.number}",
        }
        if is_single:
            shown |= {"merged": bool(pull.merged), **self._mergeable(repo, ticket, pull, head)}
        return shown

    def _mergeable(self, repo: Repo, ticket: Ticket, pull: Pull, head: str) -> Json:
        asked = (ticket.id, head, repo.git.find(pull.base))
        if ticket.state != "open" or asked not in self._asked:
            self._asked.add(asked)
            return {"mergeable": None, "mergeable_state": "unknown"}
        obstacle = find_obstacle(repo, ticket, pull)
        states = {"": "clean", "conflict": "dirty", "draft": "draft"}
        is_clean = repo.git.merge_tree(pull.base, head) is not None
        return {"mergeable": is_clean, "mergeable_state": states.get(obstacle, "blocked")}

    def review(self, repo: Repo, ticket: Ticket, review: ReviewRow) -> Json:
        """A review."""
        return {
            "id": review.id,
            "user": self.user(review.author),
            "author_association": self.association(repo, review.author),
            "body": review.body,
            "state": review.opinion.upper(),
            "commit_id": review.commit,
            "submitted_at": review.created,
            "html_url": f"{self._url}/{repo.name}/pull/{ticket.number}#pullrequestreview-{review.id}",
        }

    def remark(self, repo: Repo, ticket: Ticket, remark: Remark) -> Json:
        """A comment on a line."""
        reply = {} if remark.first == remark.id else {"in_reply_to_id": remark.first}
        return reply | {
            "id": remark.id,
            "pull_request_review_id": remark.review,
            "path": remark.path,
            "line": remark.line,
            "commit_id": remark.commit,
            "body": remark.body,
            "user": self.user(remark.author),
            "author_association": self.association(repo, remark.author),
            "created_at": remark.created,
            "updated_at": remark.created,
            "html_url": f"{self._url}/{repo.name}/pull/{ticket.number}#discussion_r{remark.id}",
        }

    def check_run(self, row: CheckRow) -> Json:
        """A job of GitHub Actions as a check run."""
        is_done = row.state != "pending"
        return {
            "id": row.id,
            "name": row.name,
            "head_sha": row.commit,
            "status": "completed" if is_done else "in_progress",
            "conclusion": _CONCLUSIONS.get(row.state),
            "details_url": f"{self._url}/actions/runs/1/job/{row.id}",
            "html_url": f"{self._url}/actions/runs/1/job/{row.id}",
            "output": {"title": None, "summary": row.summary, "text": None},
            "app": {"slug": "github-actions"},
        }

    def status(self, row: CheckRow) -> Json:
        """A commit status."""
        state = {"passed": "success", "failed": "failure"}.get(row.state, "pending")
        return {"id": row.id, "context": row.name, "state": state, "description": row.summary, "target_url": None}
