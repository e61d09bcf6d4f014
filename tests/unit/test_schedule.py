from __future__ import annotations

import pytest

from whilly.domain.errors import RuleViolation
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.plan import Plan
from whilly.domain.schedule import Frontier, WaitsForFiles, WaitsForItem, WaitsForSlot, preview
from whilly.domain.work_item import ItemStatus, Priority, WorkItem

A, B, C, D, E = (ItemId(name) for name in "ABCDE")


def item(
    item_id: ItemId,
    *after: ItemId,
    claims: tuple[str, ...] = (),
    priority: Priority = Priority.MEDIUM,
) -> WorkItem:
    return WorkItem(item_id, f"Do {item_id}", priority=priority, dependencies=after, key_files=claims)


def frontier(*items: WorkItem, **statuses: ItemStatus) -> Frontier:
    return Frontier(items, {ItemId(name): status for name, status in statuses.items()})


def test_urgent_items_come_first_and_equals_in_the_order_of_the_plan() -> None:
    plan = frontier(
        item(A, priority=Priority.LOW),
        item(B),
        item(C, priority=Priority.CRITICAL),
        item(D),
        item(E, priority=Priority.HIGH),
    )
    assert plan.start(5) == [C, E, B, D, A]


def test_no_more_items_start_than_there_are_slots() -> None:
    plan = frontier(item(A), item(B), item(C))
    assert (plan.start(2), plan.start(0), plan.start(-1)) == ([A, B], [], [])
    assert plan.waiting() == {C: WaitsForSlot()}


def test_a_dependant_starts_when_the_last_of_its_dependencies_is_done() -> None:
    plan = frontier(item(A), item(B), item(C, A, B))
    plan.start(3)
    plan.finish(A, ItemStatus.DONE)
    assert plan.waiting() == {C: WaitsForItem(B, ItemStatus.IN_PROGRESS)}
    plan.finish(B, ItemStatus.DONE)
    assert plan.start(3) == [C]


def test_an_item_whose_files_are_held_lets_a_less_urgent_one_pass() -> None:
    plan = frontier(
        item(A, claims=("src",), priority=Priority.HIGH),
        item(B, claims=("src/app.py",)),
        item(C, claims=("docs/a.md",), priority=Priority.LOW),
    )
    assert plan.start(2) == [A, C]
    assert plan.waiting() == {B: WaitsForFiles(A, "src")}
    plan.finish(C, ItemStatus.DONE)
    assert plan.start(1) == []
    plan.finish(A, ItemStatus.DONE)
    assert plan.start(1) == [B]


def test_a_directory_waits_until_nothing_beneath_it_is_held() -> None:
    plan = frontier(item(A, claims=("src/a.py",)), item(B, claims=("src/b.py",)), item(C, claims=("src",)))
    assert plan.start(3) == [A, B]
    assert plan.waiting() == {C: WaitsForFiles(A, "src/a.py")}
    plan.finish(A, ItemStatus.DONE)
    assert plan.start(3) == []
    assert plan.waiting() == {C: WaitsForFiles(B, "src/b.py")}
    plan.finish(B, ItemStatus.DONE)
    assert plan.start(3) == [C]


def test_a_failure_blocks_everything_that_builds_on_it_and_names_it() -> None:
    plan = frontier(item(A), item(B, A), item(C, B), item(D, C, E), item(E))
    plan.start(1)
    assert plan.finish(A, ItemStatus.FAILED) == [
        (B, "depends on A, which failed"),
        (C, "depends on B, which is blocked: A failed"),
        (D, "depends on C, which is blocked: A failed"),
    ]
    assert plan.start(5) == [E]
    plan.finish(E, ItemStatus.DONE)
    assert plan.is_finished
    assert dict(plan.statuses) == {
        A: ItemStatus.FAILED,
        B: ItemStatus.BLOCKED,
        C: ItemStatus.BLOCKED,
        D: ItemStatus.BLOCKED,
        E: ItemStatus.DONE,
    }


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (ItemStatus.FAILED, "depends on A, which failed"),
        (ItemStatus.SKIPPED, "depends on A, which was skipped"),
        (ItemStatus.BLOCKED, "depends on A, which is blocked"),
        (ItemStatus.HUMAN_LOOP, "depends on A, which waits for a person"),
    ],
)
def test_what_had_ended_badly_before_blocks_its_dependants_from_the_start(status: ItemStatus, reason: str) -> None:
    plan = frontier(item(B, A), item(A), A=status)
    assert plan.blocked == ((B, reason),)
    assert plan.is_finished


