from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from whilly.application.telling.progress import Active, Money, Progress, Queued, Settled, Waiting
from whilly.application.telling.rows import EventRow
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.work_item import ItemStatus

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
NASTY = "\x1b[31m[red]title[/red] \u202e\u05e9\u05dc 日本語 " + "long " * 1000


@pytest.fixture
def progress() -> Progress:
    """A plan in the middle of its work, with one of everything."""
    return Progress(
        plan=PlanId("plan-1"),
        name="Shop",
        source="tasks.json",
        at=NOW,
        phase=PlanPhase.ACTIVE,
        target="whilly/shop",
        parallel=3,
        begun_at=NOW - timedelta(minutes=12),
        elapsed=timedelta(minutes=12),
        counts={
            ItemStatus.DONE: 2,
            ItemStatus.IN_PROGRESS: 3,
            ItemStatus.PENDING: 2,
            ItemStatus.FAILED: 1,
            ItemStatus.BLOCKED: 1,
        },
        active=(
            Active(
                item=ItemId("T-3"),
                title="Draw the cart",
                stage="execute",
                number=1,
                agent="claude",
                since=NOW - timedelta(minutes=3),
                is_under_way=True,
                reserved=Decimal(1),
                last_action="edit src/cart.py",
                tokens=12_345,
                elapsed=timedelta(minutes=3, seconds=7),
                quiet=timedelta(seconds=45),
            ),
            Active(
                item=ItemId("T-4"),
                title="Sum it up",
                stage="verify",
                number=2,
                agent="",
                since=NOW,
                is_under_way=True,
                spent=Decimal("0.25"),
                elapsed=timedelta(seconds=9),
            ),
        ),
        waiting=(
            Waiting(
                ItemId("T-5"),
                "Pay",
                "usage limit reached",
                NOW - timedelta(minutes=1),
                NOW + timedelta(hours=2, minutes=5),
                "agent:claude",
            ),
        ),
        queue=(
            Queued(ItemId("T-6"), "Ship", "high", "depends on T-5, which is running"),
            Queued(ItemId("T-7"), "Thank", "low", "no free slot"),
        ),
        done=(
            Settled(ItemId("T-1"), "Set up", ItemStatus.DONE, took=timedelta(seconds=61), spent=Decimal("0.10")),
            Settled(ItemId("T-2"), "Log in", ItemStatus.DONE, took=timedelta(seconds=5), spent=Decimal("0.004")),
        ),
        undone=(
            Settled(ItemId("T-8"), "Search", ItemStatus.FAILED, "checks failed: `make` failed"),
            Settled(ItemId("T-9"), "Sort", ItemStatus.BLOCKED, "depends on T-8, which failed"),
        ),
        money=Money(Decimal("3.10"), Decimal(1), Decimal(5)),
        news=(EventRow(7, None, None, "budget_warning", NOW, '{"spent": "4.1", "budget": "5"}'),),
    )
