"""The clock of this machine, the one of a database, and for how long things stay as they are.

The clocks of machines may differ, so nothing compares times of two of them: a time that another
one wrote says only that it was there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock

from sqlalchemy import func, select
from sqlalchemy.orm import Session

# More time than this between two looks does not count: this process or its machine slept, and
# with it perhaps what it looks at.
LONGEST_STEP_SECONDS = 5.0


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def shared(session: Session) -> datetime:
    """Return the time of the database's server, in UTC; a file has that of this machine."""
    if session.get_bind().dialect.name != "postgresql":
        return now()
    found: datetime = session.scalars(select(func.timezone("UTC", func.clock_timestamp()))).one()
    return found.replace(tzinfo=UTC)


class Unchanged:
    """Measures, by the clock of this process alone, for how long values have not changed."""

    def __init__(self) -> None:
        self._last_look = time.monotonic()
        self._seen: dict[str, tuple[object, float]] = {}

    def seconds(self, values: Mapping[str, object]) -> dict[str, float]:
        """Return for how many seconds each value has been seen unchanged, 0 for a new one."""
        now = time.monotonic()
        step = min(now - self._last_look, LONGEST_STEP_SECONDS)
        self._last_look = now
        self._seen = {
            name: (value, self._seen[name][1] + step)
            if name in self._seen and self._seen[name][0] == value
            else (value, 0.0)
            for name, value in values.items()
        }
        return {name: seconds for name, (_, seconds) in self._seen.items()}


class LastChanges:
    """Measures, by the clock of this process alone, how long ago values changed at most.

    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._looked_at = float("-inf")
        self._seen: dict[str, tuple[object, float]] = {}
        self._lock = Lock()

    def seconds(self, values: Mapping[str, object]) -> dict[str, float]:
        """Return how long ago each value changed at most; infinite if no change was seen.

        One that is new may be old.
        """
        with self._lock:
            now, before = time.monotonic(), self._looked_at
            seen = {}
            for name, value in values.items():
                known, since = self._seen.get(name, (value, float("-inf")))
                seen[name] = (value, since if known == value else before)
            self._seen, self._looked_at = seen, now
            return {name: now - since for name, (_, since) in seen.items()}
