"""What people say about verdicts; what a claim was made from; indexes for the history."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "feedback_0003"
down_revision = "owner_0002"


def upgrade() -> None:
    """Add the table of feedback, and the two columns of a claim."""
    op.add_column("claims", sa.Column("edited_from", sa.String(32)))
    op.add_column("claims", sa.Column("continued_from", sa.String(32)))
    op.create_table(
        "feedback",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column(
            "claim_id",
            sa.String(32),
            sa.ForeignKey("claims.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("owner", sa.String(64)),
        sa.Column("agrees", sa.Boolean, nullable=False),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("wrong", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        # NULL is not equal to NULL: programs without a cookie may give any number.
        sa.UniqueConstraint("claim_id", "owner", name="feedback_once"),
    )
    op.create_index("feedback_by_owner", "feedback", ["owner"])
    op.create_index("claims_by_text", "claims", ["folded", "number"])
    op.create_index("claims_by_recipe", "claims", ["recipe"])


def downgrade() -> None:
    """Forget them."""
    op.drop_index("claims_by_recipe", "claims")
    op.drop_index("claims_by_text", "claims")
    op.drop_table("feedback")
    op.drop_column("claims", "continued_from")
    op.drop_column("claims", "edited_from")
