"""For how long things have stayed as they are, and when they last changed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock

# More time than this between two looks does not count: this process or its machine slept, and
# with it perhaps what it looks at.
LONGEST_STEP_SECONDS = 5.0


class Unchanged:
    """Measures, by the clock of this process alone, for how long values have not changed.

    Clocks of two machines differ, so a time that another one wrote says only that it was there.
    """

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
