"""One change to a plan: within one transaction, with everything that follows from it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from whilly.domain.attempt import Evidence
from whilly.domain.flow import plan_run
from whilly.domain.flow.budget import is_exhausted, is_worth_a_warning
from whilly.domain.flow.lifecycle import due
from whilly.domain.flow.pipeline import Pipeline
from whilly.domain.flow.plan_run import PlanPhase, PlanRun, StopReason
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import ItemId, PlanId, RunId
from whilly.domain.plan import Plan
from whilly.domain.schedule import Frontier
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from datetime import datetime

    from whilly.engine.transaction import Transaction

SLOT_PHASES = (Phase.QUEUED, Phase.RUNNING)
"""Runs in these phases take one of the plan's parallel slots; waiting ones give theirs to others."""


def run_id(plan: PlanId, item: ItemId, number: int, since: datetime) -> RunId:
    """A run's id: fit for paths and refs, and never that of a run in another ledger.

    Files, processes and refs have names made of it and may outlive their ledger; a later one must not take them for its
    own. So `since`, when the plan came into this ledger, is a part of it.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", item.lower()).strip("-")[:40] or "item"
    digest = hashlib.sha256(f"{plan}\0{item}\0{since.isoformat()}".encode()).hexdigest()[:8]
    return RunId(f"{readable}-{digest}-{number}")


def is_early(run: Run, now: datetime) -> bool:
    """Whether a run has to wait on: for a later moment, or for somebody."""
    return run.wait is not None and (run.wait.until is None or run.wait.until > now)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a change to a plan may need.

    Attributes:
        pipelines: by name.
        definition: gives the plan's items; asked only when the frontier has to be built.
        enqueue: asks for a run to be driven, in this transaction, during the plan's n-th time of work.
        may_start: whether this process may start runs; one that only records what people say leaves it to the engine.
    """

    pipelines: Mapping[str, Pipeline]
    definition: Callable[[], Plan]
    enqueue: Callable[[Run, int], None]
    may_start: bool = True


