"""The clock of this machine, and the one that all who share a database share.

The clocks of machines may differ, so nothing compares times of two of them.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def shared(session: Session) -> datetime:
    """Return the time of the database's server, in UTC; a file has that of this machine."""
    if session.get_bind().dialect.name != "postgresql":
        return now()
    found: datetime = session.scalars(select(func.timezone("UTC", func.clock_timestamp()))).one()
    return found.replace(tzinfo=UTC)
