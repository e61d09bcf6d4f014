"""An engine at work in a `World`, as one process would have it."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import sqlalchemy as sa

from whilly.adapters.jinja.renderer import make_renderer
from whilly.application.hand_over import hand_over
from whilly.application.integrate_change import integrate_change
from whilly.application.run_session import run_session
from whilly.application.verify_change import verify_change
from whilly.domain.flow.plan_run import SOLO
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.plan import Plan
from whilly.engine.database import migrate, open_database
from whilly.engine.dispatch import Dispatch
from whilly.engine.driving.driver import Driver, Staff
from whilly.engine.engine import Engine
from whilly.engine.ledger import Ledger
from whilly.engine.planning import Imported, Planning
from whilly.engine.reading import Reading
from whilly.testing.world import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from whilly.application.telling.rows import AttemptRow
    from whilly.domain.flow.plan_run import Limits, PlanRun
    from whilly.domain.flow.run import Run
    from whilly.domain.work_item import WorkItem
    from whilly.testing.world import World

PATIENCE = 60.0
"""Seconds after which a test that waits has failed; the machine may be busy."""

PLAN = PlanId("plan")
HOMES = "/memory/attempts"


@final
class Records:
    """What the ledger says of a plan, in short."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def statuses(self, plan: PlanId = PLAN) -> dict[str, str]:
        """By item."""
        return {row.item.id: str(row.status) for row in self.reading.items(plan)}

    def reason(self, item: str, plan: PlanId = PLAN) -> str:
        """Of an item's status."""
        return next(row.reason for row in self.reading.items(plan) if row.item.id == item)

    def state(self, plan: PlanId = PLAN) -> PlanRun:
        """The plan's position."""
        return self.reading.plan(plan).state

    def attempts(self, item: str | None = None, plan: PlanId = PLAN) -> list[AttemptRow]:
        """In order; all, or those of one item."""
        return self.reading.attempts(plan, ItemId(item) if item else None)

    def story(self, item: str, plan: PlanId = PLAN) -> list[str]:
        """Each attempt's stage and outcome."""
        rows = self.attempts(item, plan)
        return [f"{row.stage} {row.result.outcome if row.result else '…'}" for row in rows]

    def spent(self, plan: PlanId = PLAN) -> Decimal:
        """What all attempts that have ended count."""
        return sum((row.cost for row in self.attempts(plan=plan) if row.cost is not None), Decimal(0))

    def events(self, kind: str, plan: PlanId = PLAN) -> list[dict[str, Any]]:
        """The details of all events of one type."""
        return [json.loads(row.data) for row in self.reading.events(plan) if row.type == kind]

    def run(self, item: str, plan: PlanId = PLAN) -> Run:
        """The item's newest run."""
        return next(row.run for row in self.reading.items(plan) if row.item.id == item and row.run)

    def home(self, item: str, number: int) -> str:
        """The private directory of an attempt of the item's current run."""
        return f"{HOMES}/{self.run(item).id}/{number}"


@final
class Office:
    """One process's ledger and engine. One after the other in the same world is a process after the other."""

    def __init__(self, world: World, limits: Limits) -> None:
        self.world = world
        self.limits = limits
        self.database = open_database(world.url)
        migrate(self.database)
        self._dispatch = Dispatch(self.database, world.url)
        self._dispatch.prepare()
        reading = Reading(self.database, world.pipelines)
        self.records = Records(reading)
        self.ledger = Ledger(self.database, world.clock, world.pipelines, self._dispatch.enqueue, world.passed.append)
        self.driver = Driver(self.ledger, reading, world.ports(), world.rules, self._staff())
        self.engine = Engine(self.ledger, reading, self.driver, self._dispatch, world.clock)
        self.planning = Planning(self.ledger, world.pipelines)

    def _staff(self) -> Staff:
        return Staff(
            handlers={"": run_session, "handoff": hand_over, "verify": verify_change, "integrate": integrate_change},
            default_agent="demo",
            substitutes=tuple(name for name in self.world.agents if name != "demo"),
            default_model="",
            reservation=self.limits.reservation,
            branch_prefix="whilly/",
            render=make_renderer(NOWHERE),
            attempts_root=Path(HOMES),
        )

    def import_items(self, *items: WorkItem, plan: PlanId = PLAN) -> Imported:
        """Make these the plan's items."""
        return self.planning.import_plan(Plan(plan, plan, plan, f"/{plan}.json", items))

    def begin(self, plan: PlanId = PLAN, timeout: timedelta | None = None, pipeline: str = SOLO) -> None:
        """Begin to work on a plan."""
        self.engine.begin(plan, self.limits, base="main", target="main", timeout=timeout, pipeline=pipeline)

    def run(self, plan: PlanId = PLAN, timeout: timedelta | None = None, pipeline: str = SOLO) -> None:
        """Work on a plan until it is at rest."""
        self.begin(plan, timeout, pipeline)
        self.finish()

    def finish(self) -> None:
        """Tick until the engine says that there is nothing more to do."""
        deadline = time.monotonic() + PATIENCE
        while self.engine.tick():
            self._look_at(deadline, "the plan at rest")

    def wait(self, is_so: Callable[[], object], what: str = "what was waited for") -> None:
        """Tick until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            self.engine.tick()
            self._look_at(deadline, what)

    def wait_for_session(self, item: str, number: int = 1) -> None:
        """Tick until an attempt's session has begun."""
        self.wait(
            lambda: (item, number) in {(each.item, each.number) for each in self.world.scenes}, f"{item}/{number}"
        )

    def close(self) -> None:
        """Leave everything as it is."""
        self.engine.close()
        # Work that was handed to a thread is not interrupted: it gives its connection back when it is through.
        pool, deadline = self.database.pool, time.monotonic() + PATIENCE
        while isinstance(pool, sa.QueuePool) and pool.checkedout() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.database.dispose()

    def _look_at(self, deadline: float, what: str) -> None:
        if time.monotonic() > deadline:
            at = f"{self.records.statuses()} {self.records.state()} {self.driver.driving} {self.engine.live.holds}"
            message = f"never came: {what}; {at}"
            raise AssertionError(message)
        time.sleep(0.01)
