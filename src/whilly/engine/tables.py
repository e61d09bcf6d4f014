"""The ledger's tables. Their names, columns and stored values are an API: additive, migrated, pinned by a test."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, final

import sqlalchemy as sa
from typing_extensions import override

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

MICRO = Decimal(1_000_000)


@final
class Instant(sa.types.TypeDecorator[datetime]):
    """An aware UTC moment, stored as ISO 8601 text that sorts by time."""

    impl = sa.String(32)
    cache_ok = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        return value.astimezone(UTC).isoformat(timespec="microseconds") if value is not None else None

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        return datetime.fromisoformat(value) if value is not None else None


@final
class Money(sa.types.TypeDecorator[Decimal]):
    """US dollars, stored as whole millionths so that sums are exact in every database."""

    impl = sa.BigInteger
    cache_ok = True

    @override
    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        return int((value * MICRO).to_integral_value()) if value is not None else None

    @override
    def process_result_value(self, value: int | None, dialect: Dialect) -> Decimal | None:
        return Decimal(int(value)) / MICRO if value is not None else None


metadata = sa.MetaData()

plans = sa.Table(
    "plans",
    metadata,
    sa.Column("id", sa.String(80), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("phase", sa.String(16), nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("created_at", Instant, nullable=False),
    sa.Column("begun_at", Instant),
    sa.Column("ended_at", Instant),
)

work_items = sa.Table(
    "work_items",
    metadata,
    sa.Column("plan", sa.ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("id", sa.String(200), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("reason", sa.Text, nullable=False, default=""),
    sa.Column("run", sa.String(120)),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(120), primary_key=True),
    sa.Column("plan", sa.ForeignKey("plans.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("item", sa.String(200), nullable=False),
    sa.Column("phase", sa.String(16), nullable=False),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("is_closed", sa.Boolean, nullable=False, default=False),
    sa.Column("created_at", Instant, nullable=False),
    sa.Column("ended_at", Instant),
)
sa.Index("runs_open", runs.c.plan, runs.c.is_closed)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("run", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("agent", sa.String(80), nullable=False),
    sa.Column("session", sa.Text),
    sa.Column("candidate", sa.String(64)),
    sa.Column("started_at", Instant, nullable=False),
    sa.Column("ended_at", Instant),
    sa.Column("outcome", sa.String(16)),
    sa.Column("result", sa.Text),
)

spend = sa.Table(
    "spend",
    metadata,
    sa.Column("run", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("plan", sa.String(80), nullable=False, index=True),
    sa.Column("reserved", Money, nullable=False),
    sa.Column("settled", Money),
    sa.Column("basis", sa.String(16), nullable=False, default="reserved"),
)

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("strikes", sa.Integer, nullable=False, default=0),
    sa.Column("since", Instant),
    sa.Column("until", Instant),
    sa.Column("reason", sa.Text, nullable=False, default=""),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("plan", sa.String(80), nullable=False, index=True),
    sa.Column("run", sa.String(120), index=True),
    sa.Column("item", sa.String(200)),
    sa.Column("sequence", sa.Integer, nullable=False, default=0),
    sa.Column("type", sa.String(40), nullable=False),
    sa.Column("at", Instant, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sqlite_autoincrement=True,
)
