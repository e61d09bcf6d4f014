"""The first ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    _plans()
    _runs()
    _money()
    _events()


def _plans() -> None:
    op.create_table(
        "plans",
        sa.Column("id", sa.String(80), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("begun_at", sa.String(32)),
        sa.Column("ended_at", sa.String(32)),
    )
    op.create_table(
        "work_items",
        sa.Column("plan", sa.String(80), sa.ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("run", sa.String(120)),
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(120), primary_key=True),
        sa.Column("plan", sa.String(80), sa.ForeignKey("plans.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("item", sa.String(200), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("is_closed", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32)),
    )
    op.create_index("runs_open", "runs", ["plan", "is_closed"])
    op.create_table(
        "attempts",
        sa.Column("run", sa.String(120), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("agent", sa.String(80), nullable=False),
        sa.Column("session", sa.Text),
        sa.Column("candidate", sa.String(64)),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32)),
        sa.Column("outcome", sa.String(16)),
        sa.Column("result", sa.Text),
    )


def _money() -> None:
    op.create_table(
        "spend",
        sa.Column("run", sa.String(120), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("plan", sa.String(80), nullable=False, index=True),
        sa.Column("reserved", sa.BigInteger, nullable=False),
        sa.Column("settled", sa.BigInteger),
        sa.Column("basis", sa.String(16), nullable=False),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("plan", sa.String(80), nullable=False, index=True),
        sa.Column("run", sa.String(120), index=True),
        sa.Column("item", sa.String(200)),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
