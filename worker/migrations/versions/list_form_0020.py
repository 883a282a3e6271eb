"""Lists keep what parts the cells of their file, and its decimal mark."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "list_form_0020"
down_revision = "comparisons_0019"


def upgrade() -> None:
    """Add the columns; lists from before have commas, and points in numbers."""
    for name, before in (("csv_separator", ","), ("csv_decimal_mark", ".")):
        op.add_column("lists", sa.Column(name, sa.String(1), nullable=False, server_default=before))
