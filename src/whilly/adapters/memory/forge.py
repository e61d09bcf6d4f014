"""Pull requests in memory."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.merging import judge_obstacle, require_open
from whilly.domain.errors import NotFound, RuleViolation
from whilly.domain.forge.issue import Comment, Permission, Person
from whilly.domain.forge.pull_request import (
    CONVERSATION,
    Check,
    CheckState,
    Mergeable,
    Merged,
    NotMerged,
    Opinion,
    PullRef,
    PullRequest,
    PullState,
    PullStatus,
    PushAccess,
    Review,
    Thread,
)
from whilly.domain.ids import CommitId
from whilly.domain.secret import Secret
from whilly.ports.forge import Forge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.forge.pull_request import MergeMethod, PullChange, PullDraft, PullQuery
    from whilly.ports.clock import Clock


@dataclass(slots=True)
class HostedCode:
    """What the forge knows of a repository; tests change it as people and git would.

    Attributes:
        branches: name → commit.
        conflicts: branches that do not merge.
        checks: commit → its checks, by name, with their logs.
        required: names of checks without which nothing is merged.
    """

    branches: dict[str, CommitId] = field(default_factory=dict)
    conflicts: set[str] = field(default_factory=set)
    checks: dict[CommitId, dict[str, tuple[Check, str]]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Record:
    pull: PullRequest
    reviews: list[Review] = field(default_factory=list)
    threads: dict[str, Thread] = field(default_factory=dict)


@final
class MemoryForge(Forge):
    """A forge whose pull requests end with the process.

    Args:
        account: Whilly's own.
        rights: what people may do, by login; nothing when they are not in it.
        repositories: by name.
    """

    def __init__(
        self,
        clock: Clock,
        account: Person,
        rights: Mapping[str, Permission],
        repositories: Mapping[str, HostedCode],
        place: str = "memory",
    ) -> None:
        self._clock, self._account, self._rights, self._place = clock, account, rights, place
        self._repositories = repositories
        self._records: dict[PullRef, _Record] = {}
        self._ids = itertools.count(1)

    def review(self, ref: PullRef, author: Person, opinion: Opinion, text: str) -> None:
        """Have somebody review."""
        head, now = self._look(ref).head_commit, self._clock.now()
        review = Review(str(next(self._ids)), author, self._permission(author), opinion, text, head, now)
        self._records[ref].reviews.append(review)

    def say(self, ref: PullRef, author: Person, text: str, path: str = "") -> None:
        """Have somebody comment: on the first line of a file, in a new thread, or on the whole."""
        name = f"thread-{next(self._ids)}" if path else CONVERSATION
        self._records[ref].threads.setdefault(name, Thread(name, (), path, 1 if path else 0))
        self._add(ref, name, author, text, "")

    @override
    async def open_pull_request(self, draft: PullDraft) -> PullRequest:
        repository = self._require_repository(draft.repository)
        mine = [self._look(ref) for ref in self._records if ref.repository == draft.repository]
        fitting = [pull for pull in mine if pull.head_branch == draft.head]
        usable = [pull for pull in fitting if pull.state is PullState.OPEN or pull.key == draft.key]
        if usable:
            return min(usable, key=lambda pull: pull.state is not PullState.OPEN)
        if draft.head not in repository.branches:
            message = f"{draft.repository} has no branch {draft.head}"
            raise NotFound(message)
        if repository.branches[draft.head] == repository.branches.get(draft.base):
            message = f"there is nothing to merge from {draft.head} into {draft.base}"
            raise RuleViolation(message)
        ref = PullRef(self._place, draft.repository, len(self._records) + 1)
        self._records[ref] = _Record(self._make(ref, draft, repository.branches[draft.head]))
        return self._look(ref)

    def _make(self, ref: PullRef, draft: PullDraft, head: CommitId) -> PullRequest:
        return PullRequest(
            ref=ref,
            title=draft.title,
            body=draft.body,
            author=self._account,
            state=PullState.OPEN,
            is_draft=draft.is_draft,
            mergeable=Mergeable.YES,
            head_branch=draft.head,
            head_commit=head,
            base_branch=draft.base,
            url=f"https://memory.invalid/{draft.repository}/pull/{ref.number}",
            updated_at=self._clock.now(),
            head_repository=draft.repository,
            labels=draft.labels,
            key=draft.key,
        )

    @override
    async def find_pull_requests(self, query: PullQuery) -> list[PullRequest]:
        pulls = [self._look(ref) for ref in self._records if ref.repository == query.repository]
        found = [
            replace(pull, mergeable=Mergeable.UNKNOWN)
            for pull in reversed(pulls)
            if query.state in {None, pull.state}
            and query.head in {"", pull.head_branch}
            and query.text.casefold() in f"{pull.title}\n{pull.body}".casefold()
            and (query.updated_since is None or pull.updated_at >= query.updated_since)
        ]
        return sorted(found, key=lambda pull: pull.updated_at, reverse=True)[: query.limit]

    @override
    async def fetch_pull_request(self, ref: PullRef) -> PullStatus:
        pull = self._look(ref)
        record, checks = self._records[ref], self._repositories[ref.repository].checks
        reports = tuple(check for check, _ in checks.get(pull.head_commit, {}).values())
        reviews = tuple(replace(each, is_stale=each.commit != pull.head_commit) for each in record.reviews)
        return PullStatus(pull, reviews, tuple(record.threads.values()), reports)

    @override
    async def fetch_log(self, ref: PullRef, check: Check) -> str:
        checks = self._repositories[ref.repository].checks
        return checks.get(self._look(ref).head_commit, {}).get(check.name, (check, check.summary))[1]

    @override
    async def answer(self, ref: PullRef, thread: str, key: str, text: str, *, resolve: bool = False) -> Comment:
        threads = self._require(ref).threads
        if thread == CONVERSATION:
            threads.setdefault(CONVERSATION, Thread(CONVERSATION, ()))
        if thread not in threads:
            message = f"{ref.short} has no thread {thread}"
            raise NotFound(message)
        earlier = next((each for each in threads[thread].comments if each.key == key), None)
        comment = earlier or self._add(ref, thread, self._account, text, key)
        if comment.text != text:
            changed = replace(comment, text=text, updated_at=self._clock.now())
            comments = tuple(changed if each is comment else each for each in threads[thread].comments)
            threads[thread], comment = replace(threads[thread], comments=comments), changed
        threads[thread] = replace(threads[thread], is_resolved=threads[thread].is_resolved or resolve)
        return comment

    @override
    async def change_pull_request(self, ref: PullRef, change: PullChange) -> PullRequest:
        pull = self._look(ref)
        require_open(pull, change)
        state = pull.state
        if change.is_open is not None and state is not PullState.MERGED:
            state = PullState.OPEN if change.is_open else PullState.CLOSED
        self._records[ref].pull = replace(
            pull,
            title=pull.title if change.title is None else change.title,
            body=pull.body if change.body is None else change.body,
            is_draft=pull.is_draft if change.is_draft is None else change.is_draft,
            state=state,
            labels=tuple(dict.fromkeys([*pull.labels, *change.add_labels])),
            updated_at=self._clock.now(),
        )
        return self._records[ref].pull

    @override
    async def merge(
        self, ref: PullRef, head: CommitId, method: MergeMethod, title: str = "", text: str = ""
    ) -> Merged | NotMerged:
        pull, repository = self._look(ref), self._repositories[ref.repository]
        checks = repository.checks.get(pull.head_commit, {})
        passed = {name for name, (check, _) in checks.items() if check.state is CheckState.PASSED}
        outcome = judge_obstacle(pull, head, "")
        missing = repository.required - passed
        # What nothing else stands in the way of is called blocked, for want of a reason.
        if isinstance(outcome, Merged) or outcome.obstacle != "blocked" or missing:
            return outcome
        commit = CommitId(f"{next(self._ids):040x}")
        self._records[ref].pull = replace(pull, state=PullState.MERGED, merge_commit=commit)
        repository.branches[pull.base_branch] = commit
        return Merged(commit)

    @override
    async def fetch_push_access(self, repository: str) -> PushAccess:
        self._require_repository(repository)
        return PushAccess(f"https://memory.invalid/{repository}.git", "whilly", Secret("memory-password"))

    def _add(self, ref: PullRef, thread: str, author: Person, text: str, key: str) -> Comment:
        found = self._records[ref].threads[thread]
        now = self._clock.now() + timedelta(microseconds=len(found.comments))
        comment = Comment(str(next(self._ids)), author, self._permission(author), text, now, now, key=key)
        self._records[ref].threads[thread] = replace(found, comments=(*found.comments, comment))
        return comment

    def _look(self, ref: PullRef) -> PullRequest:
        """The pull request with the head that its branch has now."""
        record, repository = self._require(ref), self._repositories[ref.repository]
        pull = record.pull
        if pull.state is PullState.OPEN:
            head = repository.branches.get(pull.head_branch, pull.head_commit)
            mergeable = Mergeable.NO if pull.head_branch in repository.conflicts else Mergeable.YES
            record.pull = replace(pull, head_commit=head, mergeable=mergeable)
        return record.pull

    def _require(self, ref: PullRef) -> _Record:
        if ref not in self._records:
            message = f"there is no pull request {ref.short}"
            raise NotFound(message)
        return self._records[ref]

    def _require_repository(self, name: str) -> HostedCode:
        if name not in self._repositories:
            message = f"there is no repository {name}"
            raise NotFound(message)
        return self._repositories[name]

    def _permission(self, person: Person) -> Permission:
        return self._rights.get(person.login, Permission.NONE)
