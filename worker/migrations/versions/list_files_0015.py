"""Where changes begin: the tables of the first databases that are still read. Nothing goes back."""

from __future__ import annotations

revision = "list_files_0015"
down_revision = None


def upgrade() -> None:
    """Never called: new tables are made of the mapped classes, and older ones are refused."""
