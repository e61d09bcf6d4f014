"""Money, time, people and ends of processes: what stops a plan, and how it goes on."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.domain.attempt import Outcome
from whilly.domain.flow.plan_run import Limits, PlanPhase, StopReason
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.session import Exit
from whilly.domain.work_item import ItemStatus
from whilly.engine.ledger import Ledger
from whilly.engine.planning import Planning
from whilly.testing.office import PLAN, Office
from whilly.testing.world import Scene, World, hang, item, say, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.adapters.memory.sessions import Play


def costing(usd: str | None) -> Callable[[Scene], Play]:
    """Works, for this much."""

    def script(scene: Scene) -> Play:
        work(scene)
        return say(cost=usd)

    return script


def recorder(office: Office) -> Ledger:
    """The ledger as another process has it: it writes down what people say, and starts nothing."""
    return Ledger(office.database, office.world.clock, office.world.pipelines, None, office.world.passed.append)


# Money


def test_people_are_warned_once_and_the_plan_stops_when_the_money_is_gone(
    open_office: Callable[..., Office], world: World
) -> None:
    world.default = costing("0.45")
    office = open_office(Limits(parallel=1, budget=Decimal(1), reservation=Decimal("0.5")))
    office.import_items(*(item(name) for name in "ABCDE"))
    office.run()
    # The third attempt gets the ten cents that are left, and takes more.
    assert list(office.records.statuses().values()).count("done") >= 2
    assert office.records.spent() == Decimal("1.35")
    assert office.records.state().stop is StopReason.BUDGET
    assert len(office.records.events("budget_warning")) == 1
    assert world.scenes[2].launch is not None
    assert len(world.scenes) == 3


def test_the_money_that_was_spent_is_remembered(open_office: Callable[..., Office], world: World) -> None:
    world.default = costing("0.5")
    limits = Limits(parallel=1, budget=Decimal(1), reservation=Decimal("0.5"))
    office = open_office(limits)
    office.import_items(*(item(name) for name in "ABC"))
    office.run()
    again = open_office(limits)
    again.run()
    assert (len(world.scenes), again.records.spent()) == (2, Decimal(1))
    assert again.records.state().stop is StopReason.BUDGET
    richer = open_office(Limits(parallel=1, budget=Decimal(2), reservation=Decimal("0.5")))
    richer.run()
    assert set(richer.records.statuses().values()) == {"done"}
    assert richer.records.spent() == Decimal("1.5")


def test_a_cost_that_nobody_knows_counts_as_its_reservation(open_office: Callable[..., Office], world: World) -> None:
    world.default = costing(None)
    office = open_office(Limits(parallel=1, budget=Decimal(1), reservation=Decimal("0.4")))
    office.import_items(*(item(name) for name in "ABCD"))
    office.run()
    costs = sorted((row.cost, row.basis) for row in office.records.attempts() if row.agent and row.cost is not None)
    assert costs == [(Decimal("0.2"), "reserved"), (Decimal("0.4"), "reserved"), (Decimal("0.4"), "reserved")]


def test_agents_that_run_are_ended_when_the_money_is_gone(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = hang
    world.scripts["B", 1] = costing("5")
    office = open_office(Limits(parallel=2, budget=Decimal(1), reservation=Decimal("0.5")))
    office.import_items(item("A"), item("B"))
    office.run()
    assert office.records.story("A") == ["execute over_budget"]
    assert office.records.state().stop is StopReason.BUDGET
    assert office.records.statuses()["A"] == "in_progress"
    assert "refs/whilly/wip/" + office.records.attempts("A")[0].run + "/1" in world.history.refs


def test_a_claim_waits_while_others_have_reserved_the_rest(open_office: Callable[..., Office], world: World) -> None:
    world.default = lambda scene: hang(scene) if len(world.scenes) == 1 else work(scene)
    office = open_office(Limits(parallel=2, budget=Decimal(1), reservation=Decimal(1)))
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait(lambda: any("reserved" in reason for reason in office.engine.live.holds.values()))
    office.wait(lambda: world.scenes)
    (first,) = world.scenes
    world.sessions.finish(office.records.home(first.item, 1), Exit(code=0))
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}


# Time, iterations, signals


def test_the_time_limit_ends_what_runs_and_what_was_done_is_kept(
    open_office: Callable[..., Office], world: World
) -> None:
    world.scripts["A", 1] = hang
    office = open_office(Limits(parallel=1))
    office.import_items(item("A"), item("B"))
    office.begin(timeout=timedelta(minutes=10))
    office.wait_for_session("A")
    world.clock.advance(timedelta(minutes=9))
    office.engine.tick()
    assert office.records.state().phase is PlanPhase.ACTIVE
    world.clock.advance(timedelta(minutes=1))
    office.finish()
    assert office.records.state().stop is StopReason.TIMEOUT
    assert office.records.story("A") == ["execute interrupted"]
    again = open_office(Limits(parallel=1))
    again.run()
    assert set(again.records.statuses().values()) == {"done"}
    assert again.records.state().stop is None


def test_checks_that_hang_end_with_the_run_and_count_for_nothing(
    open_office: Callable[..., Office], world: World
) -> None:
    office = open_office(Limits(parallel=1))
    office.import_items(item("A", steps=("sleep 3600",)))
    office.begin()
    office.wait(lambda: world.checks.asked)
    office.engine.stop(StopReason.INTERRUPTED)
    office.finish()
    (_, verify) = office.records.attempts("A")
    assert verify.result is not None
    assert (verify.result.outcome, verify.result.is_deliberate) == (Outcome.INTERRUPTED, True)
    assert [path for path in world.history.folders if "checkouts" in path] == []


def test_checks_of_a_cancelled_item_end(office: Office, world: World) -> None:
    office.import_items(item("A", steps=("sleep 3600",)))
    office.begin()
    office.wait(lambda: world.checks.asked)
    assert recorder(office).cancel(PLAN, ItemId("A"), "ada") == ""
    office.finish()
    assert office.records.statuses() == {"A": "skipped"}
    assert office.records.story("A") == ["execute completed", "verify cancelled"]


def test_no_more_agents_start_than_was_said_but_their_work_is_integrated(
    open_office: Callable[..., Office], world: World
) -> None:
    office = open_office(Limits(parallel=2, max_iterations=2))
    office.import_items(*(item(name) for name in "ABCD"))
    office.run()
    assert office.records.state().stop is StopReason.ITERATIONS
    statuses = list(office.records.statuses().values())
    # Whether a run of C or D was made before the last of the two ended is a matter of moments.
    assert statuses.count(ItemStatus.DONE) == 2
    assert {*statuses} <= {ItemStatus.DONE, ItemStatus.IN_PROGRESS, ItemStatus.PENDING}
    assert len(world.scenes) == 2
    again = open_office(Limits(parallel=2, max_iterations=2))
    again.run()
    assert set(again.records.statuses().values()) == {"done"}


def test_a_signal_ends_everything_and_the_next_run_goes_on(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = world.scripts["B", 1] = hang
    office = open_office()
    office.import_items(item("A"), item("B"), item("C"))
    office.begin()
    office.wait_for_session("A")
    office.wait_for_session("B")
    office.engine.stop(StopReason.INTERRUPTED)
    office.finish()
    assert office.records.state().stop is StopReason.INTERRUPTED
    assert office.records.story("A") == office.records.story("B") == ["execute interrupted"]
    again = open_office()
    again.run()
    assert set(again.records.statuses().values()) == {"done"}
    assert [row.number for row in again.records.attempts("A")] == [1, 2, 3, 4]


def test_a_stop_does_not_leak_into_the_next_time_of_work(office: Office, world: World) -> None:
    world.scripts["A", 1] = hang
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    office.engine.stop(StopReason.INTERRUPTED)
    office.finish()
    office.run()
    assert office.records.statuses() == {"A": "done"}
    assert office.records.story("A")[1:] == ["execute completed", "verify completed", "integrate completed"]


# People


def test_an_item_is_cancelled_by_another_process_while_its_agent_runs(office: Office, world: World) -> None:
    world.scripts["A", 1] = hang
    office.import_items(item("A"), item("B", "A"), item("C"))
    office.begin()
    office.wait_for_session("A")
    assert recorder(office).cancel(PLAN, ItemId("A"), "ada", "not needed") == ""
    office.finish()
    assert office.records.statuses() == {"A": "skipped", "B": "blocked", "C": "done"}
    assert office.records.reason("A") == "cancelled by ada: not needed"
    (ended,) = office.records.attempts("A")
    assert ended.result is not None
    assert ended.result.outcome is Outcome.CANCELLED
    assert ended.cost is not None
    assert world.integrated() == ["C"]
    assert len(office.records.events("attempt_ended_refused")) == 1


def test_an_item_is_cancelled_while_nobody_works_and_its_process_is_ended(
    open_office: Callable[..., Office], world: World
) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    home = office.records.home("A", 1)
    again = open_office()
    assert recorder(again).cancel(PLAN, ItemId("A"), "ada") == ""
    again.run()
    assert again.records.story("A") == ["execute cancelled"]
    assert again.records.attempts("A")[0].cost is not None
    assert world.sessions._sessions[home].exit.cause == "stopped"
    assert again.records.reading.unclosed(PLAN) == set()


def test_a_queued_item_is_cancelled_before_it_ran(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = hang
    office = open_office(Limits(parallel=1))
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait_for_session("A")
    assert recorder(office).cancel(PLAN, ItemId("B"), "ada") == ""
    world.sessions.finish(office.records.home("A", 1), Exit(code=0))
    office.finish()
    assert office.records.statuses() == {"A": "done", "B": "skipped"}


def test_a_question_ends_the_run_and_an_answer_lets_it_go_on(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = lambda _scene: say(Outcome.ASKED, "which port?", session="talk")
    office = open_office()
    office.import_items(item("A"), item("B", "A"), item("C"))
    office.run()
    assert office.records.statuses() == {"A": "human_loop", "B": "pending", "C": "done"}
    assert (office.records.state().phase, office.records.state().stop) == (PlanPhase.IDLE, None)
    planning = Planning(recorder(office), world.pipelines)
    assert planning.retry(PLAN, ItemId("A"), "ada", "8080") == ""
    again = open_office()
    again.run()
    assert set(again.records.statuses().values()) == {"done"}
    assert "ada says: 8080" in next(scene for scene in world.scenes if scene.number == 2).prompt


def test_an_answer_is_heard_while_others_run(office: Office, world: World) -> None:
    world.scripts["A", 1] = lambda _scene: say(Outcome.ASKED, "which?")
    world.scripts["B", 1] = hang
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait_for_session("B")
    office.wait(lambda: office.records.statuses()["A"] == "human_loop")
    planning = Planning(recorder(office), world.pipelines)
    assert planning.retry(PLAN, ItemId("A"), "ada") == ""
    office.wait(lambda: office.records.statuses()["A"] == "done")
    world.sessions.finish(office.records.home("B", 1), Exit(code=0))
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}


def test_what_others_write_is_not_hidden_by_what_we_write_after_them(office: Office, world: World) -> None:
    world.scripts["A", 1] = lambda _scene: say(Outcome.ASKED, "which?")
    world.scripts["B", 1] = hang
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait_for_session("B")
    office.wait(lambda: office.records.statuses()["A"] == "human_loop")
    Planning(recorder(office), world.pipelines).retry(PLAN, ItemId("A"), "ada")
    # Before the engine looks, it writes itself: the version that it sees is its own.
    office.ledger.stop(PlanId(PLAN), StopReason.ITERATIONS)
    office.wait(lambda: office.records.state().stop is not None)
    world.sessions.finish(office.records.home("B", 1), Exit(code=0))
    office.finish()
    again_statuses = office.records.statuses()
    assert again_statuses["B"] == "done"


def test_a_failed_item_is_tried_again_and_its_dependants_with_it(
    open_office: Callable[..., Office], world: World
) -> None:
    for number in (1, 2, 3):
        world.scripts["A", number] = lambda _scene: say(Outcome.CRASHED, "boom")
    office = open_office()
    office.import_items(item("A"), item("B", "A"), item("C", "B"))
    office.run()
    assert office.records.statuses() == {"A": "failed", "B": "blocked", "C": "blocked"}
    world.scripts.clear()
    planning = Planning(recorder(office), world.pipelines)
    assert planning.retry(PLAN, ItemId("C"), "ada") == ""
    assert office.records.statuses()["C"] == "blocked"
    assert planning.retry(PLAN, ItemId("A"), "ada") == ""
    assert office.records.statuses() == {"A": "pending", "B": "pending", "C": "pending"}
    assert planning.retry(PLAN, ItemId("A"), "ada") == (
        "A is pending; only failed, blocked, skipped and waiting items can be tried again"
    )
    assert planning.retry(PLAN, ItemId("X"), "ada") == "there is no X in the plan"
    again = open_office()
    again.run()
    assert set(again.records.statuses().values()) == {"done"}
    assert len({row.run for row in again.records.attempts("A")}) == 2
    assert again.records.spent() == Decimal("0.60")


def test_everything_begins_anew_after_a_reset_but_the_money_is_remembered(
    open_office: Callable[..., Office], world: World
) -> None:
    office = open_office()
    office.import_items(item("A"), item("B"))
    office.run()
    assert Planning(recorder(office), world.pipelines).reset(PLAN) == 2
    assert set(office.records.statuses().values()) == {"pending"}
    again = open_office()
    again.run()
    assert set(again.records.statuses().values()) == {"done"}
    assert again.records.spent() == Decimal("0.40")


def test_a_reset_ends_what_was_left_running(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    first = office.records.home("A", 1)
    again = open_office()
    assert Planning(recorder(again), world.pipelines).reset(PLAN) == 1
    world.scripts.clear()
    again.run()
    assert again.records.statuses() == {"A": "done"}
    assert world.sessions._sessions[first].exit.cause == "stopped"
    assert all(row.result is not None for row in again.records.attempts())


# Plans that change, and several of them


def test_a_plan_that_was_changed_is_imported_again_and_known_items_keep_their_status(
    open_office: Callable[..., Office],
) -> None:
    office = open_office()
    assert office.import_items(item("A"), item("B")).added == ("A", "B")
    office.run()
    changed = office.import_items(item("C", "A"), item("A"))
    assert (changed.added, changed.dropped) == (("C",), ("B",))
    assert list(office.records.statuses().items()) == [("C", "pending"), ("A", "done")]
    office.run()
    assert office.records.statuses() == {"C": "done", "A": "done"}
    assert office.import_items(item("C", "A"), item("A")) == type(changed)((), ())


def test_an_item_that_left_the_plan_is_ended_where_it_stands(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait_for_session("A")
    home = office.records.home("A", 1)
    again = open_office()
    again.import_items(item("B"))
    again.run()
    assert again.records.statuses() == {"B": "done"}
    assert world.sessions._sessions[home].exit.cause == "stopped"


def test_two_plans_one_after_the_other_in_one_process(office: Office, world: World) -> None:
    other = PlanId("other")
    office.import_items(item("A"))
    office.import_items(item("X"), plan=other)
    office.run()
    world.clock.advance(timedelta(minutes=1))
    office.run(other)
    assert office.records.statuses() == {"A": "done"}
    assert office.records.statuses(other) == {"X": "done"}
    assert [row.id for row in office.records.reading.plans()] == [other, PLAN]


def test_a_plan_that_a_dead_process_left_active_is_at_rest_when_another_begins(
    open_office: Callable[..., Office], world: World
) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    again = open_office()
    other = PlanId("other")
    again.import_items(item("X"), plan=other)
    again.run(other)
    assert again.records.state().phase is PlanPhase.IDLE
    assert again.records.story("A") == ["execute …"]
    world.sessions.finish(again.records.home("A", 1), Exit(code=0))
    again.run()
    assert again.records.statuses() == {"A": "done"}
    assert world.sessions.started.count(world.sessions.started[0]) == 1


# Ends of the process


@pytest.mark.parametrize("how", ["alive", "ended", "lost"])
def test_a_session_is_adopted_collected_or_begun_anew_by_the_next_process(
    open_office: Callable[..., Office], world: World, how: str
) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    home = office.records.home("A", 1)
    office.engine.close()
    if how == "ended":
        world.sessions.finish(home, Exit(code=0))
    if how == "lost":
        world.sessions.lose(home)
    again = open_office()
    again.begin()
    if how == "alive":
        again.wait(lambda: ItemId("A") in again.engine.live.attempts)
        world.sessions.finish(home, Exit(code=0))
    again.finish()
    assert again.records.statuses() == {"A": "done"}
    first = "execute interrupted" if how == "lost" else "execute completed"
    assert again.records.story("A")[0] == first
    assert len(world.scenes) == (2 if how == "lost" else 1)
