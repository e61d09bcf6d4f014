"""GitHub's pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.comment_once import comment_once
from whilly.adapters.github.discussion import Discussion, LineThread
from whilly.adapters.github.documents import DRAFT, READY
from whilly.adapters.github.payloads import read_check_run, read_commit_status, read_pull
from whilly.adapters.github.tracker import IssueThread, add_labels
from whilly.adapters.merging import judge_obstacle, require_open
from whilly.domain.errors import NotAuthorized, NotFound, RuleViolation
from whilly.domain.forge.marker import sign
from whilly.domain.forge.pull_request import (
    CONVERSATION,
    Check,
    Mergeable,
    Merged,
    NotMerged,
    PullQuery,
    PullState,
    PullStatus,
    PushAccess,
)
from whilly.domain.ids import CommitId
from whilly.ports.forge import Forge
from whilly.transport.http.fields import Fields, read_object
from whilly.transport.http.once import make_once
from whilly.transport.http.refusal import Unanswered
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from whilly.adapters.github.endpoint import GithubEndpoint
    from whilly.domain.forge.issue import Comment
    from whilly.domain.forge.pull_request import MergeMethod, PullChange, PullDraft, PullRef, PullRequest
    from whilly.domain.secret import Secret

LOG_BYTES = 1 << 20
_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
_UNPROCESSABLE, _REFUSED_MERGE = 422, frozenset({405, 409, 422})


@final
class GithubForge(Forge):
    """The pull requests of all repositories that the token sees.

    Args:
        token: what Whilly pushes with.
    """

    def __init__(self, endpoint: GithubEndpoint, token: Secret) -> None:
        self._endpoint, self._http, self._token = endpoint, endpoint.http, token

    @override
    async def open_pull_request(self, draft: PullDraft) -> PullRequest:
        async def find() -> PullRequest | None:
            listed = await self.find_pull_requests(PullQuery(draft.repository, state=None, head=draft.head))
            usable = [pull for pull in listed if pull.state is PullState.OPEN or pull.key == draft.key]
            return min(usable, key=lambda pull: pull.state is not PullState.OPEN, default=None)

        pull = await make_once(self._http, find, lambda: self._create(draft))
        if pull.state is PullState.OPEN and not set(draft.labels) <= set(pull.labels):
            return await self._furnish(pull, draft)
        return pull

    async def _create(self, draft: PullDraft, *, as_draft: bool | None = None) -> PullRequest | None:
        path = f"/repos/{draft.repository}/pulls"
        is_draft = draft.is_draft if as_draft is None else as_draft
        body = {"title": draft.title, "head": draft.head, "base": draft.base, "draft": is_draft}
        body["body"] = sign(draft.body, draft.key)
        request = Request("POST", path, body=body, accept=frozenset({_UNPROCESSABLE}))
        answer = await self._http.send(request)
        if answer.is_success:
            return await self._read(read_object(answer.parse(), self._http.name(request)), draft.repository)
        said = answer.message
        if "already exists" in said:
            return None
        if is_draft and "draft" in said.lower():
            # Private repositories of free accounts have no drafts.
            return await self._create(draft, as_draft=False)
        if "No commits between" in said:
            message = f"there is nothing to merge from {draft.head} into {draft.base} ({said})"
            raise RuleViolation(message)
        message = f"{draft.repository}: no pull request from {draft.head} into {draft.base} ({said})"
        raise NotFound(message, remedy="see that both branches are there")

    async def _furnish(self, pull: PullRequest, draft: PullDraft) -> PullRequest:
        if draft.labels:
            await add_labels(self._endpoint, draft.repository, pull.ref.number, list(draft.labels))
        for reviewer in draft.reviewers:
            path = f"/repos/{draft.repository}/pulls/{pull.ref.number}/requested_reviewers"
            accept = frozenset({_UNPROCESSABLE})
            await self._http.send(
                Request("POST", path, body={"reviewers": [reviewer]}, accept=accept, is_repeatable=True)
            )
        return await self._fetch(pull.ref)

    @override
    async def find_pull_requests(self, query: PullQuery) -> list[PullRequest]:
        owner = query.repository.partition("/")[0]
        found: list[PullRequest] = []
        listed = self._http.items(
            f"/repos/{query.repository}/pulls",
            state={None: "all", PullState.OPEN: "open"}.get(query.state, "closed"),
            head=f"{owner}:{query.head}" if query.head else None,
            sort="updated",
            direction="desc",
            per_page=100,
        )
        async for data in listed:
            pull = await self._read(data, query.repository)
            if len(found) == query.limit or (query.updated_since and pull.updated_at < query.updated_since):
                break
            is_head = not query.head or pull.head_branch == query.head
            if is_head and query.state in {None, pull.state} and _says(pull, query.text):
                found.append(pull)
        return found

    @override
    async def fetch_pull_request(self, ref: PullRef) -> PullStatus:
        pull = await self._settle(ref)
        discussion = Discussion(self._endpoint, ref)
        return PullStatus(
            pull,
            reviews=await discussion.reviews(pull.head_commit),
            threads=await discussion.threads(),
            checks=await self._checks(ref, pull.head_commit),
        )

    async def _checks(self, ref: PullRef, commit: CommitId) -> tuple[Check, ...]:
        path = f"/repos/{ref.repository}/commits/{commit}"
        runs = self._http.items(f"{path}/check-runs", "check_runs", filter="latest", per_page=100)
        statuses = self._http.items(f"{path}/status", "statuses", per_page=100)
        checks = [read_check_run(data) async for data in runs] + [read_commit_status(data) async for data in statuses]
        # The newest comes first, also where a re-run has left an older run of the same name.
        return tuple({check.name: check for check in reversed(checks)}.values())

    @override
    async def fetch_log(self, ref: PullRef, check: Check) -> str:
        if not check.log:
            return check.summary
        path = f"/repos/{ref.repository}/actions/jobs/{check.log}/logs"
        request = Request("GET", path, is_json=False, may_leave=True, keeps_end=LOG_BYTES, accept=frozenset({404, 410}))
        answer = await self._http.send(request)
        return answer.text if answer.is_success else check.summary

    @override
    async def answer(self, ref: PullRef, thread: str, key: str, text: str, *, resolve: bool = False) -> Comment:
        if thread == CONVERSATION:
            whole = IssueThread(self._endpoint, ref.repository, str(ref.number))
            return await comment_once(self._http, whole, key, text)
        discussion = Discussion(self._endpoint, ref)
        line = LineThread(discussion, thread)
        comment = await comment_once(self._http, line, key, text)
        if resolve:
            await discussion.resolve(thread)
        return comment

    @override
    async def change_pull_request(self, ref: PullRef, change: PullChange) -> PullRequest:
        pull = await self._fetch(ref)
        require_open(pull, change)
        body = {
            "title": change.title,
            "body": None if change.body is None else sign(change.body, pull.key),
            "state": None if change.is_open is None else "open" if change.is_open else "closed",
        }
        if fields := {name: value for name, value in body.items() if value is not None}:
            await self._http.write("PATCH", _path(ref), fields)
        if change.is_draft is not None and change.is_draft is not pull.is_draft:
            await self._endpoint.ask(DRAFT if change.is_draft else READY, pull=pull.native_id)
        if change.add_labels:
            await add_labels(self._endpoint, ref.repository, ref.number, list(change.add_labels))
        return await self._fetch(ref)

    @override
    async def merge(
        self, ref: PullRef, head: CommitId, method: MergeMethod, title: str = "", text: str = ""
    ) -> Merged | NotMerged:
        body = {"sha": head, "merge_method": method, "commit_title": title, "commit_message": text}
        fields = {name: value for name, value in body.items() if value}
        request = Request("PUT", f"{_path(ref)}/merge", body=fields, accept=_REFUSED_MERGE, is_repeatable=False)
        said = ""
        try:
            answer = await self._http.send(request)
        except Unanswered as error:
            said = error.message
        else:
            if answer.is_success and (commit := Fields(answer.parse(), "").text("sha")):
                return Merged(CommitId(commit))
            said = answer.message
        return judge_obstacle(await self._settle(ref), head, said)

    @override
    async def fetch_push_access(self, repository: str) -> PushAccess:
        data = await self._http.fetch(f"/repos/{repository}")
        if data.has("permissions") and not data.flag("permissions", "push"):
            message = f"{repository}: the account of the token may not push"
            raise NotAuthorized(message, remedy="give it write access")
        # The configured address: the one that the server names need not be reachable from here.
        return PushAccess(f"{self._endpoint.git_url}/{repository}.git", "x-access-token", self._token)

    async def _settle(self, ref: PullRef) -> PullRequest:
        """The pull request, when GitHub has found out whether it merges; asking is what makes it find out."""
        pull = await self._fetch(ref)
        for pause in _PAUSES_S:
            if pull.state is not PullState.OPEN or pull.mergeable is not Mergeable.UNKNOWN:
                break
            await self._http.pause(pause)
            pull = await self._fetch(ref)
        return pull

    async def _fetch(self, ref: PullRef) -> PullRequest:
        return await self._read(await self._http.fetch(_path(ref)), ref.repository)

    async def _read(self, data: Fields, repository: str) -> PullRequest:
        return read_pull(data, self._endpoint.place, repository, await self._endpoint.account())


def _path(ref: PullRef) -> str:
    return f"/repos/{ref.repository}/pulls/{ref.number}"


def _says(pull: PullRequest, text: str) -> bool:
    return text.casefold() in f"{pull.title}\n{pull.body}".casefold()
