"""Comparisons have a name, an address of their own, and the right labels of their claims."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "comparisons_0019"
down_revision = "said_by_0018"


def upgrade() -> None:
    """Add their table."""
    op.create_table(
        "compared_checks",
        sa.Column("comparison_id", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column(
            "claim_id",
            sa.String(32),
            sa.ForeignKey("claims.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("gold", sa.String(16)),
        sa.Column("kind", sa.Text, nullable=False),
    )
    op.create_index("compared_checks_by_claim", "compared_checks", ["claim_id"])
