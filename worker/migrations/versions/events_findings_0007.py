"""Events have what their stage found: documents, sentences and so on, as JSON."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "events_findings_0007"
down_revision = "corpora_0006"


def upgrade() -> None:
    """Add the column; events of older versions have no findings."""
    op.add_column("events", sa.Column("found", sa.Text))


def downgrade() -> None:
    """Remove the column with its findings."""
    op.drop_column("events", "found")
