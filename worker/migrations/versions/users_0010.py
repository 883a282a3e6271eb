"""Users who may log in, and the browsers in which they have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "users_0010"
down_revision = "turns_0009"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "users",
        sa.Column("name", sa.String(50), primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column(
            "user", sa.String(50), sa.ForeignKey("users.name", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("ends_at", sa.DateTime, nullable=False),
    )


def downgrade() -> None:
    """Forget all users."""
    op.drop_table("sessions")
    op.drop_table("users")
