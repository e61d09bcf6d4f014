"""What the ledger holds, row by row, as people see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from whilly.domain.attempt import AttemptResult
from whilly.domain.flow.plan_run import PlanRun
from whilly.domain.flow.run import Run
from whilly.domain.ids import PlanId, RunId
from whilly.domain.work_item import ItemStatus, WorkItem


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt.

    Attributes:
        cost: USD that it counts; None while it is under way.
        basis: `reported` by the agent, or `reserved` when nobody knows.
    """

    run: RunId
    number: int
    stage: str
    agent: str
    started_at: datetime
    ended_at: datetime | None
    result: AttemptResult | None
    session: str | None
    reserved: Decimal | None
    cost: Decimal | None
    basis: str | None
    item: str = ""


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item and where it stands."""

    item: WorkItem
    status: ItemStatus
    reason: str
    run: Run | None


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of the timeline.

    Attributes:
        data: its details, as JSON.
        stage: of the attempt that it is about; empty when it is about none.
    """

    id: int
    run: str | None
    item: str | None
    type: str
    at: datetime
    data: str
    stage: str = ""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One plan and where it stands."""

    id: PlanId
    name: str
    source: str
    state: PlanRun
    version: int
    begun_at: datetime | None
    ended_at: datetime | None = None
