"""The clock of this machine; those of others may differ, so nothing compares their times."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)
