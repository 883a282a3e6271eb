"""Workers say whose documents they have: those of another machine may be others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "documents_0014"
down_revision = "rows_0013"


def upgrade() -> None:
    """Add the mark of their folder."""
    op.add_column("workers", sa.Column("documents", sa.String(64)))


def downgrade() -> None:
    """Forget it."""
    op.drop_column("workers", "documents")
