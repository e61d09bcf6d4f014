"""Pull requests with their reviews, remarks, checks and logs, as GitHub serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.github.desk import NOT_FOUND as MISSING
from whilly.testing.forges.github.issues import invalid
from whilly.testing.forges.hub import Pull
from whilly.testing.forges.rules import find_obstacle, head_of, latest_checks, merge
from whilly.testing.forges.serving import find_ticket, paginate, slice_page, text_of
from whilly.testing.forges.wire import Call, Refused, Reply, Route

if TYPE_CHECKING:
    from whilly.testing.forges.github.desk import Desk
    from whilly.testing.forges.hub import Remark, Repo, Ticket

_OBSTACLES = {
    "closed": "Pull Request is not mergeable",
    "draft": "Pull Request is still a draft",
    "conflict": "Pull Request is not mergeable",
    "checks": 'Required status check "test" is expected.',
    "approvals": "At least 1 approving review is required by reviewers with write access.",
}
_OPINIONS = {"APPROVE": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented"}


@final
class PullRoutes:
    """The handlers of pull requests."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> list[Route]:
        """Beneath a repository."""
        one, commit = r"/pulls/(\d+)", r"/commits/([^/]+)"
        return [
            ("GET", "/pulls", self._list),
            ("POST", "/pulls", self._create),
            ("GET", one, self._get),
            ("PATCH", one, self._edit),
            ("PUT", f"{one}/merge", self._merge),
            ("GET", f"{one}/reviews", self._list_reviews),
            ("POST", f"{one}/reviews", self._review),
            ("GET", f"{one}/comments", self._list_remarks),
            ("POST", f"{one}/comments", self._remark),
            ("POST", rf"{one}/comments/(\d+)/replies", self._reply),
            ("PATCH", r"/pulls/comments/(\d+)", self._edit_remark),
            ("DELETE", r"/pulls/comments/(\d+)", self._delete_remark),
            ("POST", f"{one}/requested_reviewers", self._request_review),
            ("GET", f"{commit}/check-runs", self._check_runs),
            ("GET", f"{commit}/status", self._status),
            ("POST", r"/statuses/([^/]+)", self._report),
            ("GET", r"/actions/jobs/(\d+)/logs", self._log),
        ]

    def _list(self, call: Call) -> Reply:
        repo, query = self._desk.require_repo(call), call.query
        state = query.get("state", "open")
        items = [
            self._desk.render.pull(repo, ticket, ticket.pull)
            for ticket in sorted(repo.tickets.values(), key=lambda ticket: ticket.updated, reverse=True)
            if ticket.pull
            and state in {"all", ticket.state}
            and query.get("head", f"ada:{ticket.pull.head}").partition(":")[2] == ticket.pull.head
        ]
        return paginate(items, call, f"{self._desk.url}{call.path}", self._desk.page_cap)

    def _create(self, call: Call) -> Reply:
        repo = self._desk.require_writer(call)
        data, git = call.data, repo.git
        head, base = text_of(data, "head").rpartition(":")[2], text_of(data, "base")
        for field, branch in (("head", head), ("base", base)):
            if not git.find(branch):
                return invalid("PullRequest", field)
        if not git.differs(base, head):
            return invalid("PullRequest", code="custom", message=f"No commits between {base} and {head}")
        if any(each.pull and each.state == "open" and each.pull.head == head for each in repo.tickets.values()):
            message = f"A pull request already exists for {repo.name.partition('/')[0]}:{head}."
            return invalid("PullRequest", code="custom", message=message)
        pull = Pull(head, base, is_draft=bool(data.get("draft")))
        author = self._desk.require_user(call)
        ticket = self._desk.hub.add_ticket(repo, author, text_of(data, "title"), text_of(data, "body"), pull)
        return Reply(201, self._desk.render.pull(repo, ticket, pull, is_single=True))

    def _get(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call)
        return Reply(data=self._desk.render.pull(repo, ticket, pull, is_single=True))

    def _edit(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        data = call.data
        if data.get("state") == "open" and pull.merged:
            return invalid("PullRequest", "state", message="state cannot be changed")
        ticket.title, ticket.body = text_of(data, "title", ticket.title), text_of(data, "body", ticket.body)
        ticket.state, ticket.updated = text_of(data, "state", ticket.state), self._desk.hub.now()
        return Reply(data=self._desk.render.pull(repo, ticket, pull, is_single=True))

    def _merge(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        head = head_of(repo, pull)
        if call.data.get("sha") not in {None, head} and not pull.merged:
            return Reply(409, {"message": "Head branch was modified. Review and try the merge again."})
        obstacle = find_obstacle(repo, ticket, pull)
        if obstacle:
            return Reply(405, {"message": _OBSTACLES[obstacle]})
        message = f"{text_of(call.data, 'commit_title', ticket.title)}\n\n{text_of(call.data, 'commit_message')}"
        commit = merge(self._desk.hub, repo, ticket, pull, message)
        return Reply(data={"merged": True, "sha": commit, "message": "Pull Request successfully merged"})

    def _list_reviews(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call)
        items = [self._desk.render.review(repo, ticket, review) for review in pull.reviews]
        return paginate(items, call, f"{self._desk.url}{call.path}", self._desk.page_cap)

    def _review(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        author, event = self._desk.require_user(call), text_of(call.data, "event")
        if author is ticket.author and event != "COMMENT":
            return Reply(422, {"message": "Unprocessable Entity", "errors": ["Can not approve your own pull request"]})
        head = head_of(repo, pull)
        review = self._desk.hub.add_review(pull, author, _OPINIONS[event], text_of(call.data, "body"), head)
        return Reply(data=self._desk.render.review(repo, ticket, review))

    def _list_remarks(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call)
        items = [self._desk.render.remark(repo, ticket, remark) for remark in pull.remarks]
        return paginate(items, call, f"{self._desk.url}{call.path}", self._desk.page_cap)

    def _remark(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        author, data = self._desk.require_user(call), call.data
        remark = self._desk.hub.add_remark(
            pull,
            author,
            text_of(data, "path"),
            int(data.get("line") or 0),
            data["body"],
            commit=text_of(data, "commit_id"),
        )
        return Reply(201, self._desk.render.remark(repo, ticket, remark))

    def _reply(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        first = next((each for each in pull.remarks if each.id == int(call.args[2])), None)
        if first is None or first.first != first.id:
            return MISSING
        author = self._desk.require_user(call)
        remark = self._desk.hub.add_remark(
            pull, author, first.path, first.line, call.data["body"], commit=first.commit, first=first.id
        )
        return Reply(201, self._desk.render.remark(repo, ticket, remark))

    def _edit_remark(self, call: Call) -> Reply:
        repo, ticket, remark = self._find_remark(call)
        remark.body = call.data["body"]
        return Reply(data=self._desk.render.remark(repo, ticket, remark))

    def _delete_remark(self, call: Call) -> Reply:
        _, ticket, remark = self._find_remark(call)
        if ticket.pull:
            ticket.pull.remarks.remove(remark)
        return Reply(204)

    def _request_review(self, call: Call) -> Reply:
        repo, ticket, pull = self._find(call, writes=True)
        for login in call.data.get("reviewers", []):
            if login not in repo.members:
                return invalid("PullRequest", message="Reviews may only be requested from collaborators.")
            pull.reviewers = list(dict.fromkeys([*pull.reviewers, login]))
        return Reply(201, self._desk.render.pull(repo, ticket, pull))

    def _check_runs(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call)
        rows = [row for row in latest_checks(repo, repo.git.find(call.args[1])) if row.is_job]
        items = [self._desk.render.check_run(row) for row in rows]
        page, headers = slice_page(items, call, f"{self._desk.url}{call.path}", self._desk.page_cap, ("per_page",))
        return Reply(data={"total_count": len(items), "check_runs": page}, headers=headers)

    def _status(self, call: Call) -> Reply:
        repo = self._desk.require_repo(call)
        commit = repo.git.find(call.args[1])
        rows = [row for row in latest_checks(repo, commit) if not row.is_job]
        items = [self._desk.render.status(row) for row in rows]
        page, headers = slice_page(items, call, f"{self._desk.url}{call.path}", self._desk.page_cap, ("per_page",))
        states = {item["state"] for item in items}
        state = "failure" if "failure" in states else "success" if states == {"success"} else "pending"
        return Reply(data={"state": state, "sha": commit, "total_count": len(items), "statuses": page}, headers=headers)

    def _report(self, call: Call) -> Reply:
        repo = self._desk.require_writer(call)
        state = {"success": "passed", "pending": "pending"}.get(text_of(call.data, "state"), "failed")
        name = text_of(call.data, "context", "default")
        row = self._desk.hub.add_check(repo, call.args[1], name, state, is_job=False)
        row.summary = text_of(call.data, "description")
        return Reply(201, self._desk.render.status(row))

    def _log(self, call: Call) -> Reply:
        self._desk.require_repo(call)
        port = self._desk.url.rpartition(":")[2]
        return Reply(302, headers={"location": f"http://localhost:{port}/logs/{call.args[1]}?sig=secret"}, raw=b"")

    def _find(self, call: Call, *, writes: bool = False) -> tuple[Repo, Ticket, Pull]:
        repo = self._desk.require_repo(call, writes=writes)
        ticket = find_ticket(repo, call.args[1], MISSING, is_pull=True)
        if ticket.pull is None:
            raise Refused(MISSING)
        return repo, ticket, ticket.pull

    def _find_remark(self, call: Call) -> tuple[Repo, Ticket, Remark]:
        repo = self._desk.require_repo(call, writes=True)
        found = (
            (ticket, remark)
            for ticket in repo.tickets.values()
            for remark in (ticket.pull.remarks if ticket.pull else ())
            if remark.id == int(call.args[1])
        )
        ticket, remark = next(found, (None, None))
        if ticket is None or remark is None:
            raise Refused(MISSING)
        return repo, ticket, remark
