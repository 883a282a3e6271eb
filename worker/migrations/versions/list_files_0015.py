"""Lists have the name of their file, and where its claims stood: exports look like the file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "list_files_0015"
down_revision = "documents_0014"


def upgrade() -> None:
    """Add the columns; of lists of before nothing is known."""
    op.add_column("lists", sa.Column("file_name", sa.Text, nullable=False, server_default=""))
    op.add_column("lists", sa.Column("claim_column", sa.Text, nullable=False, server_default=""))
    op.add_column("lists", sa.Column("claim_after", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    """Forget them."""
    op.drop_column("lists", "claim_after")
    op.drop_column("lists", "claim_column")
    op.drop_column("lists", "file_name")
