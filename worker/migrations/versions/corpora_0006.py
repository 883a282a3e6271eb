"""Claims name the corpora that they are checked against. Those of before have the default one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "corpora_0006"
down_revision = "list_texts_0005"


def upgrade() -> None:
    """Add the names."""
    op.add_column("claims", sa.Column("corpora", sa.Text))


def downgrade() -> None:
    """Forget the names."""
    op.drop_column("claims", "corpora")
