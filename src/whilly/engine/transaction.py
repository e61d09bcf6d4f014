"""One transaction on the ledger: rows in and out as domain values. No rules here."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

import sqlalchemy as sa

from whilly.domain.attempt import AttemptResult, Usage
from whilly.domain.errors import RuleViolation
from whilly.domain.flow.account import Account
from whilly.domain.flow.budget import Purse, Spend, is_known, settle
from whilly.domain.flow.plan_run import PlanPhase, PlanRun
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.plan import Plan
from whilly.domain.work_item import ItemStatus
from whilly.engine import codec, statements
from whilly.engine.tables import accounts, attempts, plans, runs, spend, work_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from whilly.domain.flow.event import AttemptStarted
    from whilly.domain.flow.plan_run import Limits


REMEDIES = {
    "task": "raise run.task_budget_usd, then whilly retry",
    "day": "raise run.day_budget_usd, or go on tomorrow",
    "project": "raise run.project_budget_usd",
}
"""What lets work go on when a cap is spent."""


@final
class PlanRows:
    """Plans: their definition and their position."""

    def __init__(self, connection: sa.Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now

    def lock(self, plan: PlanId) -> tuple[PlanRun, int]:
        """The plan's position and its new version; its row is locked until this transaction ends.

        Raises:
            RuleViolation: there is no such plan.
        """
        # An update comes first: SQLite takes no lock for a select, and Postgres needs no other statement.
        row = self.connection.execute(statements.LOCK_PLAN, {"of_plan": plan}).one_or_none()
        if row is None:
            message = f"plan {plan} is not in the ledger"
            raise RuleViolation(message, remedy="whilly run PLAN")
        return codec.load(PlanRun, row.state), row.version

    def restless(self, besides: PlanId) -> list[PlanId]:
        """Plans that are being worked on, by what is stored, except one."""
        query = sa.select(plans.c.id).where((plans.c.phase != PlanPhase.IDLE) & (plans.c.id != besides))
        return [PlanId(name) for name in self.connection.scalars(query)]

    def store(self, state: PlanRun) -> None:
        """Store a plan's position."""
        values = {"of_plan": state.plan, "state": codec.dump(state), "phase": state.phase}
        self.connection.execute(statements.STORE_PLAN, values)

    def mark_begun(self, plan: PlanId) -> None:
        """Work on the plan begins now."""
        self.connection.execute(sa.update(plans).where(plans.c.id == plan).values(begun_at=self.now, ended_at=None))

    def mark_ended(self, plan: PlanId) -> None:
        """Work on the plan has ended now."""
        self.connection.execute(sa.update(plans).where(plans.c.id == plan).values(ended_at=self.now))

    def put(self, plan: Plan) -> None:
        """Store a plan's definition; a new one begins idle."""
        definition = codec.dump(plan)
        digest = hashlib.sha256(definition.encode()).hexdigest()
        names = {"name": codec.make_plain(plan.name), "source": codec.make_plain(plan.source)}
        values = {**names, "definition": definition, "digest": digest}
        if self.connection.execute(sa.update(plans).where(plans.c.id == plan.id).values(values)).rowcount:
            return
        state = PlanRun(plan.id)
        fresh = {"id": plan.id, "state": codec.dump(state), "phase": state.phase, "version": 1, "created_at": self.now}
        self.connection.execute(sa.insert(plans).values(**fresh, **values))

    def since(self, plan: PlanId) -> datetime:
        """When the plan came into this ledger."""
        since: datetime = self.connection.execute(statements.SINCE, {"of_plan": plan}).scalar_one()
        return since

    def definition(self, plan: PlanId) -> Plan:
        """The plan's items, as imported."""
        text = self.connection.scalar(sa.select(plans.c.definition).where(plans.c.id == plan))
        return codec.load(Plan, text or "")


