"""A plan being worked on: who may start, and when it stops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from whilly.domain.flow.budget import Purse, Spend
from whilly.domain.ids import PlanId

if TYPE_CHECKING:
    from collections.abc import Sequence


SOLO = "solo"
"""The pipeline of a developer's own plan."""
FORGE = "forge"
"""The pipeline of issues."""


class PlanPhase(StrEnum):
    """Whether runs of the plan may start attempts."""

    IDLE = "idle"
    """Nobody works on it now: before the first start, or after a stop."""
    ACTIVE = "active"
    STOPPING = "stopping"
    """Nothing new starts; what is running is being ended."""


class StopReason(StrEnum):
    """Why work on a plan stopped before everything had ended."""

    INTERRUPTED = "interrupted"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    AUTH = "auth"
    ITERATIONS = "iterations"


_MILD = (StopReason.ITERATIONS, StopReason.BUDGET)
"""Reasons that forbid agents only, each less than the next: checks and merges of what agents have done are free."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one `whilly run` may use.

    Attributes:
        parallel: runs at the same time.
        budget: USD over the plan's whole life; None is no limit.
        task: the same, for each of its items.
        day: USD over all plans of the ledger, since midnight by this machine's time.
        project: USD over all plans of the ledger.
        reservation: USD that one attempt is expected to cost at most, and counts as when nobody knows.
        max_iterations: agent attempts that may be started; 0 is no limit.
    """

    parallel: int = 3
    budget: Decimal | None = None
    task: Decimal | None = None
    day: Decimal | None = None
    project: Decimal | None = None
    reservation: Decimal = Decimal(1)
    max_iterations: int = 0

    @property
    def has_budget(self) -> bool:
        """Whether anything limits what an attempt may cost."""
        return any(cap is not None for cap in (self.budget, self.task, self.day, self.project))


@dataclass(frozen=True, slots=True)
class PlanRun:
    """A plan's position.

    Attributes:
        number: how many times work on it was begun.
        pipeline: the one that its runs go through.
        target: the branch that its items are integrated into.
        iterations: agent attempts started since work was last begun.
        is_warned: whether people were told that the budget is nearly gone.
        remedy: the command that mends what stopped it.
    """

    plan: PlanId
    phase: PlanPhase = PlanPhase.IDLE
    number: int = 0
    pipeline: str = SOLO
    target: str = ""
    base: str = ""
    limits: Limits = Limits()
    stop: StopReason | None = None
    remedy: str = ""
    iterations: int = 0
    is_warned: bool = False

    @property
    def is_winding_down(self) -> bool:
        """Whether no agent may start any more, but what agents have done is still checked and integrated."""
        return self.phase is PlanPhase.STOPPING and self.stop in _MILD

    def lets_start(self, *, is_agent: bool) -> bool:
        """Whether attempts of this kind may start at all."""
        return self.phase is PlanPhase.ACTIVE or (self.is_winding_down and not is_agent)


@dataclass(frozen=True, slots=True)
class Grant:
    """An attempt may start, and this much is reserved for it, in USD."""

    reserved: Decimal


@dataclass(frozen=True, slots=True)
class Hold:
    """An attempt may not start now.

    Attributes:
        stop: the plan has to stop for this reason; None: ask again later.
        remedy: what mends it.
        is_final: the item alone may have no attempt any more.
    """

    reason: str
    stop: StopReason | None = None
    remedy: str = ""
    is_final: bool = False


PLAN_REMEDY = "raise run.budget_usd or --budget"


def admit(
    plan: PlanRun, spend: Spend, wanted: Decimal, *, is_agent: bool, others: Sequence[Purse] = ()
) -> Grant | Hold:
    """Whether one more attempt may start now.

    Args:
        plan: its position.
        spend: what it has cost so far.
        wanted: USD that the attempt is expected to cost at most; 0 for one that costs nothing.
        is_agent: whether an agent is started; built-in actions cost nothing and need no money.
        others: caps beside the plan's own that the attempt counts against.
    """
    if not plan.lets_start(is_agent=is_agent):
        return Hold(f"work on the plan has stopped: {plan.stop}" if plan.stop else "nobody works on the plan")
    purses = (Purse("plan", plan.limits.budget, spend, PLAN_REMEDY), *others)
    return _admit_agent(plan, purses, wanted) if is_agent else Grant(Decimal(0))


def _admit_agent(plan: PlanRun, purses: Sequence[Purse], wanted: Decimal) -> Grant | Hold:
    limits = plan.limits
    if limits.max_iterations and plan.iterations >= limits.max_iterations:
        return Hold(f"{plan.iterations} attempts were started, which is the limit", StopReason.ITERATIONS)
    empty = next((purse for purse in purses if purse.is_exhausted), None)
    if empty is not None:
        of_task = empty.name == "task"
        reason = f"the {empty.name}'s budget of ${empty.cap} is spent"
        return Hold(reason, None if of_task else StopReason.BUDGET, empty.remedy, is_final=of_task)
    grants = [purse.grant(wanted) for purse in purses] if wanted else [wanted]
    given = [each for each in grants if each is not None]
    if len(given) < len(grants):
        return Hold("the rest of the budget is reserved by attempts under way")
    return Grant(min(given))


def activate(plan: PlanRun, limits: Limits, *, base: str, target: str, pipeline: str = SOLO) -> PlanRun:
    """Work on the plan begins, or begins again; what was spent and done stays."""
    return replace(
        plan,
        phase=PlanPhase.ACTIVE,
        number=plan.number + 1,
        pipeline=pipeline,
        limits=limits,
        base=base,
        target=target,
        stop=None,
        remedy="",
        iterations=0,
        is_warned=plan.is_warned and limits.budget == plan.limits.budget,
    )


def count_iteration(plan: PlanRun) -> PlanRun:
    """One more agent attempt was started."""
    return replace(plan, iterations=plan.iterations + 1)


def stop(plan: PlanRun, reason: StopReason, remedy: str = "") -> PlanRun:
    """Nothing new starts from now on; the first reason stands, unless it lets things go on that this one does not."""
    is_stronger = plan.stop in _MILD and reason not in _MILD[: _MILD.index(plan.stop) + 1]
    if plan.phase is not PlanPhase.ACTIVE and not is_stronger:
        return plan
    return replace(plan, phase=PlanPhase.STOPPING, stop=reason, remedy=remedy)
