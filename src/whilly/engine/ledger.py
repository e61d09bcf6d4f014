"""The ledger: what has happened, written down before anything follows from it.

Every public method is one transaction. It locks the plan's row, so that changes to one plan come one after the other
whoever makes them; it may be called from any thread.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol, final

from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.confinement import Tier
from whilly.domain.flow import event as events
from whilly.domain.flow import plan_run
from whilly.domain.flow.account import Account, learn
from whilly.domain.flow.budget import Spend
from whilly.domain.flow.event import (
    AttemptEnded,
    AttemptHandedOver,
    AttemptStarted,
    BudgetSpent,
    CancelRequested,
    Deferred,
    Released,
    StopRequested,
    Told,
)
from whilly.domain.flow.lifecycle import StartAttempt, decide, due
from whilly.domain.flow.plan_run import SOLO, Grant, Hold, Limits, PlanRun, StopReason
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId, SessionId
from whilly.domain.work_item import ItemStatus
from whilly.engine import codec
from whilly.engine.plan_unit import SLOT_PHASES, PlanUnit, Sources
from whilly.engine.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import sqlalchemy as sa

    from whilly.domain.flow.pipeline import Pipeline
    from whilly.domain.plan import Plan
    from whilly.domain.schedule import Frontier
    from whilly.ports.checkpoint import Checkpoint
    from whilly.ports.clock import Clock


Spoken = AttemptHandedOver | CancelRequested | Released | StopRequested | Told
"""What people say about a run, and what is handed to them."""


class Enqueue(Protocol):
    """Asks for a run to be driven, as part of a transaction."""

    def __call__(self, connection: sa.Connection, run: RunId, key: str, /) -> None:
        """Ask; the same key twice is one request."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """What the driver knows about the attempt that it wants to start.

    Attributes:
        agent: empty for a built-in action.
        wanted: USD that it is expected to cost at most.
        substitutes: agents that may take over while the account of this one is limited, in order.
        tier: how far it will be held.
    """

    agent: str = ""
    wanted: Decimal = Decimal(0)
    session: SessionId | None = None
    base: CommitId | None = None
    substitutes: tuple[Offer, ...] = ()
    tier: Tier = Tier.OPEN


@dataclass(frozen=True, slots=True)
class Claimed:
    """An attempt is under way on paper.

    Attributes:
        run: its new position.
        plan: the plan's position.
    """

    run: Run
    event: AttemptStarted
    plan: PlanRun


@final
class Ledger:
    """Moves runs and plans by what has happened to them.

    Args:
        pipelines: by name; the plan's own is the one that its runs go through.
        enqueue: None for a process that records what people say, but starts nothing.
    """

    def __init__(
        self,
        database: sa.Engine,
        clock: Clock,
        pipelines: Mapping[str, Pipeline],
        enqueue: Enqueue | None,
        checkpoint: Checkpoint,
    ) -> None:
        self._database = database
        self._clock = clock
        self._pipelines = pipelines
        self._enqueue = enqueue
        self._checkpoint = checkpoint
        self._frontiers: dict[PlanId, tuple[int, Frontier]] = {}
        self._written: dict[PlanId, tuple[int, PlanRun]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def unit(self, name: str, plan: PlanId, definition: Plan | None = None) -> Iterator[PlanUnit]:
        """A change to `plan`; what follows from it is drawn when the block ends, and all of it is committed or none.

        Args:
            name: what is being done, one of `UNITS`.
            plan: the one that changes.
            definition: its items from now on; a new plan begins idle and without items.
        """
        self._checkpoint(f"{name}:before")
        with self._lock:
            frontier: Frontier | None = None
            with self._database.begin() as connection:
                tx = Transaction(connection, self._clock.now())
                if definition is not None:
                    tx.plans.put(definition)
                state, version = tx.plans.lock(plan)
                known = self._frontiers.pop(plan, None)
                at_hand = known[1] if known and known[0] == version - 1 else None
                unit = PlanUnit(tx, state, at_hand, self._sources(tx, state, version))
                if plan in self._written and self._written[plan][0] != version - 1:
                    # Somebody else has written since, and this version hides theirs from whoever looks later.
                    unit.drive_due()
                yield unit
                frontier = unit.finish()
                self._checkpoint(f"{name}:inside")
            self._written[plan] = (version, unit.state)
            if frontier is not None:
                self._frontiers[plan] = (version, frontier)
        self._checkpoint(f"{name}:after")

    def _sources(self, tx: Transaction, state: PlanRun, version: int) -> Sources:
        return Sources(
            pipelines=self._pipelines,
            definition=lambda: tx.plans.definition(state.plan),
            enqueue=lambda run, number: self._ask(tx, run, f"{run.id}/{number}/{version}"),
            may_start=self._enqueue is not None,
        )

    def _ask(self, tx: Transaction, run: Run, key: str) -> None:
        if self._enqueue is not None:
            self._enqueue(tx.connection, run.id, key)

    def begin(self, plan: PlanId, limits: Limits, *, base: str, target: str, pipeline: str = SOLO) -> None:
        """Work on the plan begins, or begins again where it was: open runs are driven on, new ones are started."""
        with self.unit("begin", plan) as unit:
            unit.state = plan_run.activate(unit.state, limits, base=base, target=target, pipeline=pipeline)
            unit.tx.plans.mark_begun(plan)
            unit.note(
                "plan_begun", number=unit.state.number, parallel=limits.parallel, budget=limits.budget, target=target
            )
            unit.watch_budget()
            for run in unit.tx.runs.open(plan):
                unit.drive(self._try_again(unit, run))

    def _try_again(self, unit: PlanUnit, run: Run) -> Run:
        """A built-in action that waits for a person has no question, only something in its way: look again."""
        stage = self._pipelines[run.pipeline].stages.get(run.stage)
        if stage is None or stage.is_agent or run.wait is None or run.wait.until is not None:
            return run
        return self._apply(unit, run, events.Released("whilly run", unit.tx.now))

    def rest_others(self, plan: PlanId) -> None:
        """Nobody works on any other plan: a killed process could not say so itself."""
        with self._database.begin() as connection:
            others = Transaction(connection, self._clock.now()).plans.restless(plan)
        for other in others:
            with self.unit("rest", other) as unit:
                unit.rest()

    def claim(self, run_id: RunId, plan: PlanId, offer: Offer) -> Claimed | Hold:
        """Start the run's next attempt on paper: its number, its money. Only then may anything start for real."""
        with self.unit("claim", plan) as unit:
            run = unit.tx.runs.get(run_id)
            step = due(run)
            if not isinstance(step, StartAttempt):
                return Hold("nothing is due for this run")
            offer, account = self._choose(unit, offer)
            verdict = self._admit(unit, run, step, offer)
            if isinstance(verdict, Hold):
                if verdict.stop:
                    unit.stop(verdict.stop, verdict.remedy)
                if verdict.is_final:
                    self._apply(unit, run, BudgetSpent(unit.tx.now, f"{verdict.reason} → {verdict.remedy}"))
                return verdict
            if account.until and account.is_limited(unit.tx.now):
                # It waits without a slot: what another agent can do goes on meanwhile.
                reason = f"its account is limited: {account.reason}"
                self._apply(unit, run, Deferred(account.name, unit.tx.now, account.until, reason))
                return Hold(reason)
            return self._start(unit, run, offer, verdict.reserved)

    def _choose(self, unit: PlanUnit, offer: Offer) -> tuple[Offer, Account]:
        """The first agent whose account is not limited; of limited ones the one that is free again first."""
        offers = {each.agent: each for each in (offer, *offer.substitutes)}
        if not offer.agent:
            return offer, Account("")
        found = unit.tx.accounts.find(offers)
        now = unit.tx.now
        account = min(found.values(), key=lambda one: one.until if one.until and one.is_limited(now) else now)
        return replace(offers[account.name], session=offer.session, base=offer.base, tier=offer.tier), account

    def _admit(self, unit: PlanUnit, run: Run, step: StartAttempt, offer: Offer) -> Grant | Hold:
        if step.not_before and step.not_before > unit.tx.now:
            return Hold(run.wait.reason if run.wait else "it is too early")
        slots = unit.state.limits.parallel
        # A queued run has a slot already, unless it was let go on by a person or there are fewer slots than before.
        rivals = SLOT_PHASES if run.phase is Phase.WAITING else (Phase.RUNNING,)
        if unit.tx.runs.count(run.plan, *rivals) >= slots:
            return Hold(f"all {slots} slots are taken")
        if not offer.agent:
            return plan_run.admit(unit.state, Spend(), offer.wanted, is_agent=False)
        spent = unit.tx.attempts.spend(run.plan)
        others = unit.tx.attempts.purses(run.plan, run.item, unit.state.limits)
        return plan_run.admit(unit.state, spent, offer.wanted, is_agent=True, others=others)

    def _start(self, unit: PlanUnit, run: Run, offer: Offer, reserved: Decimal) -> Claimed:
        event = AttemptStarted(
            number=run.attempt + 1,
            stage=run.stage,
            at=unit.tx.now,
            agent=offer.agent,
            session=offer.session,
            base=offer.base,
            tier=offer.tier,
            reserved=reserved,
        )
        after = self._apply(unit, run, event)
        unit.tx.attempts.start(run, event)
        if offer.agent:
            unit.state = plan_run.count_iteration(unit.state)
        return Claimed(after, event, unit.state)

    def end_attempt(self, run_id: RunId, plan: PlanId, number: int, result: AttemptResult, remedy: str = "") -> Run:
        """An attempt has come to its outcome. Its cost counts even when the attempt no longer does."""
        with self.unit("end_attempt", plan) as unit:
            result = self._learn(unit, run_id, number, result)
            unit.tx.attempts.end(run_id, number, result)
            run = self._apply(unit, unit.tx.runs.get(run_id), AttemptEnded(number, result, unit.tx.now))
            if result.outcome is Outcome.AUTH_FAILED:
                unit.stop(StopReason.AUTH, remedy)
            unit.watch_budget()
            return run

    def _learn(self, unit: PlanUnit, run_id: RunId, number: int, result: AttemptResult) -> AttemptResult:
        """Write down what the attempt's end says about its account; the result, with the time at which it is free."""
        agent, began = unit.tx.attempts.begun(run_id, number)
        if not agent:
            return result
        before = unit.tx.accounts.find([agent])[agent]
        after = learn(before, result, began, unit.tx.now)
        if after != before:
            unit.tx.accounts.put(after)
            if after.until:
                unit.note("account_limited", account=agent, until=after.until, reason=after.reason)
            else:
                unit.note("account_works_again", account=agent)
        return replace(result, retry_at=after.until) if result.outcome is Outcome.LIMITED else result

    def _apply(self, unit: PlanUnit, run: Run, event: events.RunEvent) -> Run:
        """Let `decide` say what the event means, and store both."""
        decision = decide(run, event, self._pipelines[run.pipeline])
        kind = next(name for name, of in events.type_names.items() if isinstance(event, of))
        unit.tx.append(f"{kind}_refused" if decision.refusal else kind, run.plan, codec.dump(event), run=run)
        if not decision.refusal:
            unit.move(run, decision.run)
        return decision.run

    def tell(self, unit: PlanUnit, run: Run, event: Spoken) -> str:
        """Record what a person says or has, within a change to the run's plan; empty, or why that cannot be."""
        if isinstance(event, CancelRequested | StopRequested) and unit.tx.attempts.has_candidate(run):
            return f"{run.item} is being integrated; `whilly run` brings that to its end if nobody does"
        decision = decide(run, event, self._pipelines[run.pipeline])
        if not decision.refusal:
            unit.drive(self._apply(unit, run, event))
        return decision.refusal

    def keep_candidate(self, run_id: RunId, plan: PlanId, number: int, commit: CommitId) -> bool:
        """An attempt is about to make `commit` the target's head; False when it must not, being superseded.

        From then on until it ends, its run cannot be cancelled: people are told what the branch holds.
        """
        with self.unit("keep_candidate", plan) as unit:
            run = unit.tx.runs.get(run_id)
            is_current = run.phase is Phase.RUNNING and run.attempt == number
            if is_current:
                unit.tx.attempts.keep_candidate(run_id, number, commit)
            return is_current

    def written(self, plan: PlanId) -> PlanRun | None:
        """The plan as it was written here last; known without asking the database."""
        return self._written[plan][1] if plan in self._written else None

    def refresh(self, plan: PlanId, version: int) -> None:
        """When somebody else has made `version`: start what may start now, go on with what was released."""
        with self._lock:  # A change that is being committed here at this moment is not somebody else's.
            is_ours = plan in self._written and version <= self._written[plan][0]
        if not is_ours:
            with self.unit("refresh", plan) as unit:
                unit.drive_due()

    def close_run(self, run: RunId, plan: PlanId) -> None:
        """An ended run's workspace was put away."""
        with self.unit("close_run", plan) as unit:
            unit.tx.runs.close(run)

    def stop(self, plan: PlanId, reason: StopReason, remedy: str = "") -> None:
        """Nothing new starts; what runs is to be ended."""
        with self.unit("stop", plan) as unit:
            unit.stop(reason, remedy)

    def cancel(self, plan: PlanId, item: ItemId, by: str, reason: str = "") -> str:
        """A person does not want the item any more, nor its parts; empty, or why that cannot be."""
        with self.unit("cancel", plan) as unit:
            refusal = self._cancel(unit, item, by, reason)
            if not refusal:
                # One that is over, or on its way to the branch, stays as it is; who waits for another comes first.
                for part in reversed(unit.parts_of(item)):
                    self._cancel(unit, part, by, f"{item} was cancelled")
            return refusal

    def _cancel(self, unit: PlanUnit, item: ItemId, by: str, reason: str) -> str:
        plan = unit.state.plan
        run = unit.tx.runs.find_current(plan, item)
        if run is not None and not run.is_ended:
            return self.tell(unit, run, CancelRequested(by, unit.tx.now, reason))
        status = unit.tx.items.statuses(plan).get(item)
        said = f"cancelled by {by}" + (f": {reason}" if reason else "")
        if status in {ItemStatus.FAILED, ItemStatus.BLOCKED, ItemStatus.HUMAN_LOOP}:
            # It has come to its end, or cannot begin: nobody wants it tried again.
            unit.tx.items.set(plan, [(item, ItemStatus.SKIPPED, said)])
            unit.forget_frontier()
        elif status is ItemStatus.PENDING:
            unit.settle_item(item, ItemStatus.SKIPPED, said)
        else:
            return f"{item} is {status}" if status else f"there is no {item} in the plan"
        unit.note("item_skipped", item=item, reason=said)
        return ""
