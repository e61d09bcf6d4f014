"""What an observer says of a real ledger that is moved step by step."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.application.live import LiveAttempt
from whilly.application.telling.progress import Money
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import RuleViolation
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.schedule import WaitsForFiles, WaitsForItem
from whilly.domain.session import Activity
from whilly.domain.work_item import ItemStatus, Priority, WorkItem
from whilly.engine.observer import Observer
from whilly.testing.staged import PLAN, StagedPlan

if TYPE_CHECKING:
    from whilly.testing.scratch import ScratchRepository

ITEMS = (
    WorkItem(ItemId("A"), "First", Priority.HIGH, key_files=("a.txt",)),
    WorkItem(ItemId("B"), "Second", dependencies=(ItemId("A"),)),
    WorkItem(ItemId("C"), "Third", key_files=("a.txt",)),
    WorkItem(ItemId("D"), "Fourth", Priority.LOW),
)


@pytest.fixture
def staged(repository: ScratchRepository) -> StagedPlan:
    return StagedPlan.make(repository.root, ITEMS)


def reasons(staged: StagedPlan) -> dict[str, str]:
    return {queued.item: queued.reason for queued in staged.observer().look().queue}


def test_before_the_first_run_everything_that_could_start_says_what_starts_it(staged: StagedPlan) -> None:
    progress = staged.observer().look()
    assert (progress.phase, progress.total, progress.elapsed) == (PlanPhase.IDLE, 4, timedelta(0))
    ready = f"ready: it starts with the next `whilly run {staged.plan.source}`"
    assert reasons(staged) == {"A": ready, "B": "depends on A, which is pending", "C": ready, "D": ready}


def test_an_issue_is_gone_on_with_by_its_own_command(staged: StagedPlan) -> None:
    plan = replace(
        staged.plan, id=PlanId("issue"), name="ada/engine#7", source="https://github.com/ada/engine/issues/7"
    )
    staged.planning.import_plan(plan)
    looked = staged.project.observer(plan.id).look()
    assert looked.queue[0].reason == "ready: it starts with the next `whilly forge ada/engine#7`"


def test_the_queue_says_what_each_item_waits_for_first(staged: StagedPlan) -> None:
    staged.begin(parallel=1)
    progress = staged.observer().look()
    assert [active.item for active in progress.active] == ["A"]
    assert [(queued.item, type(queued.wait)) for queued in progress.queue[:2]] == [
        ("B", WaitsForItem),
        ("C", WaitsForFiles),
    ]
    assert reasons(staged)["D"] == "no free slot"


def test_a_running_attempt_has_its_stage_agent_time_and_money(staged: StagedPlan) -> None:
    staged.begin(parallel=1, budget=Decimal(10))
    staged.start("A", reserved="1.50")
    staged.clock.advance(timedelta(seconds=90))
    progress = staged.observer().look()
    (active,) = progress.active
    assert (active.stage, active.number, active.agent, active.is_under_way) == ("execute", 1, "demo", True)
    assert (active.elapsed, active.reserved) == (timedelta(seconds=90), Decimal("1.50"))
    assert progress.money == Money(Decimal(0), Decimal("1.50"), Decimal(10))


def test_what_the_agent_does_right_now_is_taken_from_the_live_engine(staged: StagedPlan) -> None:
    staged.begin(parallel=1)
    staged.start("A")
    observer = staged.observer()
    staged.live.started(LiveAttempt(ItemId("A"), 1, "execute", "demo", staged.clock.now()))
    staged.clock.advance(timedelta(seconds=10))
    staged.live.acted(ItemId("A"), Activity("edit a.txt", 120))
    staged.clock.advance(timedelta(seconds=5))
    (active,) = observer.look().active
    assert (active.last_action, active.tokens, active.quiet) == ("edit a.txt", 120, timedelta(seconds=5))


def test_between_two_attempts_the_reason_for_the_pause_is_shown(staged: StagedPlan) -> None:
    staged.begin(parallel=1)
    staged.live.held(ItemId("A"), "the rest of the budget is reserved")
    (active,) = staged.observer().look().active
    assert (active.is_under_way, active.hold) == (False, "the rest of the budget is reserved")


def test_a_waiting_run_says_until_when_and_for_whom(staged: StagedPlan) -> None:
    staged.begin(parallel=1)
    staged.start("A")
    until = staged.clock.now() + timedelta(hours=3)
    staged.end("A", AttemptResult(Outcome.LIMITED, "usage limit reached", retry_at=until))
    assert staged.start("A") == 1
    progress = staged.observer().look()
    (waiting,) = progress.waiting
    assert (waiting.item, waiting.until, waiting.whom) == ("A", until, "agent:demo")
    assert waiting.reason == "its account is limited: usage limit reached"
    assert "A" not in {active.item for active in progress.active}


def test_an_item_that_asks_waits_for_a_person_and_still_holds_its_files(staged: StagedPlan) -> None:
    staged.begin(parallel=1)
    staged.start("A")
    staged.end("A", AttemptResult(Outcome.ASKED, "which colour?"))
    (waiting,) = staged.observer().look().waiting
    assert (waiting.until, waiting.reason) == (None, "which colour?")
    assert reasons(staged)["C"].startswith("files overlap with A")


def test_ended_items_have_their_time_cost_and_reason(staged: StagedPlan) -> None:
    staged.begin(parallel=2)
    staged.clock.advance(timedelta(minutes=2))
    staged.finish("A", cost="0.40")
    staged.fail("D", AttemptResult(Outcome.CRASHED, "boom"))
    progress = staged.observer().look()
    (done,) = progress.done
    assert (done.item, done.took, done.spent) == ("A", timedelta(minutes=2), Decimal("0.40"))
    (failed,) = progress.undone
    assert (failed.item, failed.status) == ("D", ItemStatus.FAILED)
    assert "boom" in failed.reason
    assert progress.count(ItemStatus.DONE, ItemStatus.FAILED) == 2
    # An attempt that did not say what it cost counts as its reservation.
    assert progress.money.spent == Decimal("0.40") + 3


def test_failed_items_come_before_those_that_they_block(staged: StagedPlan) -> None:
    staged.begin(parallel=1)
    staged.fail("A", AttemptResult(Outcome.CRASHED, "boom"))
    assert [(each.item, each.status) for each in staged.observer().look().undone] == [("A", "failed"), ("B", "blocked")]


def test_time_stops_when_the_plan_has_ended(staged: StagedPlan) -> None:
    staged.begin(parallel=4)
    for item in "ABCD":
        staged.clock.advance(timedelta(minutes=1))
        staged.finish(item)
    staged.clock.advance(timedelta(days=3))
    progress = staged.observer().look()
    assert (progress.phase, progress.elapsed) == (PlanPhase.IDLE, timedelta(minutes=4))


def test_events_are_news_once(staged: StagedPlan) -> None:
    observer = staged.observer()
    staged.begin(parallel=1)
    assert [event.type for event in observer.look().news] == ["plan_begun", "run_created"]
    assert observer.look(at_once=True).news == ()
    staged.start("A")
    staged.end("A")
    ended = observer.look(at_once=True).news[-1]
    assert (ended.type, ended.stage) == ("attempt_ended", "execute")


def test_a_busy_ledger_is_not_read_at_every_look(staged: StagedPlan) -> None:
    observer = staged.observer()
    observer.look()
    staged.begin(parallel=1)
    assert observer.look().active == ()
    staged.clock.advance(timedelta(seconds=0.5))
    assert len(observer.look().active) == 1


def test_an_unknown_plan_is_an_error(staged: StagedPlan) -> None:
    other = Observer(staged.project.database, staged.project.reading, PlanId("plan-other"), staged.clock)
    with pytest.raises(RuleViolation, match="plan-other"):
        other.look()


def test_a_retried_item_begins_anew_and_is_told_what_the_person_said(staged: StagedPlan) -> None:
    staged.begin(parallel=3)
    staged.fail("A", AttemptResult(Outcome.CRASHED, "boom"))
    staged.finish("C")
    assert staged.planning.retry(PLAN, ItemId("A"), "ada", "use the other door") == ""
    evidence = staged.run("A").evidence
    assert evidence is not None
    assert evidence.summary == "ada says: use the other door"
    assert staged.observer().look().count(ItemStatus.BLOCKED) == 0


def test_a_look_at_a_thousand_items_is_cheap(repository: ScratchRepository) -> None:
    items = [WorkItem(ItemId(f"T-{n}"), f"Task {n}", key_files=(f"{n % 50}.txt",)) for n in range(1000)]
    staged = StagedPlan.make(repository.root, items)
    staged.begin(parallel=8)
    observer = staged.observer()
    progress = observer.look()
    assert (len(progress.active), len(progress.queue)) == (8, 992)
    # Nothing is read again while nothing has changed: the values are the same objects.
    staged.clock.advance(timedelta(seconds=1))
    again = observer.look()
    assert again.queue is progress.queue
