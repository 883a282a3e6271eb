"""A list keeps the web page that its text is from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "list_pages_0011"
down_revision = "users_0010"


def upgrade() -> None:
    """Add the columns; lists of before are from no page."""
    op.add_column("lists", sa.Column("page_title", sa.Text))
    op.add_column("lists", sa.Column("page_address", sa.Text))


def downgrade() -> None:
    """Forget the pages; the texts stay."""
    op.drop_column("lists", "page_address")
    op.drop_column("lists", "page_title")
