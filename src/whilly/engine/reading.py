"""Reads the ledger; never starts the engine, never locks anything."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

import sqlalchemy as sa

from whilly.application.telling.rows import AttemptRow, EventRow, ItemRow, PlanRow
from whilly.domain.attempt import AttemptResult
from whilly.domain.errors import RuleViolation
from whilly.domain.flow.budget import Booked, settle
from whilly.domain.flow.pipeline import END, Pipeline, Stage
from whilly.domain.flow.plan_run import PlanPhase, PlanRun, StopReason
from whilly.domain.flow.run import Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.plan import Plan
from whilly.domain.work_item import ItemStatus, WorkItem
from whilly.engine import codec, statements
from whilly.engine.database import snapshot
from whilly.engine.tables import attempts, events, plans, runs, spend, work_items

IN_ONE_QUERY = 500
"""How many names one statement may ask for; the oldest SQLite allows 999."""


if TYPE_CHECKING:
    from whilly.domain.flow.event import AttemptStarted


@dataclass(frozen=True, slots=True)
class Position:
    """Everything about a run that driving it needs.

    Attributes:
        agent: of the attempt under way; empty when none is, or it is a built-in action.
        is_under_way: an attempt has begun and not come to its outcome, even if the run was ended meanwhile.
        reserved: USD, for the attempt under way.
        spent: USD, by all earlier attempts of the run.
        booked: what the earlier attempts in the run's session were booked with.
        candidate: what the attempt under way was about to make the target's head.
        source: the plan's file.
    """

    run: Run
    stage: Stage
    item: WorkItem
    plan: PlanRun
    started_at: datetime
    is_under_way: bool = False
    agent: str = ""
    reserved: Decimal = Decimal(0)
    spent: Decimal = Decimal(0)
    booked: Booked = field(default_factory=Booked)
    candidate: CommitId | None = None
    instructions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""

    def under_way(self, run: Run, event: AttemptStarted, plan: PlanRun) -> Position:
        """The same run, with this attempt under way."""
        return replace(
            self,
            run=run,
            plan=plan,
            started_at=event.at,
            is_under_way=True,
            agent=event.agent,
            reserved=event.reserved,
            candidate=None,
        )

    def ended(self, run: Run, stage: Stage, result: AttemptResult) -> Position:
        """The same run after its attempt; what the attempt cost is spent."""
        cost = settle(self.reserved, result.usage.cost_usd if result.usage else None) if self.agent else Decimal(0)
        is_same = result.session is None or result.session == self.run.session
        booked = self.booked if is_same else Booked()
        return replace(
            self,
            run=run,
            stage=stage,
            is_under_way=False,
            agent="",
            reserved=Decimal(0),
            spent=self.spent + cost,
            booked=booked.add(result.usage, cost) if result.session else booked,
            candidate=None,
        )


@dataclass(frozen=True, slots=True)
class Glance:
    """As much of a plan as the engine has to look at all the time.

    Attributes:
        ended: of the runs that were asked about, those that have ended.
        stopped: and those whose attempt a person wants to end.
    """

    phase: PlanPhase
    stop: StopReason | None
    version: int
    ended: tuple[RunId, ...]
    stopped: tuple[Run, ...] = ()


@final
class Reading:
    """Questions about the ledger."""

    def __init__(self, database: sa.Engine, pipelines: Mapping[str, Pipeline]) -> None:
        self._database = database
        self._pipelines = pipelines
        self._items: dict[PlanId, dict[ItemId, WorkItem]] = {}
        self._plans: dict[PlanId, tuple[str, Plan]] = {}

    def plans(self) -> list[PlanRow]:
        """All plans, the one that was worked on last first."""
        columns = (plans.c.id, plans.c.name, plans.c.source, plans.c.state, plans.c.version)
        query = sa.select(*columns, plans.c.begun_at, plans.c.ended_at)
        query = query.order_by(sa.func.coalesce(plans.c.begun_at, plans.c.created_at).desc())
        with self._database.connect() as tx:
            return [
                PlanRow(PlanId(r.id), r.name, r.source, codec.load(PlanRun, r.state), r.version, r.begun_at, r.ended_at)
                for r in tx.execute(query)
            ]

    def plan(self, plan: PlanId) -> PlanRow:
        """One plan.

        Raises:
            RuleViolation: there is no such plan.
        """
        for row in self.plans():
            if row.id == plan:
                return row
        message = f"plan {plan} is not in the ledger"
        raise RuleViolation(message, remedy="whilly run PLAN")

    def definition(self, plan: PlanId) -> Plan:
        """The plan, as imported."""
        with self._database.connect() as tx:
            return self._definition(tx, plan)

    def position(self, run_id: RunId) -> Position:
        """Everything about a run that driving it needs.

        Raises:
            RuleViolation: there is no such run.
        """
        query = (
            sa.select(runs.c.state, runs.c.created_at, plans.c.state.label("plan"))
            .join(plans)
            .where(runs.c.id == run_id)
        )
        with snapshot(self._database) as tx:
            row = tx.execute(query).one_or_none()
            if row is None:
                message = f"run {run_id} is not in the ledger"
                raise RuleViolation(message)
            run = codec.load(Run, row.state)
            plan = self._definition(tx, run.plan)
            current, spent = self._money(tx, run)
            return Position(
                run=run,
                stage=self.stage(run),
                item=self._item(plan, run.item),
                plan=codec.load(PlanRun, row.plan),
                started_at=current.started_at if current else row.created_at,
                is_under_way=current is not None,
                agent=current.agent if current else "",
                reserved=(current.reserved if current else None) or Decimal(0),
                spent=spent,
                booked=self._booked(tx, run),
                candidate=current.candidate if current else None,
                instructions=plan.instructions,
                source=plan.source,
            )

    def stage(self, run: Run) -> Stage:
        """The stage that the run is at; one that its pipeline has lost is an action that nobody can carry out."""
        found = self._pipelines[run.pipeline].stages.get(run.stage)
        return found or Stage(run.stage, END, action=run.stage)

    def items(self, plan: PlanId, item: ItemId | None = None) -> list[ItemRow]:
        """A plan's items in its order, or one of them alone."""
        columns = (work_items.c.id, work_items.c.status, work_items.c.reason, runs.c.state)
        query = sa.select(*columns).outerjoin(runs, work_items.c.run == runs.c.id).where(work_items.c.plan == plan)
        if item is not None:
            query = query.where(work_items.c.id == item)
        with snapshot(self._database) as tx:
            of = self._definition(tx, plan)
            return [
                ItemRow(
                    self._item(of, ItemId(row.id)),
                    ItemStatus(row.status),
                    row.reason,
                    codec.load(Run, row.state) if row.state else None,
                )
                for row in tx.execute(query.order_by(work_items.c.position))
            ]

    def attempts(self, plan: PlanId, item: ItemId | None = None) -> list[AttemptRow]:
        """Attempts of a plan, or of one of its items, in order."""
        money = sa.and_(spend.c.run == attempts.c.run, spend.c.number == attempts.c.number)
        joined = attempts.join(runs, runs.c.id == attempts.c.run).outerjoin(spend, money)
        query = sa.select(attempts, runs.c.item, spend.c.reserved, spend.c.settled, spend.c.basis)
        query = query.select_from(joined).where(runs.c.plan == plan)
        if item is not None:
            query = query.where(runs.c.item == item)
        with self._database.connect() as tx:
            return [_attempt(row) for row in tx.execute(query.order_by(attempts.c.started_at, attempts.c.number))]

    def events(self, plan: PlanId, item: ItemId | None = None, after: int = 0) -> list[EventRow]:
        """What has happened to a plan, or to one of its items, oldest first."""
        query = sa.select(events).where((events.c.plan == plan) & (events.c.id > after)).order_by(events.c.id)
        if item is not None:
            query = query.where(events.c.item == item)
        with snapshot(self._database) as tx:
            rows = list(tx.execute(query))
            numbers = {row.id: _attempt_number(row) for row in rows}
            stages = self._stages(tx, [row.run for row in rows if numbers[row.id]])
        return [
            EventRow(r.id, r.run, r.item, r.type, r.at, r.data, stages.get((r.run, numbers[r.id]), "")) for r in rows
        ]

    def counts(self, plan: PlanId) -> dict[ItemStatus, int]:
        """How many items have each status."""
        query = sa.select(work_items.c.status, sa.func.count()).where(work_items.c.plan == plan)
        with self._database.connect() as tx:
            return {ItemStatus(status): n for status, n in tx.execute(query.group_by(work_items.c.status))}

    def version(self, plan: PlanId) -> int:
        """Goes up with every change to the plan."""
        with self._database.connect() as tx:
            return tx.scalar(statements.VERSION, {"of_plan": plan}) or 0

    def glance(self, plan: PlanId, driven: Collection[RunId]) -> Glance:
        """Where the plan stands, and which of the runs that are being driven have ended."""
        with snapshot(self._database) as tx:
            row = tx.execute(statements.STANDING, {"of_plan": plan}).one()
            gone = tx.scalars(statements.ENDED, {"of_runs": list(driven)}) if driven else ()
            ended = tuple(RunId(name) for name in gone)
            texts = tx.scalars(statements.STOPPED, {"of_runs": list(driven)}) if driven else ()
            stopped = tuple(run for text in texts if (run := codec.load(Run, text)).stop)
        state = codec.load(PlanRun, row.state)
        return Glance(state.phase, state.stop, row.version, ended, stopped)

    def unclosed(self, plan: PlanId) -> set[RunId]:
        """Runs that have ended and whose workspace was not put away yet."""
        with self._database.connect() as tx:
            return {RunId(name) for name in tx.scalars(statements.UNCLOSED, {"of_plan": plan})}

    def _stages(self, tx: sa.Connection, of: Sequence[str]) -> dict[tuple[str, int], str]:
        """The stages of all attempts of these runs, by run and number."""
        names = sorted(set(of))
        columns = (attempts.c.run, attempts.c.number, attempts.c.stage)
        found: dict[tuple[str, int], str] = {}
        for start in range(0, len(names), IN_ONE_QUERY):
            some = names[start : start + IN_ONE_QUERY]
            rows = tx.execute(sa.select(*columns).where(attempts.c.run.in_(some)))
            found |= {(row.run, row.number): row.stage for row in rows}
        return found

    def _definition(self, tx: sa.Connection, plan: PlanId) -> Plan:
        digest = tx.scalar(sa.select(plans.c.digest).where(plans.c.id == plan))
        known = self._plans.get(plan)
        if known is not None and known[0] == digest:
            return known[1]
        text = tx.scalar(sa.select(plans.c.definition).where(plans.c.id == plan))
        if digest is None or text is None:
            message = f"plan {plan} is not in the ledger"
            raise RuleViolation(message, remedy="whilly run PLAN")
        definition = codec.load(Plan, text)
        self._plans[plan] = (digest, definition)
        self._items[plan] = {item.id: item for item in definition.items}
        return definition

    def _item(self, plan: Plan, item: ItemId) -> WorkItem:
        return self._items[plan.id].get(item) or WorkItem(item, "(not in the plan any more)")

    def _money(self, tx: sa.Connection, run: Run) -> tuple[Any, Decimal]:
        spent = tx.scalar(sa.select(sa.func.sum(spend.c.settled)).where(spend.c.run == run.id)) or Decimal(0)
        money = sa.and_(spend.c.run == attempts.c.run, spend.c.number == attempts.c.number)
        columns = (attempts.c.started_at, attempts.c.agent, attempts.c.candidate, spend.c.reserved)
        query = sa.select(*columns).outerjoin(spend, money)
        where = (attempts.c.run == run.id) & (attempts.c.number == run.attempt) & attempts.c.outcome.is_(None)
        return tx.execute(query.where(where)).one_or_none(), spent

    def _booked(self, tx: sa.Connection, run: Run) -> Booked:
        """What the earlier attempts in the run's session were booked with; a session's id is unique to it."""
        booked = Booked()
        if run.session is None:
            return booked
        money = sa.and_(spend.c.run == attempts.c.run, spend.c.number == attempts.c.number)
        where = (attempts.c.run == run.id) & (attempts.c.session == run.session) & attempts.c.result.is_not(None)
        query = sa.select(attempts.c.result, spend.c.settled).outerjoin(spend, money).where(where)
        for row in tx.execute(query.order_by(attempts.c.number)):
            result = codec.load(AttemptResult, row.result)
            booked = booked.add(result.usage, row.settled or Decimal(0)) if result.session else booked
        return booked


def _attempt_number(event: sa.Row[Any]) -> int:
    """The number of the attempt that an event is about; 0 when it is about none."""
    if not event.run or not event.type.startswith("attempt_"):
        return 0
    number = json.loads(event.data).get("number", 0)
    return number if isinstance(number, int) else 0


def _attempt(row: sa.Row[Any]) -> AttemptRow:
    return AttemptRow(
        run=RunId(row.run),
        number=row.number,
        stage=row.stage,
        agent=row.agent,
        started_at=row.started_at,
        ended_at=row.ended_at,
        result=codec.load(AttemptResult, row.result) if row.result else None,
        session=row.session,
        reserved=row.reserved,
        cost=row.settled,
        basis=row.basis,
        item=row.item,
    )
