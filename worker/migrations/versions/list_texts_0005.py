"""A list keeps the text that its claims are from, and a row its sentence there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "list_texts_0005"
down_revision = "lists_0004"


def upgrade() -> None:
    """Add the columns; lists of before have no text."""
    op.add_column("lists", sa.Column("source_text", sa.Text))
    op.add_column("list_rows", sa.Column("said_from", sa.Integer))
    op.add_column("list_rows", sa.Column("said_to", sa.Integer))


def downgrade() -> None:
    """Forget the texts; their claims stay."""
    op.drop_column("list_rows", "said_to")
    op.drop_column("list_rows", "said_from")
    op.drop_column("lists", "source_text")
