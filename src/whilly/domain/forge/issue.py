"""Issues and what people say about them, as a tracker has them: raw text, and who wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from whilly.domain.forge.reference import IssueRef


class Permission(StrEnum):
    """What somebody may do where an issue lives."""

    ADMIN = "admin"
    WRITE = "write"
    READ = "read"
    """Also triage and reporter roles: they may change issues, but not code."""
    NONE = "none"
    UNKNOWN = "unknown"
    """The tracker does not tell it to the account of the token. It counts as no permission to write."""

    @property
    def can_write(self) -> bool:
        """Whether what they say may steer work."""
        return self in {Permission.ADMIN, Permission.WRITE}


@dataclass(frozen=True, slots=True)
class Person:
    """An account of a tracker or forge.

    Attributes:
        id: never changes; what accounts are compared by.
        login: may be renamed, and taken by somebody else afterwards.
    """

    id: str
    login: str
    is_bot: bool = False


NOBODY = Person("", "")
"""Whose account is gone."""


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody wrote.

    Attributes:
        text: as it came; anybody may have written anything.
        permission: of the author, now.
        key: the key that Whilly's own account wrote it under; empty for everybody else's.
    """

    id: str
    author: Person
    permission: Permission
    text: str
    created_at: datetime
    updated_at: datetime
    url: str = ""
    key: str = ""


class IssueState(StrEnum):
    """Whether there is something to be done."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue; as raw as a comment.

    Attributes:
        status: the state in the tracker's own word: `In Progress`; where it has none, the same as `state`.
        priority: in the tracker's own word; empty where it has none.
        url: where people see it.
        permission: of the author, now.
        comments: all of them, the oldest first; empty in a list of issues.
    """

    ref: IssueRef
    title: str
    body: str
    author: Person
    permission: Permission
    state: IssueState
    status: str
    url: str
    created_at: datetime
    updated_at: datetime
    labels: tuple[str, ...] = ()
    priority: str = ""
    comments: tuple[Comment, ...] = ()
    is_pull_request: bool = False


@dataclass(frozen=True, slots=True)
class IssueQuery:
    """Which issues are looked for; what is empty does not count.

    Attributes:
        scope: the repository or project.
        labels: all of them.
        text: words to be found in them.
        native: a query in the tracker's own language, for those that have one (JQL).
        limit: how many at most.
    """

    scope: str
    labels: tuple[str, ...] = ()
    state: IssueState | None = IssueState.OPEN
    text: str = ""
    updated_since: datetime | None = None
    native: str = ""
    limit: int = 200


@dataclass(frozen=True, slots=True)
class Issues:
    """What was found, the most recently changed first, without comments.

    Attributes:
        is_complete: there are no more; otherwise what is missing here may exist all the same.
    """

    items: tuple[Issue, ...]
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class Standing:
    """What a place said of itself and of the account that Whilly uses there.

    Attributes:
        scopes: what the token may do, where the place tells it; None where it does not.
        missing: scopes that Whilly needs and the token lacks, as far as that can be told.
        version: of the server; empty where it does not tell.
        expires_at: when the token ends, where the place tells it.
    """

    account: Person
    scopes: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    version: str = ""
    expires_at: datetime | None = None
    warnings: tuple[str, ...] = field(default=())
