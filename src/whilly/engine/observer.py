"""Watches one plan; reads the ledger again only when the plan has changed, so looking often costs little."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

import sqlalchemy as sa

from whilly.application.telling.going_on import name_command
from whilly.application.telling.progress import Active, Money, Progress, Queued, Settled, Waiting, at_moment
from whilly.domain.errors import RuleViolation
from whilly.domain.flow.plan_run import PlanPhase, PlanRun
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.schedule import Frontier, WaitsForSlot
from whilly.domain.work_item import ItemStatus, WorkItem
from whilly.engine import codec, statements
from whilly.engine.database import snapshot
from whilly.engine.tables import attempts, events, plans, runs, spend, work_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.live import Live
    from whilly.application.telling.rows import EventRow
    from whilly.engine.reading import Reading
    from whilly.ports.clock import Clock

PAUSE_SECONDS = 0.4
"""The least time between two readings of a plan's rows."""

PAUSE_SHARE = 10
"""The least time between two readings, in durations of a reading: looking takes a tenth of a core at most."""

_UNDONE = (ItemStatus.FAILED, ItemStatus.SKIPPED, ItemStatus.BLOCKED)


@dataclass(frozen=True, slots=True)
class _Work:
    """When an item's newest run began and ended, and what all its runs have cost."""

    created_at: datetime
    ended_at: datetime | None
    spent: Decimal


@final
class Observer:
    """Says where a plan stands.

    Args:
        live: what this process's engine is doing; None when another process works on the plan, or nobody.
        after: news are the events after this id; None is those from now on.
    """

    def __init__(
        self,
        database: sa.Engine,
        reading: Reading,
        plan: PlanId,
        clock: Clock,
        live: Live | None = None,
        *,
        after: int | None = None,
    ) -> None:
        self._database = database
        self._reading = reading
        self._plan = plan
        self._clock = clock
        self._live = live
        self._after = self._latest_event() if after is None else after
        self._version = -1
        self._due = float("-inf")
        self._standing: Progress | None = None

    def look(self, *, at_once: bool = False) -> Progress:
        """Where the plan stands now, and what has happened since the last look.

        Args:
            at_once: the ledger is read even if it was read a moment ago; for the last look.

        Raises:
            RuleViolation: there is no such plan.
        """
        begun = self._clock.monotonic()
        if self._standing is not None and begun < self._due and not at_once:
            return at_moment(self._standing, self._clock.now(), self._live)
        news: tuple[EventRow, ...] = ()
        version = self._read_version()
        if self._standing is None or version != self._version:
            self._standing = self._read_standing()
            self._version = version
            news = tuple(self._reading.events(self._plan, after=self._after))
            self._after = news[-1].id if news else self._after
            self._due = begun + max(PAUSE_SECONDS, PAUSE_SHARE * (self._clock.monotonic() - begun))
        return at_moment(self._standing, self._clock.now(), self._live, news)

    def _latest_event(self) -> int:
        with self._database.connect() as tx:
            return tx.scalar(sa.select(sa.func.max(events.c.id)).where(events.c.plan == self._plan)) or 0

    def _read_version(self) -> int:
        with self._database.connect() as tx:
            version: int | None = tx.scalar(statements.VERSION, {"of_plan": self._plan})
        if version is None:
            message = f"plan {self._plan} is not in the ledger"
            raise RuleViolation(message, remedy="whilly run PLAN")
        return version

    def _read_standing(self) -> Progress:
        definition = self._reading.definition(self._plan)
        items = {item.id: item for item in definition.items}
        with snapshot(self._database) as tx:
            row = tx.execute(sa.select(plans).where(plans.c.id == self._plan)).one()
            state = codec.load(PlanRun, row.state)
            work = self._read_work(tx)
            open_runs = self._read_open_runs(tx)
            rows = self._read_items(tx)
            money = self._read_money(tx, state)
            active = self._read_active(tx, open_runs, items, work)
        done, undone = _settle(rows, items, work)
        return Progress(
            plan=self._plan,
            name=row.name,
            source=row.source,
            at=self._clock.now(),
            phase=state.phase,
            target=state.target,
            base=state.base,
            parallel=state.limits.parallel,
            stop=state.stop,
            remedy=state.remedy,
            begun_at=row.begun_at,
            ended_at=row.ended_at,
            counts=Counter(ItemStatus(each.status) for each in rows),
            active=active,
            waiting=_waiting(rows, open_runs, items),
            queue=_queue(definition.items, rows, state, name_command(row.source, row.name)),
            done=done,
            undone=undone,
            money=money,
        )

    def _read_items(self, tx: sa.Connection) -> list[sa.Row[Any]]:
        columns = (work_items.c.id, work_items.c.status, work_items.c.reason, work_items.c.run)
        query = sa.select(*columns).where(work_items.c.plan == self._plan).order_by(work_items.c.position)
        return list(tx.execute(query))

    def _read_work(self, tx: sa.Connection) -> dict[ItemId, _Work]:
        """By item: when its newest run began and ended, and what all its runs have cost."""
        spent = sa.func.sum(spend.c.settled)
        columns = (runs.c.item, runs.c.created_at, runs.c.ended_at, spent.label("spent"))
        query = sa.select(*columns).outerjoin(spend, spend.c.run == runs.c.id).where(runs.c.plan == self._plan)
        work: dict[ItemId, _Work] = {}
        for row in tx.execute(query.group_by(runs.c.id).order_by(runs.c.created_at)):
            earlier = work[row.item].spent if row.item in work else Decimal(0)
            work[row.item] = _Work(row.created_at, row.ended_at, earlier + (row.spent or Decimal(0)))
        return work

    def _read_open_runs(self, tx: sa.Connection) -> list[Run]:
        where = (runs.c.plan == self._plan) & (runs.c.is_closed == sa.false()) & (runs.c.phase != Phase.ENDED)
        query = sa.select(runs.c.state).where(where).order_by(runs.c.created_at, runs.c.id)
        return [codec.load(Run, text) for text in tx.scalars(query)]

    def _read_money(self, tx: sa.Connection, state: PlanRun) -> Money:
        reserved = sa.func.sum(sa.case((spend.c.settled.is_(None), spend.c.reserved)))
        row = tx.execute(sa.select(sa.func.sum(spend.c.settled), reserved).where(spend.c.plan == self._plan)).one()
        return Money(row[0] or Decimal(0), row[1] or Decimal(0), state.limits.budget)

    def _read_active(
        self, tx: sa.Connection, open_runs: list[Run], items: Mapping[ItemId, WorkItem], work: Mapping[ItemId, _Work]
    ) -> tuple[Active, ...]:
        going = [run for run in open_runs if run.phase is not Phase.WAITING]
        money = sa.and_(spend.c.run == attempts.c.run, spend.c.number == attempts.c.number)
        columns = (attempts.c.run, attempts.c.number, attempts.c.agent, attempts.c.started_at, spend.c.reserved)
        where = attempts.c.run.in_([run.id for run in going]) & attempts.c.outcome.is_(None)
        current = {
            (row.run, row.number): row for row in tx.execute(sa.select(*columns).outerjoin(spend, money).where(where))
        }
        found = []
        for run in going:
            row = current.get((run.id, run.attempt)) if run.phase is Phase.RUNNING else None
            spent = work[run.item]
            found.append(
                Active(
                    item=run.item,
                    title=_title(items, run.item),
                    stage=run.stage,
                    number=run.attempt if row else run.attempt + 1,
                    agent=row.agent if row else "",
                    since=row.started_at if row else spent.created_at,
                    is_under_way=row is not None,
                    run=run.id,
                    spent=spent.spent,
                    reserved=(row.reserved if row else None) or Decimal(0),
                )
            )
        return tuple(found)


