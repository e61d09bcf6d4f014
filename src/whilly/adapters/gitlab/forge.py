"""GitLab's merge requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final
from urllib.parse import urlencode

from typing_extensions import override

from whilly.adapters.comment_once import comment_once
from whilly.adapters.gitlab.discussion import Discussion, LineThread
from whilly.adapters.gitlab.endpoint import DEVELOPER, GitlabEndpoint, project_path
from whilly.adapters.gitlab.payloads import read_check, read_pull, set_draft
from whilly.adapters.gitlab.tracker import PAGE, NoteThread
from whilly.adapters.merging import judge_obstacle, require_open
from whilly.domain.errors import NotAuthorized, RuleViolation
from whilly.domain.forge.marker import sign
from whilly.domain.forge.pull_request import (
    CONVERSATION,
    Mergeable,
    Merged,
    MergeMethod,
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
    from whilly.domain.forge.pull_request import Check, PullChange, PullDraft, PullRef, PullRequest
    from whilly.domain.ids import CommitId
    from whilly.domain.secret import Secret

LOG_BYTES = 1 << 20
_EXISTS, _ABSENT = 409, frozenset({404})
_REFUSED_MERGE = frozenset({405, 406, 409, 422})
_STATES = {None: "all", PullState.OPEN: "opened", PullState.MERGED: "merged", PullState.CLOSED: "closed"}
_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)


@final
class GitlabForge(Forge):
    """The merge requests of all projects that the token sees.

    Args:
        token: what Whilly pushes with.
    """

    def __init__(self, endpoint: GitlabEndpoint, token: Secret) -> None:
        self._endpoint, self._http, self._token = endpoint, endpoint.http, token

    @override
    async def open_pull_request(self, draft: PullDraft) -> PullRequest:
        async def find() -> PullRequest | None:
            listed = await self.find_pull_requests(PullQuery(draft.repository, state=None, head=draft.head))
            usable = [pull for pull in listed if pull.state is PullState.OPEN or pull.key == draft.key]
            return min(usable, key=lambda pull: pull.state is not PullState.OPEN, default=None)

        return await make_once(self._http, find, lambda: self._create(draft))

    async def _create(self, draft: PullDraft) -> PullRequest | None:
        await self._require_change(draft)
        body: dict[str, object] = {
            "source_branch": draft.head,
            "target_branch": draft.base,
            "title": set_draft(draft.title, is_draft=draft.is_draft),
            "description": sign(draft.body, draft.key),
            "labels": ",".join(draft.labels),
            "reviewer_ids": [each for login in draft.reviewers if (each := await self._find_user(login))],
        }
        path = f"{project_path(draft.repository)}/merge_requests"
        request = Request("POST", path, body=body, accept=frozenset({_EXISTS}))
        answer = await self._http.send(request)
        if answer.status == _EXISTS:
            return None
        return await self._read(read_object(answer.parse(), self._http.name(request)), draft.repository)

    async def _require_change(self, draft: PullDraft) -> None:
        """GitLab opens merge requests without a change, and says little about branches that are not there."""
        path = f"{project_path(draft.repository)}/repository/compare"
        between = await self._http.fetch(f"{path}?{urlencode({'from': draft.base, 'to': draft.head})}")
        if not between.children("commits"):
            message = f"there is nothing to merge from {draft.head} into {draft.base}"
            raise RuleViolation(message)

    async def _find_user(self, login: str) -> int:
        found = [user.number("id") async for user in self._http.items("/users", username=login)]
        return found[0] if found else 0

    @override
    async def find_pull_requests(self, query: PullQuery) -> list[PullRequest]:
        found: list[PullRequest] = []
        listed = self._http.items(
            f"{project_path(query.repository)}/merge_requests",
            state=_STATES[query.state],
            scope="all",
            source_branch=query.head or None,
            updated_after=query.updated_since.isoformat() if query.updated_since else None,
            order_by="updated_at",
            sort="desc",
            per_page=PAGE,
        )
        async for data in listed:
            pull = replace(await self._read(data, query.repository), mergeable=Mergeable.UNKNOWN)
            if len(found) == query.limit:
                break
            if query.text.casefold() in f"{pull.title}\n{pull.body}".casefold():
                found.append(pull)
        return found

    @override
    async def fetch_pull_request(self, ref: PullRef) -> PullStatus:
        pull = await self._settle(ref)
        discussion = Discussion(self._endpoint, ref)
        path = f"{project_path(ref.repository)}/repository/commits/{pull.head_commit}/statuses"
        checks = [read_check(data) async for data in self._http.items(path, per_page=PAGE)]
        return PullStatus(
            pull,
            reviews=await discussion.reviews(),
            threads=await discussion.threads(),
            checks=tuple({check.name: check for check in checks}.values()),
        )

    @override
    async def fetch_log(self, ref: PullRef, check: Check) -> str:
        if not check.log:
            return check.summary
        path = f"{project_path(ref.repository)}/jobs/{check.log}/trace"
        request = Request("GET", path, is_json=False, may_leave=True, keeps_end=LOG_BYTES, accept=_ABSENT)
        answer = await self._http.send(request)
        return answer.text if answer.is_success and answer.body else check.summary

    @override
    async def answer(self, ref: PullRef, thread: str, key: str, text: str, *, resolve: bool = False) -> Comment:
        if thread == CONVERSATION:
            return await comment_once(self._http, NoteThread(self._endpoint, _path(ref)), key, text)
        discussion = Discussion(self._endpoint, ref)
        comment = await comment_once(self._http, LineThread(discussion, thread), key, text)
        if resolve:
            await discussion.resolve(thread)
        return comment

    @override
    async def change_pull_request(self, ref: PullRef, change: PullChange) -> PullRequest:
        pull = await self._fetch(ref)
        require_open(pull, change)
        is_draft = pull.is_draft if change.is_draft is None else change.is_draft
        title = set_draft(pull.title if change.title is None else change.title, is_draft=is_draft)
        is_open = pull.state is PullState.OPEN
        body = {
            "title": title if title != set_draft(pull.title, is_draft=pull.is_draft) else None,
            "description": None if change.body is None else sign(change.body, pull.key),
            "state_event": None if change.is_open in {None, is_open} else "reopen" if change.is_open else "close",
            "add_labels": ",".join(change.add_labels) or None,
        }
        if fields := {name: value for name, value in body.items() if value is not None}:
            await self._http.write("PUT", _path(ref), fields)
        return await self._fetch(ref)

    @override
    async def merge(
        self, ref: PullRef, head: CommitId, method: MergeMethod, title: str = "", text: str = ""
    ) -> Merged | NotMerged:
        pull = await self._settle(ref)
        if pull.state is not PullState.OPEN or pull.mergeable is not Mergeable.YES:
            return judge_obstacle(pull, head, "")
        is_squash = method is MergeMethod.SQUASH
        message = f"{title}\n\n{text}".strip()
        name = "squash_commit_message" if is_squash else "merge_commit_message"
        body = {"sha": head, "squash": is_squash, **({name: message} if message else {})}
        request = Request("PUT", f"{_path(ref)}/merge", body=body, accept=_REFUSED_MERGE, is_repeatable=False)
        try:
            said = (await self._http.send(request)).message
        except Unanswered as error:
            said = error.message
        # Its own answer names the commit only after a moment.
        return judge_obstacle(await self._settle(ref), head, said)

    @override
    async def fetch_push_access(self, repository: str) -> PushAccess:
        data = await self._http.fetch(project_path(repository))
        levels = [data.number("permissions", kind, "access_level") for kind in ("project_access", "group_access")]
        if data.has("permissions") and max(levels) < DEVELOPER:
            message = f"{repository}: the account of the token may not push"
            raise NotAuthorized(message, remedy="make it a developer of the project")
        return PushAccess(f"{self._endpoint.git_url}/{repository}.git", "oauth2", self._token)

    async def _settle(self, ref: PullRef) -> PullRequest:
        """The merge request, when GitLab has found out whether it merges."""
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
    return f"{project_path(ref.repository)}/merge_requests/{ref.number}"
