"""Lists of claims, and their rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "lists_0004"
down_revision = "feedback_0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "lists",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("recipe", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("columns", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("finished_at", sa.DateTime),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "list_rows",
        sa.Column(
            "list_id",
            sa.String(32),
            sa.ForeignKey("lists.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("claim", sa.Text, nullable=False),
        sa.Column("others", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("problem", sa.Text),
        sa.Column("claim_id", sa.String(32), sa.ForeignKey("claims.id", ondelete="SET NULL")),
    )
    op.create_index("list_rows_by_claim", "list_rows", ["claim_id"])
    op.create_index("list_rows_by_state", "list_rows", ["state", "number"])


def downgrade() -> None:
    """Remove the lists; their claims stay in the history."""
    op.drop_table("list_rows")
    op.drop_table("lists")
