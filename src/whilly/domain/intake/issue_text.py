"""What is read of an issue: plain text, and who said it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
        comments: the oldest first.
    """

    key: str
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    comments: tuple[Remark, ...] = ()
    url: str = ""
    kind: str = ""