@final
class PlanUnit:
    """A plan's row, locked, with its frontier; `finish` draws the consequences and stores the plan.

    Args:
        tx: the open transaction.
        state: the plan's position.
        frontier: the one that fits the stored statuses, if it is at hand.
        sources: what else is needed.
    """

    def __init__(self, tx: Transaction, state: PlanRun, frontier: Frontier | None, sources: Sources) -> None:
        self.tx = tx
        self.state = state
        self._stored = state
        self._frontier = frontier
        self._sources = sources
        self._driven: set[RunId] = set()

    @property
    def frontier(self) -> Frontier:
        """What may start; built from the stored statuses when it is not at hand."""
        if self._frontier is None:
            self._frontier = Frontier(self._sources.definition().items, self.tx.items.statuses(self.state.plan))
        return self._frontier

    def parts_of(self, whole: ItemId) -> list[ItemId]:
        """The parts of an item, in the plan's order."""
        return [each.id for each in self._sources.definition().items if each.parent == whole]

    def forget_frontier(self) -> None:
        """Statuses were changed behind its back: build it again when it is needed."""
        self._frontier = None

    def note(self, kind: str, *, item: ItemId | None = None, run: Run | None = None, **data: object) -> None:
        """Append an event that is about the plan rather than a step of a run."""
        self.tx.append(kind, self.state.plan, json.dumps(data, default=str), item=item, run=run)

    def move(self, before: Run, after: Run) -> None:
        """Store a run's new position and what it means for its item and for those that depend on it."""
        self.tx.runs.store(after)
        if after.ending:
            ending = after.ending
            self.note("run_ended", run=after, status=ending.status, reason=ending.reason, commit=ending.commit)
            self.settle_item(after.item, after.ending.status, after.ending.reason)
        elif after.wait and after.wait.is_for_people:
            self.tx.items.set(after.plan, [(after.item, ItemStatus.HUMAN_LOOP, after.wait.reason)])
        elif before.wait and before.wait.is_for_people:
            self.tx.items.set(after.plan, [(after.item, ItemStatus.IN_PROGRESS, "")])

    def settle_item(self, item: ItemId, status: ItemStatus, reason: str) -> None:
        """An item has its final status; those that needed it and cannot have it are blocked."""
        blocked = self.frontier.finish(item, status)
        self.tx.items.set(self.state.plan, [(item, status, reason)])
        self.block(blocked)

    def block(self, blocked: Iterable[tuple[ItemId, str]]) -> None:
        """Items that can never start, each with its reason."""
        for item, why in blocked:
            self.tx.items.set(self.state.plan, [(item, ItemStatus.BLOCKED, why)])
            self.note("item_blocked", item=item, reason=why)

    def stop(self, reason: StopReason, remedy: str = "") -> None:
        """Nothing new starts; the first reason stands."""
        stopped = plan_run.stop(self.state, reason, remedy)
        if stopped != self.state:
            self.state = stopped
            self.note("plan_stopping", reason=reason, remedy=remedy)

    def rest(self) -> None:
        """Nobody works on the plan any more."""
        self.note("plan_ended", stop=self.state.stop)
        self.state = replace(self.state, phase=PlanPhase.IDLE)

    def drive(self, run: Run) -> None:
        """Ask for a run to be driven."""
        if run.id not in self._driven:
            self._driven.add(run.id)
            self._sources.enqueue(run, self.state.number)

    def drive_due(self) -> None:
        """Ask for every run to be driven that can go on or has to be put away, whoever made it so."""
        for run in self.tx.runs.open(self.state.plan):
            if due(run) is not None:
                self.drive(run)

    def watch_budget(self) -> None:
        """Warn once, and stop when the money is gone."""
        for purse in self.tx.attempts.purses(self.state.plan, None, self.state.limits):
            if purse.is_exhausted:
                self.stop(StopReason.BUDGET, purse.remedy)
        cap = self.state.limits.budget
        if cap is None:
            return
        spent = self.tx.attempts.spend(self.state.plan)
        if is_worth_a_warning(cap, spent) and not self.state.is_warned:
            self.state = replace(self.state, is_warned=True)
            self.note("budget_warning", spent=spent.settled, budget=cap)
        if is_exhausted(cap, spent):
            self.stop(StopReason.BUDGET, plan_run.PLAN_REMEDY)

    def finish(self) -> Frontier | None:
        """Start what can be started, see whether the plan has come to rest, and store it."""
        if self.state.phase is PlanPhase.ACTIVE and self._sources.may_start:
            self._start_items()
        if self._sources.may_start and self.state.phase is not PlanPhase.IDLE and self._is_at_rest():
            self.rest()
            self.tx.plans.mark_ended(self.state.plan)
        if self.state != self._stored:
            self.tx.plans.store(self.state)
        return self._frontier

    def _start_items(self) -> None:
        plan = self.state.plan
        # Who has waited long enough comes before who has not begun.
        back = sum(not is_early(run, self.tx.now) for run in self.tx.runs.find(plan, Phase.WAITING))
        free = self.state.limits.parallel - self.tx.runs.count(plan, *SLOT_PHASES) - back
        for item in self.frontier.start(free) if free > 0 else []:
            number = self.tx.runs.count_of(plan, item) + 1
            pipeline = self._sources.pipelines[self.frontier.pipeline_of(item) or self.state.pipeline]
            said = self.tx.items.reason(plan, item)
            # To somebody who begins, it is a word on the way; to somebody who tries again, what to do differently.
            evidence = Evidence(summary=said) if said and number > 1 else None
            notes = () if evidence else tuple(said.splitlines())
            name = run_id(plan, item, number, self.tx.plans.since(plan))
            run = Run(name, plan, item, pipeline.name, pipeline.first, evidence=evidence, notes=notes)
            self.tx.runs.add(run)
            self.note("run_created", run=run)
            self.drive(run)

    def _is_at_rest(self) -> bool:
        plan = self.state.plan
        if self.state.is_winding_down and any(
            not self._sources.pipelines[run.pipeline].stages[run.stage].is_agent
            for run in self.tx.runs.find(plan, Phase.QUEUED)
        ):
            return False
        if self.state.phase is PlanPhase.STOPPING:
            return self.tx.runs.count(plan, Phase.RUNNING) == 0
        if self.tx.runs.count(plan, *SLOT_PHASES):
            return False
        return not any(run.wait and (run.wait.until or run.wait.is_handed_over) for run in self.tx.runs.open(plan))