def test_work_done_before_is_not_done_again() -> None:
    plan = frontier(item(A), item(B, A), A=ItemStatus.DONE)
    assert plan.start(2) == [B]


def test_what_ran_before_still_holds_its_files_and_its_slot() -> None:
    plan = frontier(item(A, claims=("x",)), item(B, claims=("x",)), A=ItemStatus.IN_PROGRESS)
    assert plan.running == (A,)
    assert plan.start(3) == []
    assert plan.waiting() == {B: WaitsForFiles(A, "x")}


def test_an_interrupted_item_starts_again_in_its_place() -> None:
    plan = frontier(item(A, claims=("x",)), item(B, claims=("x",)))
    assert plan.start(2) == [A]
    plan.release(A)
    assert not plan.is_finished
    assert plan.start(2) == [A]


def test_an_item_released_after_its_dependency_had_failed_is_blocked() -> None:
    plan = frontier(item(A), item(B, A), A=ItemStatus.FAILED, B=ItemStatus.IN_PROGRESS)
    plan.release(B)
    assert plan.blocked == ((B, "depends on A, which failed"),)


def test_a_pending_item_can_be_cancelled() -> None:
    plan = frontier(item(A), item(B, A), item(C))
    assert plan.finish(A, ItemStatus.SKIPPED) == [(B, "depends on A, which was skipped")]
    assert plan.start(3) == [C]


def test_an_end_told_twice_is_taken_once() -> None:
    plan = frontier(item(A), item(B, A))
    plan.start(1)
    assert len(plan.finish(A, ItemStatus.FAILED)) == 1
    assert plan.finish(A, ItemStatus.FAILED) == []


def test_contradicting_ends_are_refused() -> None:
    plan = frontier(item(A), item(B))
    plan.finish(A, ItemStatus.DONE)
    with pytest.raises(RuleViolation, match="A, which is done, cannot end as failed"):
        plan.finish(A, ItemStatus.FAILED)
    with pytest.raises(RuleViolation, match="B, which is pending, cannot end as in_progress"):
        plan.finish(B, ItemStatus.IN_PROGRESS)
    with pytest.raises(RuleViolation, match="B, which is pending, cannot be released: it is not running"):
        plan.release(B)


def test_the_same_dependency_named_twice_counts_once() -> None:
    plan = frontier(item(A), item(B, A, A))
    plan.start(1)
    plan.finish(A, ItemStatus.DONE)
    assert plan.start(1) == [B]


def test_reasons_are_sentences_for_people() -> None:
    assert str(WaitsForItem(A, ItemStatus.PENDING)) == "depends on A, which is pending"
    assert str(WaitsForItem(A, ItemStatus.IN_PROGRESS)) == "depends on A, which is running"
    assert str(WaitsForFiles(A, "src")) == "files overlap with A, which is running and holds `src`"
    assert str(WaitsForSlot()) == "no free slot"


def test_a_plan_of_thousands_that_all_claim_one_directory_is_played_to_its_end() -> None:
    ids = [ItemId(str(number)) for number in range(3_000)]
    plan = Frontier([item(each, claims=("src", f"src/{each}.py")) for each in ids], {})
    for each in ids:
        assert plan.start(8) == [each]
        plan.finish(each, ItemStatus.DONE)
    assert plan.is_finished


def a_plan(*items: WorkItem, **statuses: ItemStatus) -> Plan:
    given = {ItemId(name): status for name, status in statuses.items()}
    return Plan(PlanId("p"), "p", "p", "/p.json", items, statuses=given)


def test_a_preview_shows_the_waves_and_why_the_rest_waits() -> None:
    plan = a_plan(item(A, claims=("x",)), item(B, A), item(C, claims=("x",)), item(D), item(E))
    shown = preview(plan, 2)
    assert shown.waves == ((A, D), (B, C), (E,))
    assert shown.waiting == {
        B: WaitsForItem(A, ItemStatus.IN_PROGRESS),
        C: WaitsForFiles(A, "x"),
        E: WaitsForSlot(),
    }


def test_a_preview_takes_up_what_was_running_and_names_what_cannot_start() -> None:
    plan = a_plan(item(A), item(B), item(C, B), item(D), A=ItemStatus.IN_PROGRESS, B=ItemStatus.FAILED)
    shown = preview(plan, 2, {**plan.statuses, D: ItemStatus.DONE})
    assert (shown.waves, shown.waiting) == (((A,),), {})
    assert shown.blocked == ((C, "depends on B, which failed"),)


def test_a_preview_of_a_finished_plan_is_empty() -> None:
    assert preview(a_plan(item(A), A=ItemStatus.DONE), 4).waves == ()
