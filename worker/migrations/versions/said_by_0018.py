"""Claims keep who said them, where and when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "said_by_0018"
down_revision = "groups_0017"


def upgrade() -> None:
    """Add the columns, all of which are empty at first."""
    for name in ("speaker", "appearance", "said_on"):
        op.add_column("claims", sa.Column(name, sa.String(300)))
