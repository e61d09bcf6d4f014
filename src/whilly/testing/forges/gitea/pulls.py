"""Pull requests with their reviews, statuses and jobs, as Gitea serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitea.desk import MISSING, PAGE_CAP, problem
from whilly.testing.forges.gitea.render import PUBLIC
from whilly.testing.forges.hub import Pull
from whilly.testing.forges.rules import find_obstacle, head_of, latest_checks, merge
from whilly.testing.forges.serving import find_ticket, paginate, text_of
from whilly.testing.forges.wire import Call, Json, Refused, Reply, Route

if TYPE_CHECKING:
    from whilly.testing.forges.gitea.desk import Desk
    from whilly.testing.forges.hub import Repo, Ticket

SCOPE = "write:repository"
_OPINIONS = {"APPROVED": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented"}
_REASON = "not allowed to merge [reason: {}]"
_OBSTACLES = {
    "draft": "Work in progress PRs cannot be merged",
    # The same words as while it is still finding out.
    "conflict": "Please try again later",
    "checks": _REASON.format("Not all required status checks successful"),
    "approvals": _REASON.format("Does not have enough approvals"),
}
_NOT_ALLOWED = 405
PLAIN_404 = Reply(404, raw=b"404 page not found\n", headers={"content-type": "text/plain"})


@final
class PullRoutes:
    """The handlers of pull requests."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> list[Route]:
        """Beneath a repository."""
        one = r"/pulls/(\d+)"
        return [
            ("GET", "/pulls", self._list),
            ("POST", "/pulls", self._create),
            ("GET", one, self._get),
            ("PATCH", one, self._edit),
            ("GET", f"{one}/merge", self._is_merged),
            ("POST", f"{one}/merge", self._merge),
            ("GET", f"{one}/reviews", self._list_reviews),
            ("POST", f"{one}/reviews", self._review),
            ("GET", rf"{one}/reviews/(\d+)/comments", self._list_remarks),
            ("POST", f"{one}/requested_reviewers", self._request_review),
            ("GET", r"/commits/([^/]+)/status", self._status),
            ("POST", r"/statuses/([^/]+)", self._report),
            ("GET", "/actions/runs", self._runs),
            ("GET", r"/actions/runs/(\d+)/jobs", self._jobs),
            ("GET", r"/actions/jobs/(\d+)/logs", self._log),
        ]

    def _page(self, items: list[Json], call: Call) -> Reply:
        return paginate(items, call, f"{PUBLIC}{call.path}", PAGE_CAP, ("limit",))

    def _list(self, call: Call) -> Reply:
        repo, state = self._desk.require_repo(call), call.query.get("state") or "open"
        items = [
            self._desk.render.pull(repo, ticket, ticket.pull)
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
            if ticket.pull and state in {"all", ticket.state}
        ]
        return self._page(items, call)

    def _create(self, call: Call) -> Reply:
        repo, data = self._desk.require_repo(call, SCOPE), call.data
        head, base = text_of(data, "head"), text_of(data, "base")
        if not repo.git.find(head) or not repo.git.find(base):
            return MISSING
        if not repo.git.differs(base, head):
            return problem(422, "Invalid PullRequest: There are no changes between the head and the base")
        for ticket in repo.tickets.values():
            if ticket.pull and ticket.state == "open" and (ticket.pull.head, ticket.pull.base) == (head, base):
                where = f"[id: {ticket.id}, issue_id: {ticket.id}, head_branch: {head}, base_branch: {base}]"
                return problem(409, f"pull request already exists for these targets {where}")
        pull = Pull(head, base)
        author = self._desk.require_user(call)
        ticket = self._desk.hub.add_ticket(repo, author, text_of(data, "title"), text_of(data, "body"), pull)
        return Reply(201, self._desk.render.pull(repo, ticket, pull))

    def _get(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call)
        return Reply(data=self._desk.render.pull(repo, ticket, pull))

    def _edit(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, SCOPE)
        data = call.data
        ticket.title, ticket.body = text_of(data, "title", ticket.title), text_of(data, "body", ticket.body)
        ticket.state, ticket.updated = text_of(data, "state", ticket.state), self._desk.hub.now()
        return Reply(201, self._desk.render.pull(repo, ticket, pull))

    def _is_merged(self, call: Call) -> Reply:
        _, _, pull = self._find(call)
        return Reply(204) if pull.merged else MISSING

    def _merge(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, SCOPE)
        if text_of(call.data, "Do") not in {"merge", "squash", "rebase", "rebase-merge"}:
            return problem(422, "[Do]: In")
        if pull.merged:
            return problem(_NOT_ALLOWED, "")
        if ticket.state != "open":
            return MISSING
        return self._merge_open(call, repo, ticket, pull)

    def _merge_open(self, call: Call, repo: Repo, ticket: Ticket, pull: Pull) -> Reply:
        pull.is_draft = ticket.title.upper().startswith(("WIP:", "[WIP]"))
        obstacle = find_obstacle(repo, ticket, pull)
        if obstacle == "draft":
            return problem(_NOT_ALLOWED, _OBSTACLES[obstacle])
        if self._desk.checking > 0:
            self._desk.checking -= 1
            return problem(_NOT_ALLOWED, _OBSTACLES["conflict"])
        if obstacle:
            return problem(_NOT_ALLOWED, _OBSTACLES[obstacle])
        if text_of(call.data, "head_commit_id", head_of(repo, pull)) != head_of(repo, pull):
            return problem(409, "head out of date")
        title = text_of(call.data, "MergeTitleField", ticket.title)
        merge(self._desk.hub, repo, ticket, pull, f"{title}\n\n{text_of(call.data, 'MergeMessageField')}")
        return Reply(200, raw=b"")

    def _list_reviews(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call)
        return self._page([self._desk.render.review(repo, ticket, pull, each) for each in pull.reviews], call)

    def _review(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, SCOPE)
        author, data = self._desk.require_user(call), call.data
        event = text_of(data, "event")
        if author is ticket.author and event != "COMMENT":
            return problem(422, "approve your own pull is not allowed")
        remarks = data.get("comments") or []
        if event == "COMMENT" and not remarks and not text_of(data, "body"):
            return problem(422, "review event COMMENT requires a body or a comment")
        head = head_of(repo, pull)
        review = self._desk.hub.add_review(pull, author, _OPINIONS[event], text_of(data, "body"), head)
        for remark in remarks:
            line = int(remark.get("new_position") or 0)
            made = self._desk.hub.add_remark(pull, author, remark["path"], line, remark["body"], commit=head)
            made.review = review.id
            # The hub gave it a review of its own.
            pull.reviews.pop()
        return Reply(data=self._desk.render.review(repo, ticket, pull, review))

    def _list_remarks(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call)
        shown = [remark for remark in pull.remarks if remark.review == int(call.args[2])]
        return Reply(data=[self._desk.render.remark(repo, ticket, remark) for remark in shown])

    def _request_review(self, call: Call) -> Reply:
        repo, _, pull = self._find(call, SCOPE)
        for login in call.data.get("reviewers", []):
            if login not in repo.members:
                return problem(404, f"user does not exist [uid: 0, name: {login}]")
            pull.reviewers.append(login)
        return Reply(201, data=[])

    def _status(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call)
        commit = repo.git.find(call.args[1])
        rows = latest_checks(repo, commit)
        if not rows:
            return Reply(data={"state": "", "sha": "", "total_count": 0, "statuses": None, "repository": None})
        number = int(call.query.get("page") or 1)
        size = min(PAGE_CAP, int(call.query.get("limit") or 30))
        states = {row.state for row in rows}
        worst = next(state for state in ("failed", "pending", "passed") if state in states)
        words = {"failed": "failure", "pending": "pending", "passed": "success"}
        shown = [self._desk.render.status(repo, row) for row in rows[(number - 1) * size : number * size]]
        return Reply(data={"state": words[worst], "sha": commit, "total_count": len(rows), "statuses": shown})

    def _report(self, call: Call) -> Reply:
        repo = self._desk.require_writer(call, SCOPE)
        word = text_of(call.data, "state")
        state = {"success": "passed", "warning": "passed", "pending": "pending"}.get(word, "failed")
        row = self._desk.hub.add_check(repo, call.args[1], text_of(call.data, "context"), state, is_job=False)
        row.summary = text_of(call.data, "description")
        return Reply(201, self._desk.render.status(repo, row))

    def _runs(self, call: Call) -> Reply:
        repo = self._require_actions(call)
        rows = [row for row in repo.checks if row.is_job and row.commit == call.query.get("head_sha", row.commit)]
        runs = [{"id": row.id + 7000, "run_number": row.id, "head_sha": row.commit} for row in rows]
        return Reply(data={"total_count": len(runs), "workflow_runs": runs[:PAGE_CAP]})

    def _jobs(self, call: Call) -> Reply:
        self._require_actions(call)
        row = int(call.args[1]) - 7000
        return Reply(data={"total_count": 1, "jobs": [{"id": row + 9000, "run_id": row + 7000}]})

    def _log(self, call: Call) -> Reply:
        repo = self._require_actions(call)
        row = next((row for row in repo.checks if row.id + 9000 == int(call.args[1])), None)
        if row is None:
            return MISSING
        return Reply(raw=row.log.encode(), headers={"content-type": "text/plain"})

    def _require_actions(self, call: Call) -> Repo:
        if not self._desk.has_actions:
            raise Refused(PLAIN_404)
        return self._desk.require_repo(call)

    def _find(self, call: Call, scope: str = "") -> tuple[Repo, Ticket, Pull]:
        repo = self._desk.require_repo(call, scope)
        ticket = find_ticket(repo, call.args[1], MISSING, is_pull=True)
        if ticket.pull is None:
            raise Refused(MISSING)
        return repo, ticket, ticket.pull
