"""Where the parts of an item stand together, and what each of them is told."""

from __future__ import annotations

import pytest

from whilly.domain.ids import ItemId
from whilly.domain.planning.parts import Part, divide, judge_parts
from whilly.domain.work_item import ItemStatus, WorkItem

WHOLE = WorkItem(ItemId("shop#1"), "Two pages\n\nin detail")
FIRST, SECOND = WorkItem(ItemId("shop#1a"), "The first page"), WorkItem(ItemId("shop#1b"), "The second page")


def stand(*statuses: ItemStatus, reason: str = "") -> list[Part]:
    """Parts with these statuses."""
    return [Part(WorkItem(ItemId(f"shop#1{a}"), a), each, reason) for a, each in zip("abc", statuses, strict=False)]


@pytest.mark.parametrize(
    ("statuses", "is_done", "goes_on", "reason"),
    [
        ([ItemStatus.DONE] * 2, True, False, "all 2 parts are done"),
        ([ItemStatus.DONE, ItemStatus.PENDING], False, True, "1 of 2 parts are done"),
        ([ItemStatus.FAILED, ItemStatus.IN_PROGRESS], False, True, "0 of 2 parts are done"),
        ([ItemStatus.DONE, ItemStatus.SKIPPED], True, False, "1 of 2 parts are done, shop#1b left out"),
        ([ItemStatus.HUMAN_LOOP, ItemStatus.PENDING], False, True, "0 of 2 parts are done"),
    ],
)
def test_parts_stand_together(statuses: list[ItemStatus], is_done: bool, goes_on: bool, reason: str) -> None:  # noqa: FBT001  (columns of the table)
    found = judge_parts(stand(*statuses), WHOLE.id)
    assert (found.is_done, found.goes_on, found.reason) == (is_done, goes_on, reason)


def test_what_keeps_them_is_told_with_what_to_do() -> None:
    found = judge_parts(stand(ItemStatus.DONE, ItemStatus.FAILED, ItemStatus.HUMAN_LOOP, reason="why"), WHOLE.id)
    assert (found.is_done, found.goes_on) == (False, False)
    assert found.reason == (
        "1 of 3 parts are done; shop#1b has failed (why); shop#1c waits for a person (why)"
        " → whilly forge shop#1 tries them again, whilly cancel PART leaves one out"
    )
    assert len(judge_parts(stand(*[ItemStatus.FAILED] * 3, reason="x" * 5000), WHOLE.id).reason) <= 1000


def test_each_is_told_what_it_belongs_to_and_what_others_do() -> None:
    first, second = divide(WHOLE, [FIRST, SECOND], ["Write a test."])
    assert {(each.parent, each.pipeline) for each in (first, second)} == {(WHOLE.id, "solo")}
    assert first.title == "The first page"
    for told in ("This is a part of shop#1: Two pages", "- shop#1b: The second page", "- Write a test."):
        assert told in first.description
    assert "shop#1a" not in first.description
