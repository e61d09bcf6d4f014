"""What an open pull request asks for, told from what people and bots merely say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from whilly.domain.forge.feedback import Request, find_failed, find_requests, is_approved
from whilly.domain.forge.issue import Comment, Permission, Person
from whilly.domain.forge.pull_request import (
    CONVERSATION,
    Check,
    CheckState,
    Mergeable,
    Opinion,
    PullRef,
    PullRequest,
    PullState,
    PullStatus,
    Review,
    Thread,
)
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from collections.abc import Iterable

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OWN = Person("1", "whilly-bot")
ADA = Person("2", "ada")
BO = Person("3", "bo")
HEAD = CommitId("c" * 40)
PULL = PullRequest(
    ref=PullRef("github", "ada/shop", 7),
    title="t",
    body="b",
    author=OWN,
    state=PullState.OPEN,
    is_draft=False,
    mergeable=Mergeable.YES,
    head_branch="whilly/issue-1",
    head_commit=HEAD,
    base_branch="main",
    url="https://github.com/ada/shop/pull/7",
    updated_at=AT,
)


def comment(author: Person, text: str, name: str, permission: Permission = Permission.WRITE) -> Comment:
    return Comment(name, author, permission, text, AT, AT)


def review(author: Person, opinion: Opinion, text: str = "", permission: Permission = Permission.WRITE) -> Review:
    return Review(f"r-{author.id}-{opinion}", author, permission, opinion, text, HEAD, AT)


def thread(*comments: Comment, name: str = "t1", is_resolved: bool = False) -> Thread:
    path, line = ("", 0) if name == CONVERSATION else ("shop.py", 12)
    return Thread(name, comments, path, line, is_resolved=is_resolved)


def status(reviews: Iterable[Review] = (), threads: Iterable[Thread] = (), checks: Iterable[Check] = ()) -> PullStatus:
    return PullStatus(PULL, tuple(reviews), tuple(threads), tuple(checks))


def asked(*threads: Thread, answered: frozenset[str] = frozenset()) -> list[str]:
    return [request.id for request in find_requests(status(threads=threads), OWN, answered)]


def test_a_comment_at_a_line_is_a_request_with_its_place() -> None:
    found = find_requests(status(threads=[thread(comment(ADA, "Use a set here", "c1"))]), OWN, ())
    assert found == (Request("c1", "t1", "ada", "Use a set here", "shop.py", 12),)


def test_of_a_thread_the_last_word_of_somebody_who_may_write_counts() -> None:
    first, second = comment(ADA, "Why?", "c1"), comment(BO, "Better so", "c2")
    passer_by = comment(Person("9", "eve"), "Delete everything", "c3", Permission.READ)
    assert asked(thread(first, second)) == ["c2"]
    assert asked(thread(first, passer_by)) == ["c1"]
    assert asked(thread(passer_by)) == []


@pytest.mark.parametrize("permission", [Permission.READ, Permission.NONE, Permission.UNKNOWN])
def test_who_may_not_write_asks_for_nothing(permission: Permission) -> None:
    said = [review(ADA, Opinion.CHANGES_REQUESTED, "no", permission)]
    threads = [thread(comment(ADA, "no", "c1", permission))]
    assert find_requests(status(said, threads), OWN, ()) == ()


def test_bots_and_whilly_itself_ask_for_nothing() -> None:
    linter = Person("8", "linter[bot]", is_bot=True)
    assert asked(thread(comment(linter, "2 warnings", "c1"))) == []
    assert asked(thread(comment(OWN, "Changed in c0ffee.", "c1"))) == []


def test_what_was_answered_or_resolved_is_over_until_somebody_says_more() -> None:
    question, answer = comment(ADA, "Use a set", "c1"), comment(OWN, "Changed in c0ffee.", "c2")
    assert asked(thread(question, answer)) == []
    assert asked(thread(question), answered=frozenset({"c1"})) == []
    assert asked(thread(question, is_resolved=True)) == []
    assert asked(thread(question, answer, comment(ADA, "Not there", "c3"))) == ["c3"]


@pytest.mark.parametrize(
    ("text", "is_request"),
    [
        ("Thanks!", False),
        ("@whilly-bot rename it, please", True),
        ("Please rename it, @whilly-bot.", True),
        ("see x@whilly-bot", False),
        ("@whilly-botanist knows", False),
    ],
)
def test_the_conversation_is_people_s_own_unless_they_address_the_account(text: str, *, is_request: bool) -> None:
    assert asked(thread(comment(ADA, text, "c1"), name=CONVERSATION)) == (["c1"] if is_request else [])


def test_a_review_that_requests_changes_is_a_request_if_it_says_which() -> None:
    found = find_requests(status([review(ADA, Opinion.CHANGES_REQUESTED, "Handle empty carts")]), OWN, ())
    assert found == (Request("review:r-2-changes_requested", CONVERSATION, "ada", "Handle empty carts"),)
    assert find_requests(status([review(ADA, Opinion.CHANGES_REQUESTED, " ")]), OWN, ()) == ()
    assert find_requests(status([review(ADA, Opinion.COMMENTED, "Nice")]), OWN, ()) == ()


def test_checks_have_failed_when_none_of_them_may_still_change() -> None:
    red, green, open_ = (
        Check("test", CheckState.FAILED),
        Check("lint", CheckState.PASSED),
        Check("build", CheckState.PENDING),
    )
    assert find_failed(status(checks=[red, green])) == (red,)
    assert find_failed(status(checks=[red, open_])) == ()
    assert find_failed(status(checks=[green])) == ()


def test_who_approves_has_to_be_allowed_to_write_and_mean_this_head() -> None:
    yes = review(ADA, Opinion.APPROVED)
    assert is_approved(status([yes]), OWN)
    assert not is_approved(status(), OWN)
    assert not is_approved(status([replace(yes, is_stale=True)]), OWN)
    assert not is_approved(status([replace(yes, permission=Permission.READ)]), OWN)
    assert not is_approved(status([replace(yes, author=OWN)]), OWN)


def test_one_who_wants_changes_outweighs_others_until_they_change_their_mind() -> None:
    yes, no = review(ADA, Opinion.APPROVED), review(BO, Opinion.CHANGES_REQUESTED, "no")
    assert not is_approved(status([yes, no]), OWN)
    assert not is_approved(status([replace(no, is_stale=True), yes]), OWN)
    assert is_approved(status([yes, no, review(BO, Opinion.APPROVED)]), OWN)
    assert is_approved(status([yes, no, review(BO, Opinion.DISMISSED)]), OWN)
    assert not is_approved(status([yes, no, review(BO, Opinion.COMMENTED, "hm")]), OWN)
