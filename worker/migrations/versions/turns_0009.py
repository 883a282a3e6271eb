"""Clients take turns: a claim has a client, may be typed into the page, and turns are numbered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "turns_0009"
down_revision = "list_corpora_0008"


def upgrade() -> None:
    """Add the client, whether it was typed, and the turns; claims of before have no client."""
    op.add_column("claims", sa.Column("client", sa.String(64)))
    op.add_column(
        "claims", sa.Column("typed", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.create_table(
        "turns",
        sa.Column("who", sa.String(64), primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Forget them."""
    op.drop_table("turns")
    op.drop_column("claims", "typed")
    op.drop_column("claims", "client")
