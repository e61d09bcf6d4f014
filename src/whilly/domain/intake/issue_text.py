"""What is read of an issue: plain text, and who said it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from whilly.domain.forge.issue import Issue


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment.

    Attributes:
        has_write: whether its author may change the repository; only then, or when it was released, is it shown to
            agents.
        is_own: Whilly wrote it.
    """

    author: str
    has_write: bool
    text: str
    created_at: datetime
    is_own: bool = False
    is_released: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether agents may read it."""
        return not self.is_own and (self.has_write or self.is_released)


@dataclass(frozen=True, slots=True)
class IssueText:
    """An issue, raw: nothing of it is cleaned.

    Attributes:
        key: its number, or its key where the tracker has those: `12`, `ABC-12`.
        kind: the tracker's own type of it (`Bug`, `Story`); empty where it has none.
        priority: in the tracker's own word; empty where it has none.
        comments: the oldest first.
        is_trusted: its author may change the repository; only then are the commands in it run.
    """

    key: str
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    comments: tuple[Remark, ...] = ()
    url: str = ""
    kind: str = ""
    priority: str = ""
    is_trusted: bool = False


def read_issue(issue: Issue, released: Collection[str] = ()) -> IssueText:
    """What is read of a tracker's issue.

    Args:
        issue: with its comments.
        released: ids of comments that a person has released although their authors have no write access.
    """
    remarks = [
        Remark(
            author=each.author.login,
            has_write=each.permission.can_write,
            text=each.text,
            created_at=each.created_at,
            is_own=bool(each.key),
            is_released=each.id in released,
        )
        for each in issue.comments
    ]
    return IssueText(
        key=issue.ref.number,
        title=issue.title,
        body=issue.body,
        labels=issue.labels,
        comments=tuple(remarks),
        url=issue.url,
        priority=issue.priority,
        is_trusted=issue.permission.can_write,
    )
