"""What is known of the limits of agents' accounts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "accounts",
        sa.Column("name", sa.String(80), primary_key=True),
        sa.Column("strikes", sa.Integer, nullable=False),
        sa.Column("since", sa.String(32)),
        sa.Column("until", sa.String(32)),
        sa.Column("reason", sa.Text, nullable=False),
    )
