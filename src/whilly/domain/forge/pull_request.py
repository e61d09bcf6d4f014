"""Pull requests, called merge requests by some: what a forge knows of one, and what it may be asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from whilly.domain.forge.issue import Comment, Permission, Person
from whilly.domain.ids import CommitId
from whilly.domain.secret import Secret


@dataclass(frozen=True, slots=True)
class PullRef:
    """A pull request: the place's name, the repository `owner/name`, and the number in it."""

    place: str
    repository: str
    number: int

    @property
    def short(self) -> str:
        """As people write it."""
        return f"{self.repository}#{self.number}"


class PullState(StrEnum):
    """Where a pull request stands."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


class Mergeable(StrEnum):
    """Whether it merges without conflicts; rules about checks and approvals are another matter."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """The forge has not found out yet; ask again."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request, without what was said and found about it.

    Attributes:
        url: where people see it.
        key: the key under which Whilly's own account opened it; empty for everybody else's.
        head_repository: where the head branch is; another one than `ref.repository` for a fork, empty if it is gone.
        merge_commit: None until it is merged.
        native_id: what the forge calls it where a number does not do.
    """

    ref: PullRef
    title: str
    body: str
    author: Person
    state: PullState
    is_draft: bool
    mergeable: Mergeable
    head_branch: str
    head_commit: CommitId
    base_branch: str
    url: str
    updated_at: datetime
    head_repository: str = ""
    merge_commit: CommitId | None = None
    labels: tuple[str, ...] = ()
    key: str = ""
    native_id: str = ""


class CheckState(StrEnum):
    """What a check came to. Skipped and neutral ones have passed."""

    PENDING = "pending"
    PASSED = "passed"
    FAILED = "failed"
    """Also: cancelled, timed out, needs somebody."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the head commit; the newest one of its name.

    Attributes:
        summary: what it says about itself, in a few words.
        outcome: the forge's own word.
        log: what `fetch_log` needs; empty when the forge has no log of it.
    """

    name: str
    state: CheckState
    outcome: str = ""
    summary: str = ""
    url: str = ""
    log: str = ""


class Opinion(StrEnum):
    """What a review says."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    COMMENTED = "commented"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Review:
    """One review, in the order in which they were given.

    Attributes:
        commit: the head that the reviewer saw; empty where the forge does not say it.
        is_stale: the head has moved on since.
    """

    id: str
    author: Person
    permission: Permission
    opinion: Opinion
    text: str
    commit: str
    created_at: datetime
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """Comments that belong together, the first one first.

    Attributes:
        id: what `answer` takes.
        path: the file that it is about; empty for the conversation of the whole pull request.
        line: in the newest version of the file where the forge tells it, else 0.
        is_resolved: somebody has marked it as done.
    """

    id: str
    comments: tuple[Comment, ...]
    path: str = ""
    line: int = 0
    is_resolved: bool = False


CONVERSATION = "conversation"
"""The id of the thread that is about the whole pull request."""


@dataclass(frozen=True, slots=True)
class PullStatus:
    """A pull request with everything that was said and found about it."""

    pull: PullRequest
    reviews: tuple[Review, ...] = ()
    threads: tuple[Thread, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class PullDraft:
    """A pull request that is to be there.

    Attributes:
        key: the caller's name for it: the same key never opens a second one.
        head: a branch of the repository itself.
        reviewers: logins; whom the forge refuses is left out.
    """

    repository: str
    key: str
    head: str
    base: str
    title: str
    body: str
    is_draft: bool = False
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PullChange:
    """What is to be changed of a pull request; None stays as it is.

    Attributes:
        is_open: False closes it without merging.
    """

    title: str | None = None
    body: str | None = None
    is_draft: bool | None = None
    is_open: bool | None = None
    add_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PullQuery:
    """Which pull requests are looked for; what is empty does not count.

    Attributes:
        head: the branch of the repository that is to be merged.
        text: words to be found in title or body.
        updated_since: not the ones that nothing happened to after this.
    """

    repository: str
    state: PullState | None = PullState.OPEN
    head: str = ""
    text: str = ""
    updated_since: datetime | None = None
    limit: int = 100


class MergeMethod(StrEnum):
    """How the change gets onto the base branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


class Obstacle(StrEnum):
    """Why a pull request was not merged."""

    CONFLICT = "conflict"
    HEAD_MOVED = "head_moved"
    """Its head is not the expected commit any more."""
    BLOCKED = "blocked"
    """The forge's rules: checks that have not passed, approvals that are missing."""
    DRAFT = "draft"
    CLOSED = "closed"
    UNDECIDED = "undecided"
    """The forge was still finding out when the time was over; ask again."""


@dataclass(frozen=True, slots=True)
class Merged:
    """It is merged, now or already before."""

    commit: CommitId


@dataclass(frozen=True, slots=True)
class NotMerged:
    """It is not merged; `detail` is the forge's own words."""

    obstacle: Obstacle
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PushAccess:
    """Where Whilly pushes to, and with what; never for an agent."""

    url: str
    username: str
    password: Secret
