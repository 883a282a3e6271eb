"""Comparisons know the right evidence of their claims, where a file has it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "right_evidence_0020"
down_revision = "comparisons_0019"


def upgrade() -> None:
    """Add a column; comparisons from before have no right evidence."""
    op.add_column("compared_checks", sa.Column("evidence", sa.Text))
