"""Operators put users into groups; a claim or list may be shared with one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "groups_0017"
down_revision = "sharing_0016"


def upgrade() -> None:
    """Add the table of members, and make room for the name of a group in the marks."""
    op.create_table(
        "group_members",
        sa.Column("group", sa.String(50), primary_key=True),
        sa.Column(
            "user", sa.String(50), sa.ForeignKey("users.name", ondelete="CASCADE"), primary_key=True
        ),
    )
    op.create_index("group_members_by_user", "group_members", ["user"])
    for table in ("claims", "lists"):
        # SQLite changes the type of no column.
        op.add_column(table, sa.Column("shared_with", sa.String(64)))
        op.execute(f"UPDATE {table} SET shared_with = shared")
        op.drop_column(table, "shared")
        op.execute(f"ALTER TABLE {table} RENAME COLUMN shared_with TO shared")
