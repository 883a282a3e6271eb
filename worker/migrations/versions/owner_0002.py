"""Claims have an owner: the visitor who submitted them. Those of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "owner_0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the owner, and the index that lists the claims of one."""
    op.add_column("claims", sa.Column("owner", sa.String(64)))
    op.create_index("claims_by_owner", "claims", ["owner", "number"])


def downgrade() -> None:
    """Forget the owners."""
    op.drop_index("claims_by_owner", "claims")
    op.drop_column("claims", "owner")
