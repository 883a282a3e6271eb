"""Lists name the corpora that their claims are checked against."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "list_corpora_0008"
down_revision = "events_findings_0007"


def upgrade() -> None:
    """Add the names."""
    op.add_column("lists", sa.Column("corpora", sa.Text))


def downgrade() -> None:
    """Forget the names."""
    op.drop_column("lists", "corpora")