@final
class ItemRows:
    """Items of plans: their status and their place."""

    def __init__(self, connection: sa.Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now

    def statuses(self, plan: PlanId) -> dict[ItemId, ItemStatus]:
        """Every item's status, in the order of the plan; an item whose run waits for a person is still in progress."""
        query = sa.select(work_items.c.id, work_items.c.status, work_items.c.run).where(work_items.c.plan == plan)
        rows = self.connection.execute(query.order_by(work_items.c.position))
        waiting = ItemStatus.HUMAN_LOOP
        return {
            ItemId(r.id): ItemStatus.IN_PROGRESS if r.run and r.status == waiting else ItemStatus(r.status)
            for r in rows
        }

    def find(self, plan: PlanId, *wanted: ItemStatus) -> list[ItemId]:
        """Items that have one of these statuses."""
        query = sa.select(work_items.c.id).where((work_items.c.plan == plan) & work_items.c.status.in_(wanted))
        return [ItemId(name) for name in self.connection.scalars(query.order_by(work_items.c.position))]

    def reason(self, plan: PlanId, item: ItemId) -> str:
        """Why an item has its status; of a pending one, what a person said when it was to be tried again."""
        return self.connection.scalar(statements.REASON, {"of_plan": plan, "of_id": item}) or ""

    def set(self, plan: PlanId, changes: Iterable[tuple[ItemId, ItemStatus, str]]) -> None:
        """Give items a status and its reason."""
        rows = [{"of_plan": plan, "of_id": i, "status": s, "reason": codec.make_plain(r)} for i, s, r in changes]
        if rows:
            self.connection.execute(statements.SET_ITEM, rows)

    def add(self, plan: PlanId, rows: list[Mapping[str, object]]) -> None:
        """Insert items: `id`, `position`, `status`, `reason`."""
        if rows:
            self.connection.execute(sa.insert(work_items), [{"plan": plan, **row} for row in rows])

    def move(self, plan: PlanId, item: ItemId, position: int) -> None:
        """Give an item another place in the order."""
        where = (work_items.c.plan == plan) & (work_items.c.id == item)
        self.connection.execute(sa.update(work_items).where(where).values(position=position))

    def drop(self, plan: PlanId, items: Iterable[ItemId]) -> None:
        """Forget items that are not in the plan any more; their runs and events stay."""
        where = (work_items.c.plan == plan) & work_items.c.id.in_(list(items))
        self.connection.execute(sa.delete(work_items).where(where))


@final
class RunRows:
    """Runs: their position."""

    def __init__(self, connection: sa.Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now

    def get(self, run: RunId) -> Run:
        """A run's position.

        Raises:
            RuleViolation: there is no such run.
        """
        text = self.connection.scalar(statements.RUN, {"of_run": run})
        if text is None:
            message = f"run {run} is not in the ledger"
            raise RuleViolation(message)
        return codec.load(Run, text)

    def add(self, run: Run) -> None:
        """Store a new run and make it its item's current one."""
        values = {"id": run.id, "plan": run.plan, "item": run.item, "is_closed": False, "created_at": self.now}
        self.connection.execute(sa.insert(runs).values(**values, **_position(run)))
        item = {"of_plan": run.plan, "of_id": run.item}
        change = {"run": run.id, "status": ItemStatus.IN_PROGRESS, "reason": ""}
        self.connection.execute(statements.BEGIN_ITEM, item | change)

    def store(self, run: Run) -> None:
        """Store a run's new position."""
        values = {"of_run": run.id, **_position(run)}
        if run.is_ended:
            self.connection.execute(statements.END_RUN, values | {"ended_at": self.now})
        else:
            self.connection.execute(statements.STORE_RUN, values)

    def close(self, run: RunId) -> None:
        """Remember that an ended run's workspace was put away."""
        self.connection.execute(statements.CLOSE_RUN, {"of_run": run})

    def find_current(self, plan: PlanId, item: ItemId) -> Run | None:
        """The newest run of an item."""
        query = sa.select(runs.c.state).join(work_items, work_items.c.run == runs.c.id)
        text = self.connection.scalar(query.where((work_items.c.plan == plan) & (work_items.c.id == item)))
        return codec.load(Run, text) if text else None

    def open(self, plan: PlanId) -> list[Run]:
        """Runs that have not ended, or whose workspace is still there."""
        return [codec.load(Run, text) for text in self.connection.scalars(statements.OPEN_RUNS, {"of_plan": plan})]

    def count(self, plan: PlanId, *phases: Phase) -> int:
        """How many runs of the plan are in one of these phases."""
        return self.connection.scalar(statements.COUNT_RUNS, {"of_plan": plan, "phases": phases}) or 0

    def find(self, plan: PlanId, phase: Phase) -> list[Run]:
        """Runs of the plan in this phase whose workspace is still there."""
        found = self.connection.scalars(statements.RUNS_IN_PHASE, {"of_plan": plan, "of_phase": phase})
        return [codec.load(Run, text) for text in found]

    def count_of(self, plan: PlanId, item: ItemId) -> int:
        """How many runs an item has had."""
        return self.connection.scalar(statements.COUNT_OF_ITEM, {"of_plan": plan, "of_item": item}) or 0


@final
class AttemptRows:
    """Attempts: how they ended and what they cost."""

    def __init__(self, connection: sa.Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now

    def start(self, run: Run, event: AttemptStarted) -> None:
        """Store an attempt and its reservation."""
        key = {"run": run.id, "number": event.number}
        values = {"stage": event.stage, "agent": event.agent, "session": event.session, "started_at": event.at}
        self.connection.execute(sa.insert(attempts).values(**key, **values))
        if event.agent:
            self.connection.execute(sa.insert(spend).values(**key, plan=run.plan, reserved=event.reserved))

    def begun(self, run: RunId, number: int) -> tuple[str, datetime]:
        """The agent of an attempt, and when it began."""
        row = self.connection.execute(statements.BEGUN, {"of_run": run, "of_number": number}).one()
        return row.agent, row.started_at

    def has_candidate(self, run: Run) -> bool:
        """Whether the attempt under way is about to make a commit the target's head, or has just done so."""
        where = (attempts.c.run == run.id) & (attempts.c.number == run.attempt) & attempts.c.outcome.is_(None)
        return self.connection.scalar(sa.select(attempts.c.candidate).where(where)) is not None

    def keep_candidate(self, run: RunId, number: int, commit: CommitId) -> None:
        """Store what an attempt is about to make the target's head."""
        self.connection.execute(statements.KEEP_CANDIDATE, {"of_run": run, "of_number": number, "candidate": commit})

    def end(self, run: RunId, number: int, result: AttemptResult) -> None:
        """Store how an attempt ended and what it cost; the first word stands."""
        which = {"of_run": run, "of_number": number}
        values = {"ended_at": self.now, "outcome": result.outcome, "result": codec.dump(result)}
        self.connection.execute(statements.END_ATTEMPT, {**which, **values, "named": result.session or None})
        reserved = self.connection.scalar(statements.RESERVED, which)
        if reserved is not None:
            cost = (result.usage or Usage()).cost_usd
            basis = "reported" if is_known(cost) else "reserved"
            amount = {"settled": settle(reserved, cost), "basis": basis}
            self.connection.execute(statements.SETTLE, which | amount)

    def spend(self, plan: PlanId) -> Spend:
        """What the plan has cost."""
        return self._sum(statements.SPEND, {"of_plan": plan})

    def purses(self, plan: PlanId, item: ItemId | None, limits: Limits) -> list[Purse]:
        """The caps beside the plan's own, as far as there are any; that of an item only when one is given."""
        midnight = self.now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        item_key = {"of_plan": plan, "of_item": item}
        found: tuple[tuple[Decimal | None, str, sa.Select[Any], Mapping[str, object]], ...] = (
            (limits.task if item else None, "task", statements.SPEND_OF_ITEM, item_key),
            (limits.day, "day", statements.SPEND_SINCE, {"of_day": midnight}),
            (limits.project, "project", statements.SPEND_OF_ALL, {}),
        )
        return [Purse(name, cap, self._sum(of, key), REMEDIES[name]) for cap, name, of, key in found if cap is not None]

    def _sum(self, statement: sa.Select[Any], key: Mapping[str, object]) -> Spend:
        row = self.connection.execute(statement, key).one()
        return Spend(row[0] or Decimal(0), row[1] or Decimal(0))


@final
class AccountRows:
    """Accounts: how far their limits are known."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection

    def find(self, names: Iterable[str]) -> dict[str, Account]:
        """By name; one of which nothing is known is not limited."""
        wanted = list(names)
        rows = self.connection.execute(statements.ACCOUNTS, {"of_names": wanted})
        known = {row.name: Account(row.name, row.strikes, row.since, row.until, row.reason) for row in rows}
        return {name: known.get(name) or Account(name) for name in wanted}

    def put(self, account: Account) -> None:
        """Store what is known of an account."""
        values = {
            "strikes": account.strikes,
            "since": account.since,
            "until": account.until,
            "reason": codec.make_plain(account.reason),
        }
        if not self.connection.execute(statements.STORE_ACCOUNT, {"of_name": account.name, **values}).rowcount:
            self.connection.execute(sa.insert(accounts).values(name=account.name, **values))


@final
class Transaction:
    """The rows of the ledger while one plan's row is locked: nobody else moves that plan meanwhile."""

    def __init__(self, connection: sa.Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now
        self.plans = PlanRows(connection, now)
        self.items = ItemRows(connection, now)
        self.runs = RunRows(connection, now)
        self.attempts = AttemptRows(connection, now)
        self.accounts = AccountRows(connection)

    def append(self, kind: str, plan: PlanId, data: str, *, run: Run | None = None, item: ItemId | None = None) -> None:
        """Append an event."""
        values = {"plan": plan, "type": kind, "at": self.now, "data": data}
        if run is not None:
            self.connection.execute(statements.APPEND, {**values, "of_run": run.id, "run": run.id, "item": run.item})
        else:
            self.connection.execute(statements.APPEND_ASIDE, {**values, "item": item})


def _position(run: Run) -> dict[str, object]:
    return {"phase": run.phase, "stage": run.stage, "state": codec.dump(run)}
