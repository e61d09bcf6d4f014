"""An import asks for what it needs, and takes nothing for closed that is only missing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.memory.tracker import MemoryTracker
from whilly.application.gather_issues import gather_issues
from whilly.domain.errors import NotFound
from whilly.domain.forge.issue import IssueQuery, IssueState, Permission, Person
from whilly.domain.forge.reference import IssueRef

ADA = Person("1", "ada")
REPO = "ada/engine"


@pytest.fixture
def tracker() -> MemoryTracker:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return MemoryTracker(clock, Person("2", "bot"), {"ada": Permission.WRITE})


async def test_open_issues_come_with_their_comments_and_rights(tracker: MemoryTracker) -> None:
    ref = tracker.file(REPO, ADA, "One", "")
    tracker.say(ref, ADA, "more")
    found = await gather_issues(tracker, [IssueQuery(REPO)], [ref], [])
    (issue,) = found.issues
    assert (issue.permission, [each.text for each in issue.comments]) == (Permission.WRITE, ["more"])


async def test_issues_of_pending_tasks_that_were_closed_are_found(tracker: MemoryTracker) -> None:
    tracker.file(REPO, ADA, "One", "")
    gone = tracker.file(REPO, ADA, "Two", "")
    other = tracker.file("ada/other", ADA, "Elsewhere", "")
    for ref in (gone, other):
        await tracker.set_state(ref, "closed")
    found = await gather_issues(tracker, [IssueQuery(REPO)], [], [gone, other, IssueRef("memory", REPO, "99")])
    assert [(issue.title, issue.state) for issue in found.issues] == [
        ("One", IssueState.OPEN),
        ("Two", IssueState.CLOSED),
    ]
    assert found.notes == ("ada/engine#99 cannot be found any more; its task stays",)


async def test_an_open_issue_that_does_not_fit_any_more_is_told(tracker: MemoryTracker) -> None:
    ref = tracker.file(REPO, ADA, "One", "", ["other"])
    found = await gather_issues(tracker, [IssueQuery(REPO, labels=("ready",))], [], [ref])
    assert (found.issues, found.notes) == ((), ("ada/engine#1 is open and was not asked for; its task stays",))


async def test_a_list_that_was_cut_short_says_nothing_about_what_is_missing(tracker: MemoryTracker) -> None:
    refs = [tracker.file(REPO, ADA, f"Issue {number}", "") for number in range(3)]
    await tracker.set_state(refs[0], "closed")
    found = await gather_issues(tracker, [IssueQuery(REPO, limit=1)], [], refs[:1])
    assert (found.is_complete, [each.state for each in found.issues]) == (False, [IssueState.OPEN])
    assert "1 pending tasks were not looked after" in found.notes[0]


async def test_a_single_issue_that_is_not_there_is_an_error(tracker: MemoryTracker) -> None:
    with pytest.raises(NotFound):
        await gather_issues(tracker, [], [IssueRef("memory", REPO, "9")], [])
