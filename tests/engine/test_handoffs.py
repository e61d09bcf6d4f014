"""Work in people's hands: each answer's meaning, and that no end of a process and no stale answer matters."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.application.attempt_context import Rules
from whilly.domain.attempt import Usage
from whilly.domain.errors import RuleViolation
from whilly.domain.flow.brief import SessionLimits
from whilly.domain.flow.plan_run import Limits, PlanPhase, StopReason
from whilly.domain.flow.run import Phase
from whilly.domain.handoff import Answer, AnswerStatus, HandoffState
from whilly.domain.ids import AttemptId, ItemId
from whilly.domain.session import Exit
from whilly.domain.work_item import WorkItem
from whilly.engine.ledger import Ledger
from whilly.engine.planning import Planning
from whilly.testing.office import PLAN, Office
from whilly.testing.world import World, hang, item

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.domain.flow.run import Run
    from whilly.domain.handoff import Standing


def for_a_person(name: str = "A") -> WorkItem:
    return WorkItem(ItemId(name), f"Do {name}", agent="person")


def run_of(office: Office, name: str = "A") -> Run:
    run = next(row.run for row in office.records.reading.items(PLAN) if row.item.id == name)
    assert run is not None
    return run


def look(world: World, attempt: str) -> Standing:
    return asyncio.run(world.handoffs.look(AttemptId(attempt)))


def wait_for_handoff(office: Office, name: str = "A", number: int = 1) -> AttemptId:
    """Tick until the run waits for a person with this attempt."""
    office.wait(lambda: run_of(office, name).has_attempt and run_of(office, name).attempt == number)
    office.wait(lambda: run_of(office, name).phase is Phase.WAITING, "handed over")
    return AttemptId(f"{run_of(office, name).id}/{number}")


def work_by_hand(world: World, run: Run, text: str = "by hand\n") -> None:
    """Change a file in the workspace, as a person does."""
    handoff = look(world, f"{run.id}/{run.attempt}").handoff
    assert handoff is not None
    world.history.folders[handoff.workspace][f"{run.item}.txt"] = text


def answer(world: World, attempt: str, status: AnswerStatus, message: str = "", whom: str = "") -> None:
    told = Answer(status, message, "ada", whom, Usage(Decimal("0.25"), 10, 20))
    asyncio.run(world.handoffs.answer(AttemptId(attempt), told))


def outsider(office: Office) -> tuple[Ledger, Planning]:
    """What another process does, which starts nothing."""
    ledger = Ledger(office.database, office.world.clock, office.world.pipelines, None, office.world.passed.append)
    return ledger, Planning(ledger, office.world.pipelines)


def test_a_person_gets_the_prompt_and_their_work_goes_the_way_of_all_work(office: Office, world: World) -> None:
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    assert office.records.statuses() == {"A": "human_loop"}
    assert office.records.reason("A") == "handed over: whilly handoff show A"
    wait = run_of(office).wait
    assert wait is not None
    assert (wait.whom, wait.until, wait.since) == ("person", None, world.clock.now())
    handoff = look(world, attempt).handoff
    assert handoff is not None
    assert (handoff.item, handoff.branch, handoff.stage, handoff.time_limit) == ("A", "whilly/A", "execute", None)
    assert "# Task A" in asyncio.run(world.handoffs.read_prompt(attempt))
    work_by_hand(world, run_of(office))
    world.clock.advance(timedelta(days=30))
    office.engine.tick()
    answer(world, attempt, AnswerStatus.COMPLETE)
    office.finish()
    assert office.records.story("A") == ["execute completed", "verify completed", "integrate completed"]
    assert world.files()["A.txt"] == "by hand\n"
    assert office.records.spent() == Decimal("0.25")


@pytest.mark.parametrize(
    ("status", "outcome", "item_status", "reason"),
    [
        (AnswerStatus.FAILED, "given_up", "failed", "given up: ada says: no such door"),
        (AnswerStatus.BLOCKED, "blocked", "human_loop", "blocked: ada says: no such door"),
        (AnswerStatus.HUMAN_LOOP, "asked", "human_loop", "a decision is needed: ada says: no such door"),
    ],
)
def test_each_answer_has_its_own_meaning(
    office: Office, world: World, status: AnswerStatus, outcome: str, item_status: str, reason: str
) -> None:
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    work_by_hand(world, run_of(office))
    world.clock.advance(timedelta(hours=1))
    answer(world, attempt, status, "no such door", whom="grace")
    office.finish()
    assert office.records.story("A") == [f"execute {outcome}"]
    assert (office.records.statuses()["A"], office.records.reason("A")) == (item_status, reason)
    assert f"refs/whilly/wip/{attempt}" in world.history.refs
    run = run_of(office)
    if item_status == "human_loop":
        assert run.wait is not None
        assert (run.wait.whom, run.wait.since, run.has_attempt) == ("person:grace", world.clock.now(), False)


def test_what_is_blocked_goes_on_when_it_is_let_and_is_handed_over_anew(office: Office, world: World) -> None:
    office.import_items(for_a_person())
    office.begin()
    answer(world, wait_for_handoff(office), AnswerStatus.BLOCKED, "the key is missing")
    office.finish()
    assert outsider(office)[1].retry(PLAN, ItemId("A"), "grace", "it is under the mat") == ""
    office.begin()
    second = wait_for_handoff(office, number=2)
    assert "grace says: it is under the mat" in asyncio.run(world.handoffs.read_prompt(second))
    assert look(world, second).state is HandoffState.OPEN


def test_a_part_is_kept_and_the_rest_is_handed_on_as_often_as_it_takes(office: Office, world: World) -> None:
    office.import_items(for_a_person())
    office.begin()
    for number in range(1, 6):
        attempt = wait_for_handoff(office, number=number)
        work_by_hand(world, run_of(office), f"part {number}\n")
        answer(world, attempt, AnswerStatus.PARTIAL, f"part {number} of 5")
    last = wait_for_handoff(office, number=6)
    assert "ada says: part 5 of 5" in asyncio.run(world.handoffs.read_prompt(last))
    answer(world, last, AnswerStatus.COMPLETE)
    office.finish()
    assert office.records.story("A")[:6] == ["execute partial"] * 5 + ["execute completed"]
    assert world.files()["A.txt"] == "part 5\n"


def test_people_take_no_slot(open_office: Callable[..., Office], world: World) -> None:
    office = open_office(Limits(parallel=1))
    office.import_items(for_a_person("A"), for_a_person("B"), item("C"))
    office.begin()
    for name in "AB":
        wait_for_handoff(office, name)
    office.wait(lambda: office.records.statuses()["C"] == "done")
    for name in "AB":
        work_by_hand(world, run_of(office, name))
        answer(world, f"{run_of(office, name).id}/1", AnswerStatus.COMPLETE)
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}


def test_an_answer_is_taken_though_the_run_was_ended_in_between(
    open_office: Callable[..., Office], world: World
) -> None:
    office = open_office()
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    office.engine.stop(StopReason.INTERRUPTED)
    office.finish()
    assert office.records.state().phase is PlanPhase.IDLE
    assert look(world, attempt).state is HandoffState.OPEN
    work_by_hand(world, run_of(office))
    answer(world, attempt, AnswerStatus.COMPLETE)
    again = open_office()
    again.run()
    assert again.records.story("A")[0] == "execute completed"
    assert again.records.statuses() == {"A": "done"}


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_killed_process_changes_nothing(
    open_office: Callable[..., Office], world: World, *, is_recorded: bool
) -> None:
    """Whether or not it had come to write down that the work is handed over."""
    office = open_office()
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office) if is_recorded else None
    office.wait(lambda: asyncio.run(world.handoffs.list_all()))
    again = open_office()
    again.begin()
    assert wait_for_handoff(again) == attempt or attempt is None
    assert len(asyncio.run(world.handoffs.list_all())) == 1
    work_by_hand(world, run_of(again))
    answer(world, f"{run_of(again).id}/1", AnswerStatus.COMPLETE)
    again.finish()
    assert again.records.statuses() == {"A": "done"}


def test_an_answer_to_what_was_cancelled_is_not_heard(office: Office, world: World) -> None:
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    assert outsider(office)[0].cancel(PLAN, ItemId("A"), "grace", "not wanted") == ""
    office.finish()
    assert office.records.story("A") == ["execute cancelled"]
    assert look(world, attempt).state is HandoffState.WITHDRAWN
    with pytest.raises(RuleViolation):
        answer(world, attempt, AnswerStatus.COMPLETE)
    assert outsider(office)[1].retry(PLAN, ItemId("A"), "grace") == ""
    office.begin()
    fresh = wait_for_handoff(office)
    assert fresh != attempt
    assert look(world, fresh).state is HandoffState.OPEN


def test_an_answer_that_cannot_be_used_is_told_once_and_a_good_one_is_taken(office: Office, world: World) -> None:
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    world.handoffs.spoil(attempt)
    office.wait(lambda: "cannot be used" in office.records.reason("A"))
    assert office.records.reason("A").endswith("; its answer cannot be used: it is not JSON")
    assert len(office.records.events("attempt_handed_over")) == 2
    work_by_hand(world, run_of(office))
    answer(world, attempt, AnswerStatus.COMPLETE)
    office.finish()
    assert office.records.statuses() == {"A": "done"}


def test_there_is_a_time_limit_where_one_is_set(open_office: Callable[..., Office], world: World) -> None:
    world.rules = Rules(limits=SessionLimits(handoff=timedelta(hours=2)))
    office = open_office()
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    world.clock.advance(timedelta(hours=2))
    wait_for_handoff(office, number=2)
    assert office.records.story("A")[0] == "execute timed_out"
    assert look(world, attempt).state is HandoffState.WITHDRAWN


def test_a_person_who_is_let_go_on_meanwhile_is_told_how_to_give_it_back(office: Office) -> None:
    office.import_items(for_a_person())
    office.begin()
    wait_for_handoff(office)
    refusal = outsider(office)[1].retry(PLAN, ItemId("A"), "grace")
    assert refusal == "attempt 1 is handed over: whilly handoff show A"


def test_the_time_of_a_run_ends_it_and_leaves_what_is_handed_over(office: Office, world: World) -> None:
    world.scripts["B", 1] = hang
    office.import_items(for_a_person(), item("B"))
    office.begin(timeout=timedelta(minutes=10))
    attempt = wait_for_handoff(office)
    office.wait_for_session("B")
    world.clock.advance(timedelta(minutes=10))
    office.finish()
    assert office.records.state().stop is StopReason.TIMEOUT
    assert look(world, attempt).state is HandoffState.OPEN


def test_a_stop_takes_back_what_is_handed_over_and_keeps_the_work(office: Office, world: World) -> None:
    office.import_items(for_a_person())
    office.begin()
    attempt = wait_for_handoff(office)
    work_by_hand(world, run_of(office))
    assert outsider(office)[1].stop_attempt(PLAN, ItemId("A"), "grace", "not now") == ""
    office.finish()
    assert office.records.story("A") == ["execute interrupted"]
    assert (office.records.statuses()["A"], office.records.reason("A")) == ("human_loop", "stopped by grace: not now")
    assert look(world, attempt).state is HandoffState.WITHDRAWN
    assert f"refs/whilly/wip/{attempt}" in world.history.refs


def test_an_agent_that_is_stopped_ends_alone_and_waits_for_a_person(office: Office, world: World) -> None:
    world.scripts["A", 1] = world.scripts["B", 1] = hang
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait_for_session("A")
    office.wait_for_session("B")
    planning = outsider(office)[1]
    assert planning.say(PLAN, ItemId("A"), "ada", "the other way") == ""
    assert planning.stop_attempt(PLAN, ItemId("A"), "ada") == ""
    office.wait(lambda: office.records.statuses()["A"] == "human_loop")
    assert office.records.story("B") == ["execute …"]
    assert planning.stop_attempt(PLAN, ItemId("A"), "ada") == "nothing is being done for it"
    assert planning.retry(PLAN, ItemId("A"), "ada") == ""
    office.wait(lambda: office.records.statuses()["A"] == "done")
    assert "ada says: the other way" in next(scene for scene in world.scenes if scene.number == 2).prompt
    world.sessions.finish(office.records.home("B", 1), Exit(code=0))
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}


def test_an_agent_that_ended_by_itself_before_the_stop_goes_on(office: Office, world: World) -> None:
    world.scripts["A", 1] = hang
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    run = run_of(office)
    world.sessions.finish(office.records.home("A", 1), Exit(code=0))
    # Whichever of the two is seen first: its work is not thrown away.
    refusal = outsider(office)[1].stop_attempt(PLAN, run.item, "ada")
    office.finish()
    assert office.records.statuses()["A"] in ({"done"} if refusal else {"done", "human_loop"})
    assert any(ref.startswith(f"refs/whilly/wip/{run.id}") for ref in world.history.refs)
