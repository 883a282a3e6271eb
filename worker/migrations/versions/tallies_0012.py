"""Numbers for Prometheus that only grow: claims by their end, seconds of stages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "tallies_0012"
down_revision = "list_pages_0011"


def upgrade() -> None:
    """Make the table; counting begins now."""
    op.create_table(
        "tallies",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("series", sa.String(255), primary_key=True),
        sa.Column("value", sa.Float, nullable=False),
    )


def downgrade() -> None:
    """Forget all numbers."""
    op.drop_table("tallies")
