"""Who may start, and when a plan stops."""

from __future__ import annotations

from decimal import Decimal

import pytest

from whilly.domain.flow.budget import BELIEVABLE, Purse, Spend, grant, is_exhausted, is_worth_a_warning, settle
from whilly.domain.flow.plan_run import (
    Grant,
    Hold,
    Limits,
    PlanPhase,
    PlanRun,
    StopReason,
    activate,
    admit,
    count_iteration,
    stop,
)
from whilly.domain.ids import PlanId

ONE = Decimal(1)


def active(**limits: object) -> PlanRun:
    return activate(PlanRun(PlanId("p")), Limits(**limits), base="main", target="main")  # type: ignore[arg-type]  # the fields' names and types are the caller's


def spent(settled: str, reserved: str = "0") -> Spend:
    return Spend(Decimal(settled), Decimal(reserved))


@pytest.mark.parametrize(
    ("cap", "spend", "granted"),
    [
        (None, spent("1000", "1000"), "1"),
        ("10", spent("0"), "1"),
        ("10", spent("8.5", "0.5"), "1"),
        ("10", spent("8.5", "1"), "0.5"),
        ("10", spent("9", "1"), None),
        ("10", spent("10"), None),
        ("10", spent("11"), None),
        ("0", spent("0"), None),
    ],
)
def test_no_more_is_granted_than_is_left_beside_what_is_reserved(
    cap: str | None, spend: Spend, granted: str | None
) -> None:
    expected = Decimal(granted) if granted else None
    assert grant(Decimal(cap) if cap else None, spend, ONE) == expected


@pytest.mark.parametrize(
    ("settled", "is_warned", "is_over"),
    [("7.99", False, False), ("8", True, False), ("9.99", True, False), ("10", True, True)],
)
def test_people_are_warned_at_four_fifths_and_the_money_is_gone_at_the_cap(
    *, settled: str, is_warned: bool, is_over: bool
) -> None:
    cap, spend = Decimal(10), spent(settled, "99")
    assert (is_worth_a_warning(cap, spend), is_exhausted(cap, spend)) == (is_warned, is_over)
    assert (is_worth_a_warning(None, spend), is_exhausted(None, spend)) == (False, False)


@pytest.mark.parametrize(
    ("cost", "counts"),
    [
        ("0", "0"),
        ("0.25", "0.25"),
        ("7", "7"),
        (None, "1"),
        ("-0.01", "1"),
        ("NaN", "1"),
        ("Infinity", "1"),
        ("1e9", "1"),
    ],
)
def test_a_cost_that_nobody_knows_counts_as_what_was_reserved(cost: str | None, counts: str) -> None:
    assert settle(ONE, Decimal(cost) if cost else None) == Decimal(counts)
    assert settle(ONE, BELIEVABLE) == BELIEVABLE


def test_an_idle_plan_admits_nothing() -> None:
    idle = PlanRun(PlanId("p"))
    assert admit(idle, Spend(), ONE, is_agent=True) == Hold("nobody works on the plan")
    assert admit(idle, Spend(), ONE, is_agent=False) == Hold("nobody works on the plan")


@pytest.mark.parametrize("reason", [StopReason.INTERRUPTED, StopReason.TIMEOUT, StopReason.AUTH])
@pytest.mark.parametrize("is_agent", [True, False])
def test_a_plan_that_stops_admits_nothing(reason: StopReason, *, is_agent: bool) -> None:
    verdict = admit(stop(active(), reason), Spend(), ONE, is_agent=is_agent)
    assert verdict == Hold(f"work on the plan has stopped: {reason}")


def test_built_in_actions_need_no_money() -> None:
    assert admit(active(budget=ONE), spent("5"), Decimal(0), is_agent=False) == Grant(Decimal(0))


def test_an_agent_gets_what_it_needs_or_what_is_left() -> None:
    assert admit(active(), spent("99"), ONE, is_agent=True) == Grant(ONE)
    assert admit(active(budget=Decimal("1.5")), spent("1"), ONE, is_agent=True) == Grant(Decimal("0.5"))


def test_an_agent_waits_while_others_have_reserved_the_rest() -> None:
    verdict = admit(active(budget=ONE), spent("0.5", "0.5"), ONE, is_agent=True)
    assert verdict == Hold("the rest of the budget is reserved by attempts under way")