def _title(items: Mapping[ItemId, WorkItem], item: ItemId) -> str:
    known = items.get(item)
    return known.title if known else "(not in the plan any more)"


def _waiting(rows: list[sa.Row[Any]], open_runs: list[Run], items: Mapping[ItemId, WorkItem]) -> tuple[Waiting, ...]:
    waits = [(run.item, run.wait) for run in open_runs if run.wait]
    found = [Waiting(i, _title(items, i), w.reason, w.since, w.until, w.whom) for i, w in waits]
    told = [row for row in rows if row.status == ItemStatus.HUMAN_LOOP and not row.run]
    return (*found, *(Waiting(row.id, _title(items, row.id), row.reason, whom="person") for row in told))


def _queue(items: tuple[WorkItem, ...], rows: list[sa.Row[Any]], state: PlanRun, again: str) -> tuple[Queued, ...]:
    statuses = {
        ItemId(row.id): ItemStatus.IN_PROGRESS
        if row.run and row.status == ItemStatus.HUMAN_LOOP
        else ItemStatus(row.status)
        for row in rows
    }
    if ItemStatus.PENDING not in statuses.values():
        return ()
    known = {item.id: item for item in items}
    waits = Frontier(items, statuses).waiting()
    ready = "" if state.phase is PlanPhase.ACTIVE else f"ready: it starts with the next `{again}`"
    return tuple(
        Queued(
            item,
            known[item].title,
            known[item].priority,
            ready if ready and isinstance(wait, WaitsForSlot) else str(wait),
            wait,
        )
        for item, wait in waits.items()
    )


def _settle(
    rows: list[sa.Row[Any]], items: Mapping[ItemId, WorkItem], work: Mapping[ItemId, _Work]
) -> tuple[tuple[Settled, ...], tuple[Settled, ...]]:
    """Done ones in the order of ending, and the others as `Progress` says."""
    over = [row for row in rows if row.status in {ItemStatus.DONE, *_UNDONE}]
    over.sort(key=lambda row: _ended(work.get(row.id)))
    settled = [_settled(row, items, work.get(row.id)) for row in over]
    undone = [each for each in reversed(settled) if each.status is not ItemStatus.DONE]
    return (
        tuple(each for each in settled if each.status is ItemStatus.DONE),
        tuple(sorted(undone, key=lambda each: _UNDONE.index(each.status))),
    )


def _ended(work: _Work | None) -> str:
    return work.ended_at.isoformat() if work and work.ended_at else ""


def _settled(row: sa.Row[Any], items: Mapping[ItemId, WorkItem], work: _Work | None) -> Settled:
    took: timedelta | None = work.ended_at - work.created_at if work and work.ended_at else None
    spent = work.spent if work else Decimal(0)
    return Settled(ItemId(row.id), _title(items, row.id), ItemStatus(row.status), row.reason, took, spent)
