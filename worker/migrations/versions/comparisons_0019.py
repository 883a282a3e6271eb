"""Comparisons have a name, an address and right labels; lists keep the form of their file.

A row finds the first one with the same claim without reading its whole list.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "comparisons_0019"
down_revision = "said_by_0018"


def upgrade() -> None:
    """Add a table, columns and an index; lists from before have commas, and points in numbers."""
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
    for name, before in (("csv_separator", ","), ("csv_decimal_mark", ".")):
        op.add_column("lists", sa.Column(name, sa.String(1), nullable=False, server_default=before))
    op.drop_index("list_rows_by_claim", "list_rows")
    op.create_index("list_rows_by_claim", "list_rows", ["claim_id", "list_id", "number"])