def test_a_claim_never_waits_for_money_while_nothing_is_under_way() -> None:
    for cents in range(100):
        verdict = admit(active(budget=ONE), Spend(Decimal(cents) / 100), ONE, is_agent=True)
        assert isinstance(verdict, Grant)
        assert verdict.reserved > 0


def test_a_spent_budget_stops_the_plan() -> None:
    verdict = admit(active(budget=ONE), spent("1"), ONE, is_agent=True)
    assert verdict == Hold("the plan's budget of $1 is spent", StopReason.BUDGET, "raise run.budget_usd or --budget")


def test_the_smallest_rest_of_all_budgets_is_reserved() -> None:
    others = [Purse("day", Decimal(9), spent("8.7")), Purse("project", None, spent("99"))]
    assert admit(active(budget=ONE), Spend(), ONE, is_agent=True, others=others) == Grant(Decimal("0.3"))
    reserved = [Purse("day", Decimal(9), spent("8", "1"))]
    waits = admit(active(), Spend(), ONE, is_agent=True, others=reserved)
    assert waits == Hold("the rest of the budget is reserved by attempts under way")


def test_a_spent_budget_of_one_task_ends_that_task_alone() -> None:
    task = Purse("task", ONE, spent("1"), "raise it")
    verdict = admit(active(), spent("1"), ONE, is_agent=True, others=[task])
    assert verdict == Hold("the task's budget of $1 is spent", remedy="raise it", is_final=True)
    assert admit(active(), spent("1"), ONE, is_agent=False, others=[task]) == Grant(Decimal(0))


def test_agents_may_start_as_often_as_the_limit_says() -> None:
    plan = active(max_iterations=2)
    for _ in range(2):
        assert isinstance(admit(plan, Spend(), ONE, is_agent=True), Grant)
        plan = count_iteration(plan)
    assert admit(plan, Spend(), ONE, is_agent=True) == Hold(
        "2 attempts were started, which is the limit", StopReason.ITERATIONS
    )


@pytest.mark.parametrize("reason", [StopReason.ITERATIONS, StopReason.BUDGET])
def test_what_agents_have_done_is_still_checked_and_integrated_when_no_more_may_start(reason: StopReason) -> None:
    plan = stop(active(max_iterations=1), reason)
    assert plan.is_winding_down
    assert isinstance(admit(plan, Spend(), Decimal(0), is_agent=False), Grant)
    assert isinstance(admit(plan, Spend(), ONE, is_agent=True), Hold)


def test_the_first_reason_to_stop_stands() -> None:
    plan = stop(active(), StopReason.AUTH, "log in")
    for reason in StopReason:
        assert stop(plan, reason) == plan
    assert (plan.phase, plan.stop, plan.remedy) == (PlanPhase.STOPPING, StopReason.AUTH, "log in")


def test_a_plan_that_winds_down_can_still_be_stopped() -> None:
    for first in (StopReason.ITERATIONS, StopReason.BUDGET):
        plan = stop(stop(active(), first), StopReason.INTERRUPTED)
        assert (plan.stop, plan.is_winding_down) == (StopReason.INTERRUPTED, False)
    spent = stop(active(), StopReason.BUDGET)
    assert stop(spent, StopReason.ITERATIONS) == spent
    assert stop(stop(active(), StopReason.ITERATIONS), StopReason.BUDGET) == spent


def test_a_plan_that_nobody_works_on_is_not_stopped() -> None:
    idle = PlanRun(PlanId("p"))
    assert stop(idle, StopReason.TIMEOUT) == idle


def test_work_begins_anew_with_new_limits_and_without_the_old_stop() -> None:
    plan = count_iteration(stop(active(max_iterations=1), StopReason.ITERATIONS, "more"))
    again = activate(plan, Limits(parallel=1), base="dev", target="whilly/x")
    assert again == PlanRun(
        PlanId("p"), PlanPhase.ACTIVE, number=2, target="whilly/x", base="dev", limits=Limits(parallel=1)
    )


def test_people_are_warned_once_for_each_budget() -> None:
    plan = active(budget=ONE)
    warned = PlanRun(**{name: getattr(plan, name) for name in plan.__slots__} | {"is_warned": True})
    assert activate(warned, Limits(budget=ONE), base="", target="").is_warned
    assert not activate(warned, Limits(budget=Decimal(2)), base="", target="").is_warned
