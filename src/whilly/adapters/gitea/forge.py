"""Gitea's pull requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.comment_once import comment_once
from whilly.adapters.gitea.checks import fetch_checks, fetch_job_log
from whilly.adapters.gitea.discussion import Discussion, LineThread
from whilly.adapters.gitea.endpoint import PAGE, GiteaEndpoint
from whilly.adapters.gitea.payloads import read_pull, set_draft
from whilly.adapters.gitea.tracker import IssueThread
from whilly.adapters.merging import judge_obstacle, require_open
from whilly.domain.errors import NotAuthorized, NotFound, RuleViolation
from whilly.domain.forge.marker import sign
from whilly.domain.forge.pull_request import (
    CONVERSATION,
    Mergeable,
    Merged,
    NotMerged,
    PullQuery,
    PullState,
    PullStatus,
    PushAccess,
)
from whilly.ports.forge import Forge
from whilly.transport.http.fields import Fields, read_object
from whilly.transport.http.once import make_once
from whilly.transport.http.refusal import Unanswered
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Comment
    from whilly.domain.forge.pull_request import (
        Check,
        MergeMethod,
        PullChange,
        PullDraft,
        PullRef,
        PullRequest,
    )
    from whilly.domain.ids import CommitId
    from whilly.domain.secret import Secret
    from whilly.transport.http.answer import Answer

_CONFLICT, _MISSING, _UNPROCESSABLE = 409, 404, 422
_REFUSED = frozenset({_MISSING, _CONFLICT, _UNPROCESSABLE})
_REFUSED_MERGE = frozenset({404, 405, 409, 422})
_CHECKING = "try again later"
"""What a merge is told while Gitea finds out whether there is a conflict, and for ever when there is one."""
PATIENCE_S = 60.0
_MOST_CLOSED = 200
"""How far back one is looked for that people have closed."""


@final
class GiteaForge(Forge):
    """The pull requests of all repositories that the token sees.

    Args:
        token: what Whilly pushes with.
    """

    def __init__(self, endpoint: GiteaEndpoint, token: Secret) -> None:
        self._endpoint, self._http, self._token = endpoint, endpoint.http, token

    @override
    async def open_pull_request(self, draft: PullDraft) -> PullRequest:
        async def find() -> PullRequest | None:
            for state in (PullState.OPEN, None):
                query = PullQuery(draft.repository, state=state, head=draft.head, limit=_MOST_CLOSED)
                for pull in await self.find_pull_requests(query):
                    if pull.state is PullState.OPEN or pull.key == draft.key:
                        return pull
            return None

        pull = await make_once(self._http, find, lambda: self._create(draft))
        if pull.state is PullState.OPEN and not set(draft.labels) <= set(pull.labels):
            return await self._furnish(pull, draft)
        return pull

    async def _create(self, draft: PullDraft) -> PullRequest | None:
        path = f"/repos/{draft.repository}/pulls"
        title = set_draft(draft.title, is_draft=draft.is_draft)
        body = {"title": title, "head": draft.head, "base": draft.base, "body": sign(draft.body, draft.key)}
        request = Request("POST", path, body=body, accept=_REFUSED)
        answer = await self._http.send(request)
        if answer.is_success:
            return await self._read(read_object(answer.parse(), self._http.name(request)), draft.repository)
        if answer.status == _CONFLICT:
            return None
        if answer.status == _UNPROCESSABLE:
            message = f"there is nothing to merge from {draft.head} into {draft.base} ({answer.message})"
            raise RuleViolation(message)
        message = f"{draft.repository}: no pull request from {draft.head} into {draft.base} ({answer.message})"
        raise NotFound(message, remedy="see that both branches are there")

    async def _furnish(self, pull: PullRequest, draft: PullDraft) -> PullRequest:
        await self._endpoint.add_labels(draft.repository, pull.ref.number, draft.labels)
        for reviewer in draft.reviewers:
            # Only once, when it is opened: asking again somebody who has approved takes the approval away.
            path = f"/repos/{draft.repository}/pulls/{pull.ref.number}/requested_reviewers"
            request = Request("POST", path, body={"reviewers": [reviewer]}, accept=_REFUSED, is_repeatable=True)
            await self._http.send(request)
        return await self._fetch(pull.ref)

    @override
    async def find_pull_requests(self, query: PullQuery) -> list[PullRequest]:
        found: list[PullRequest] = []
        state = {None: "all", PullState.OPEN: "open"}.get(query.state, "closed")
        path = f"/repos/{query.repository}/pulls"
        async for data in self._http.items(path, state=state, sort="recentupdate", limit=PAGE):
            pull = replace(await self._read(data, query.repository), mergeable=Mergeable.UNKNOWN)
            if len(found) == query.limit or (query.updated_since and pull.updated_at < query.updated_since):
                break
            says = query.text.casefold() in f"{pull.title}\n{pull.body}".casefold()
            if says and query.state in {None, pull.state} and query.head in {"", pull.head_branch}:
                found.append(pull)
        return found

    @override
    async def fetch_pull_request(self, ref: PullRef) -> PullStatus:
        pull = await self._fetch(ref)
        reviews, threads = await Discussion(self._endpoint, ref).read(pull.head_commit)
        checks = await fetch_checks(self._endpoint, ref.repository, pull.head_commit)
        return PullStatus(pull, reviews, threads, checks)

    @override
    async def fetch_log(self, ref: PullRef, check: Check) -> str:
        pull = await self._fetch(ref)
        return await fetch_job_log(self._endpoint, ref.repository, pull.head_commit, check)

    @override
    async def answer(self, ref: PullRef, thread: str, key: str, text: str, *, resolve: bool = False) -> Comment:
        if thread == CONVERSATION:
            whole = IssueThread(self._endpoint, ref.repository, str(ref.number))
            return await comment_once(self._http, whole, key, text)
        head = (await self._fetch(ref)).head_commit
        return await comment_once(self._http, LineThread(Discussion(self._endpoint, ref), thread, head), key, text)

    @override
    async def change_pull_request(self, ref: PullRef, change: PullChange) -> PullRequest:
        pull = await self._fetch(ref)
        require_open(pull, change)
        is_draft = pull.is_draft if change.is_draft is None else change.is_draft
        title = set_draft(pull.title if change.title is None else change.title, is_draft=is_draft)
        body: dict[str, str] = {}
        if title != set_draft(pull.title, is_draft=pull.is_draft):
            body["title"] = title
        if change.body is not None:
            body["body"] = sign(change.body, pull.key)
        if change.is_open is not None:
            body["state"] = "open" if change.is_open else "closed"
        if body:
            await self._http.write("PATCH", _path(ref), body)
        await self._endpoint.add_labels(ref.repository, ref.number, change.add_labels)
        return await self._fetch(ref)

    @override
    async def merge(
        self, ref: PullRef, head: CommitId, method: MergeMethod, title: str = "", text: str = ""
    ) -> Merged | NotMerged:
        fields = {"Do": method, "head_commit_id": head, "MergeTitleField": title, "MergeMessageField": text}
        body = {name: value for name, value in fields.items() if value}
        request = Request("POST", f"{_path(ref)}/merge", body=body, accept=_REFUSED_MERGE)
        try:
            answer = await self._merge_patiently(request)
        except Unanswered as error:
            return judge_obstacle(await self._fetch(ref), head, error.message)
        pull = await self._fetch(ref)
        if _CHECKING in answer.message and pull.mergeable is Mergeable.YES:
            pull = replace(pull, mergeable=Mergeable.UNKNOWN)
        return judge_obstacle(pull, head, answer.message)

    async def _merge_patiently(self, request: Request) -> Answer:
        ends_at, pause = self._http.seconds() + PATIENCE_S, 1.0
        answer = await self._http.send(request)
        while _CHECKING in answer.message and self._http.seconds() + pause <= ends_at:
            await self._http.pause(pause)
            pause = min(8.0, pause * 2)
            answer = await self._http.send(request)
        return answer

    @override
    async def fetch_push_access(self, repository: str) -> PushAccess:
        data = await self._http.fetch(f"/repos/{repository}")
        if data.has("permissions") and not data.flag("permissions", "push"):
            message = f"{repository}: the account of the token may not push"
            raise NotAuthorized(message, remedy="give it write access")
        login = (await self._endpoint.account()).login
        return PushAccess(f"{self._endpoint.git_url}/{repository}.git", login, self._token)

    async def _fetch(self, ref: PullRef) -> PullRequest:
        return await self._read(await self._http.fetch(_path(ref)), ref.repository)

    async def _read(self, data: Fields, repository: str) -> PullRequest:
        return read_pull(data, self._endpoint.place, repository, await self._endpoint.account())


def _path(ref: PullRef) -> str:
    return f"/repos/{ref.repository}/pulls/{ref.number}"
