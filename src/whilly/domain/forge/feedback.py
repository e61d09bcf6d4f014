"""What an open pull request asks of whoever made it: checks to mend, people to answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.forge.pull_request import CONVERSATION, Check, CheckState, Opinion, PullStatus, Review, Thread

if TYPE_CHECKING:
    from collections.abc import Collection

    from whilly.domain.forge.issue import Comment, Permission, Person


@dataclass(frozen=True, slots=True)
class Request:
    """What one person wants to be different.

    Attributes:
        id: of what they wrote; each is answered once.
        thread: where the answer goes.
        text: as it came.
        path: the file that it is about; empty for the whole change.
    """

    id: str
    thread: str
    author: str
    text: str
    path: str = ""
    line: int = 0


def find_failed(status: PullStatus) -> tuple[Check, ...]:
    """Checks of the head that have failed, once all of them have come to an end; none while one may still change."""
    if any(check.state is CheckState.PENDING for check in status.checks):
        return ()
    return tuple(check for check in status.checks if check.state is CheckState.FAILED)


def find_requests(status: PullStatus, own: Person, answered: Collection[str]) -> tuple[Request, ...]:
    """What people who may write there ask for and were not answered yet, the oldest first.

    A review that requests changes, and a thread at lines of the change that is not resolved, are requests. The
    conversation of the whole pull request is people's own, unless they address the account by its name.

    Args:
        status: the pull request now.
        own: the account that Whilly uses.
        answered: ids of requests that were answered.
    """
    reviews = [_of_review(review) for review in status.reviews if _asks(review, own)]
    threads = [request for thread in status.threads for request in _of_thread(thread, own)]
    return tuple(each for each in (*reviews, *threads) if each.id not in answered)


def is_approved(status: PullStatus, own: Person) -> bool:
    """Whether somebody who may write approves of this very head, and nobody of them requests changes."""
    newest = {
        review.author.id: review.opinion
        for review in status.reviews
        if _is_heard(review.author, review.permission, own) and review.opinion is not Opinion.COMMENTED
        if not review.is_stale or review.opinion is Opinion.CHANGES_REQUESTED
    }
    opinions = set(newest.values())
    return Opinion.APPROVED in opinions and Opinion.CHANGES_REQUESTED not in opinions


def _is_heard(author: Person, permission: Permission, own: Person) -> bool:
    return permission.can_write and not author.is_bot and author.id != own.id


def _asks(review: Review, own: Person) -> bool:
    is_heard = _is_heard(review.author, review.permission, own)
    return is_heard and review.opinion is Opinion.CHANGES_REQUESTED and bool(review.text.strip())


def _of_review(review: Review) -> Request:
    return Request(f"review:{review.id}", CONVERSATION, review.author.login, review.text)


def _of_thread(thread: Thread, own: Person) -> list[Request]:
    heard = [comment for comment in thread.comments if _is_heard(comment.author, comment.permission, own)]
    if thread.id == CONVERSATION:
        return [_of_comment(thread, comment) for comment in heard if _addresses(comment, own)]
    if thread.is_resolved or not heard or thread.comments[-1].author.id == own.id:
        return []
    return [_of_comment(thread, heard[-1])]


def _addresses(comment: Comment, own: Person) -> bool:
    return bool(own.login) and re.search(rf"(?<![\w@])@{re.escape(own.login)}\b", comment.text) is not None


def _of_comment(thread: Thread, comment: Comment) -> Request:
    return Request(comment.id, thread.id, comment.author.login, comment.text, thread.path, thread.line)
