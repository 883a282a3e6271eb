"""Claims and lists say with whom they are shared; users have several tokens, which may expire.

What there is has no mark: everybody who has its address still may open it.
"""

from __future__ import annotations

import logging
import secrets
from datetime import timedelta

import sqlalchemy as sa
from alembic import op

revision = "sharing_0016"
down_revision = "list_files_0015"

_SESSION = timedelta(days=14)  # as long as sessions of before lasted
logger = logging.getLogger(__name__)


def upgrade() -> None:
    """Add the marks, and make one table of tokens and sessions; nobody is logged out."""
    op.add_column("claims", sa.Column("shared", sa.String(16)))
    op.add_column("lists", sa.Column("shared", sa.String(16)))
    users = op.create_table(
        "people",
        sa.Column("name", sa.String(50), primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
    )
    credentials = op.create_table(
        "credentials",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column(
            "user", sa.String(50), sa.ForeignKey("people.name", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("made_at", sa.DateTime, nullable=False),
        sa.Column("used_at", sa.DateTime),
        sa.Column("ends_at", sa.DateTime),
    )
    connection, moment = op.get_bind(), sa.DateTime
    old = sa.table(
        "users", *map(sa.column, ("name", "role", "digest")), sa.column("created_at", moment)
    )
    sessions = sa.table(
        "sessions", *map(sa.column, ("digest", "user")), sa.column("ends_at", moment)
    )
    people = connection.execute(sa.select(old)).mappings().all()
    rows = [
        {"kind": "token", "name": "first token", "made_at": one["created_at"], "ends_at": None}
        | {"user": one["name"], "digest": one["digest"]}
        for one in people
    ] + [
        {"kind": "session", "name": "", "made_at": one["ends_at"] - _SESSION}
        | {"user": one["user"], "digest": one["digest"], "ends_at": one["ends_at"]}
        for one in connection.execute(sa.select(sessions)).mappings()
    ]
    if people:
        op.bulk_insert(
            users, [{key: one[key] for key in ("name", "role", "created_at")} for one in people]
        )
        op.bulk_insert(credentials, [one | {"id": secrets.token_hex(8)} for one in rows])
    op.drop_table("sessions")
    op.drop_table("users")
    op.rename_table("people", "users")
    op.create_index("credentials_by_user", "credentials", ["user"])
    if connection.scalar(sa.text("SELECT count(*) FROM claims")):
        logger.warning(
            "Where users log in, a new claim, list or corpus is now its owner's alone until it is"
            " shared on its page. What was there before stays visible to everybody who may use the"
            " service (docs/access.md)."
        )
