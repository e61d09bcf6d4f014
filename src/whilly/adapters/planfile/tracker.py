"""TextTracker: one issue that lives in no tracker: a task of a plan file, or a text from standard input."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import NotFound
from whilly.domain.forge.issue import Comment, Issue, Issues, IssueState, Permission, Person
from whilly.domain.forge.reference import TASKS, IssueRef
from whilly.ports.tracker import Tracker

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from whilly.domain.forge.issue import IssueQuery
    from whilly.domain.work_item import WorkItem

_USER = Person("user", "you")
"""Who gave the command: nobody else can have written it."""


@final
class TextTracker(Tracker):
    """Holds one issue; what is said of it goes nowhere, because nobody would read it there.

    Args:
        issue: never changes.
    """

    def __init__(self, issue: Issue) -> None:
        self._issue = issue

    @override
    async def fetch_issue(self, ref: IssueRef) -> Issue:
        if ref != self._issue.ref:
            message = f"{ref.short} is not the task that was given"
            raise NotFound(message)
        return self._issue

    @override
    async def find_issues(self, query: IssueQuery) -> Issues:
        return Issues((self._issue,))

    @override
    async def comment(self, ref: IssueRef, key: str, text: str) -> Comment:
        now = self._issue.updated_at
        return Comment(key, _USER, Permission.ADMIN, text, now, now, key=key)

    @override
    async def set_labels(self, ref: IssueRef, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        """Nobody would see them."""

    @override
    async def set_state(self, ref: IssueRef, state: str) -> None:
        """Nobody would see it."""

    @override
    async def fetch_account(self) -> Person:
        return _USER


def read_task(item: WorkItem, source: str, at: datetime) -> Issue:
    """A task of a plan file as an issue of the user's own."""
    parts = [item.description]
    if item.acceptance_criteria:
        parts.append("\n".join(["## Acceptance", *(f"- {each}" for each in item.acceptance_criteria)]))
    if item.test_steps:
        parts.append("\n".join(["## Test", "```sh", *item.test_steps, "```"]))
    if item.key_files:
        parts.append(f"**Files:** {', '.join(item.key_files)}")
    return _make(IssueRef(TASKS, source, item.id), item.title, "\n\n".join(parts), at)


def read_text(text: str, at: datetime) -> Issue:
    """A text as an issue; its first line is the title. The same text is the same issue."""
    title, _, body = text.strip().partition("\n")
    number = f"TEXT-{zlib.crc32(text.strip().encode('utf-8', 'surrogatepass')) or 1}"
    return _make(IssueRef("text", "", number), title.strip().lstrip("# "), body.strip(), at)


def _make(ref: IssueRef, title: str, body: str, at: datetime) -> Issue:
    return Issue(ref, title, body, _USER, Permission.ADMIN, IssueState.OPEN, "open", "", at, at)
