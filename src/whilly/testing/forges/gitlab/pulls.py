"""Merge requests with their discussions, approvals, statuses and jobs, as GitLab serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitlab.desk import missing
from whilly.testing.forges.gitlab.issues import edit_ticket
from whilly.testing.forges.hub import Pull
from whilly.testing.forges.rules import find_obstacle, head_of, latest_checks, merge
from whilly.testing.forges.serving import find_ticket, text_of
from whilly.testing.forges.wire import Call, Refused, Reply, Route

if TYPE_CHECKING:
    from whilly.testing.forges.gitlab.desk import Desk
    from whilly.testing.forges.hub import Remark, Repo, Ticket


@final
class PullRoutes:
    """The handlers of merge requests."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> list[Route]:
        """Beneath a project."""
        one = r"/merge_requests/(\d+)"
        return [
            ("GET", "/merge_requests", self._list),
            ("POST", "/merge_requests", self._create),
            ("GET", one, self._get),
            ("PUT", one, self._edit),
            ("PUT", f"{one}/merge", self._merge),
            ("GET", f"{one}/approvals", self._approvals),
            ("GET", f"{one}/reviewers", self._reviewers),
            ("GET", f"{one}/discussions", self._list_discussions),
            ("PUT", rf"{one}/discussions/d(\d+)", self._resolve),
            ("POST", rf"{one}/discussions/d(\d+)/notes", self._reply),
            ("PUT", rf"{one}/discussions/d\d+/notes/(\d+)", self._edit_remark),
            ("DELETE", rf"{one}/discussions/d\d+/notes/(\d+)", self._delete_remark),
            ("GET", "/repository/compare", self._compare),
            ("GET", r"/repository/commits/([^/]+)/statuses", self._statuses),
            ("GET", r"/jobs/(\d+)/trace", self._trace),
        ]

    def _list(self, call: Call) -> Reply:
        repo, query = self._desk.require_project(call), call.query
        shown = [
            self._desk.render.pull(repo, ticket, ticket.pull)
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
            if ticket.pull
            and query.get("source_branch", ticket.pull.head) == ticket.pull.head
            and ticket.updated >= query.get("updated_after", "")
        ]
        state = query.get("state", "all")
        return self._desk.page([each for each in shown if state in {"all", each["state"]}], call)

    def _create(self, call: Call) -> Reply:
        repo = self._desk.require_developer(call)
        data = call.data
        head, base = text_of(data, "source_branch"), text_of(data, "target_branch")
        for ticket in repo.tickets.values():
            if ticket.pull and ticket.state == "open" and (ticket.pull.head, ticket.pull.base) == (head, base):
                told = f"Another open merge request already exists for this source branch: !{ticket.number}"
                return Reply(409, {"message": [told]})
        pull, author = Pull(head, base), self._desk.require_user(call)
        ticket = self._desk.hub.add_ticket(repo, author, text_of(data, "title"), text_of(data, "description"), pull)
        labels = text_of(data, "labels").split(",")
        self._desk.hub.set_labels(repo, ticket, [name for name in labels if name])
        asked = data.get("reviewer_ids") if isinstance(data, dict) else None
        pull.reviewers = [user.login for user in self._desk.hub.users.values() if user.id in (asked or [])]
        return Reply(201, self._desk.render.pull(repo, ticket, pull))

    def _get(self, call: Call) -> Reply:
        return Reply(data=self._desk.render.pull(*self._find(call)))

    def _edit(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        edit_ticket(self._desk, repo, ticket, call)
        return Reply(data=self._desk.render.pull(repo, ticket, pull))

    def _merge(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        if text_of(call.data, "sha", head_of(repo, pull)) != head_of(repo, pull):
            return Reply(409, {"message": "SHA does not match HEAD of source branch"})
        if find_obstacle(repo, ticket, pull):
            return Reply(405, {"message": "405 Method Not Allowed"})
        merge(self._desk.hub, repo, ticket, pull, text_of(call.data, "merge_commit_message", ticket.title))
        return Reply(data=self._desk.render.pull(repo, ticket, pull))

    def _approvals(self, call: Call) -> Reply:
        _, _, pull = self._find(call)
        decided = {review.author.login: review for review in pull.reviews if review.opinion == "approved"}
        entries = [
            {"user": self._desk.render.user(each.author), "approved_at": each.created} for each in decided.values()
        ]
        return Reply(data={"approved": bool(entries), "approved_by": entries})

    def _reviewers(self, call: Call) -> Reply:
        _, _, pull = self._find(call)
        words = {"approved": "approved", "changes_requested": "requested_changes", "commented": "reviewed"}
        last = {review.author.login: review for review in pull.reviews}
        shown = [
            {"user": self._desk.render.user(each.author), "state": words[each.opinion], "created_at": each.created}
            for each in last.values()
        ]
        return self._desk.page(shown, call)

    def _list_discussions(self, call: Call) -> Reply:
        _, ticket, pull = self._find(call)
        return self._desk.page(self._desk.render.discussions(ticket, pull), call)

    def _resolve(self, call: Call) -> Reply:
        _, ticket, pull = self._find(call, writes=True)
        self._find_remark(pull, call).is_resolved = bool(call.data.get("resolved"))
        shown = self._desk.render.discussions(ticket, pull)
        return Reply(data=next(each for each in shown if each["id"] == f"d{call.args[2]}"))

    def _reply(self, call: Call) -> Reply:
        _, _, pull = self._find(call, writes=True)
        first, author = self._find_remark(pull, call), self._desk.require_user(call)
        remark = self._desk.hub.add_remark(
            pull, author, first.path, first.line, call.data["body"], commit=first.commit, first=first.id
        )
        return Reply(201, self._desk.render.remark(remark, is_resolved=first.is_resolved))

    def _edit_remark(self, call: Call) -> Reply:
        _, _, pull = self._find(call, writes=True)
        remark = self._find_remark(pull, call)
        remark.body = call.data["body"]
        return Reply(data=self._desk.render.remark(remark, is_resolved=False))

    def _delete_remark(self, call: Call) -> Reply:
        _, _, pull = self._find(call, writes=True)
        pull.remarks.remove(self._find_remark(pull, call))
        return Reply(204)

    def _compare(self, call: Call) -> Reply:
        repo = self._desk.require_project(call)
        base, head = call.query.get("from", ""), call.query.get("to", "")
        if not repo.git.find(base) or not repo.git.find(head):
            return missing("Ref")
        commits = [{"id": repo.git.find(head)}] if repo.git.differs(base, head) else []
        return Reply(data={"commits": commits, "diffs": [], "compare_same_ref": base == head})

    def _statuses(self, call: Call) -> Reply:
        repo = self._desk.require_project(call)
        rows = latest_checks(repo, repo.git.find(call.args[1]))
        return self._desk.page([self._desk.render.status(row) for row in rows], call)

    def _trace(self, call: Call) -> Reply:
        repo = self._desk.require_project(call)
        row = next((row for row in repo.checks if row.is_job and row.id == int(call.args[1])), None)
        return missing("Not") if row is None else Reply(raw=row.log.encode(), headers={"content-type": "text/plain"})

    def _find(self, call: Call, *, writes: bool = False) -> tuple[Repo, Ticket, Pull]:
        repo = self._desk.require_project(call, writes=writes)
        ticket = find_ticket(repo, call.args[1], missing("Not"), is_pull=True)
        if ticket.pull is None:
            raise Refused(missing("Not"))
        return repo, ticket, ticket.pull

    def _find_remark(self, pull: Pull, call: Call) -> Remark:
        remark = next((remark for remark in pull.remarks if remark.id == int(call.args[2])), None)
        if remark is None:
            raise Refused(missing("Discussion"))
        return remark
