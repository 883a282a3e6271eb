"""Looks after the file of the database: whole in itself, free of what was deleted, not damaged."""

from __future__ import annotations

import time
from threading import Event

from worker.database import Database
from worker.threads import Regular

LOOK_SECONDS = 5.0
# The file is whole, and what was deleted is out of it, after this time at most twice.
SETTLE_SECONDS = 20.0
# The file is read at each look, if that takes a hundredth of the time at most.
_TIMES_LONGER = 100


class FileUpkeep(Regular):
    """Every web process and every worker has one; they need no coordination.

    So that each of them knows by itself that the file is damaged, and stops writing. A database on
    a server has no file, and nothing is done.
    """

    def __init__(self, database: Database, stop: Event) -> None:
        super().__init__("upkeep of the database", stop, lambda _: LOOK_SECONDS)
        self._database = database
        self._next_check = self._next_settling = 0.0

    def look(self) -> None:
        """Check the file and settle it, if it is time to.

        Raises:
            StoreUnavailable: it is damaged, removed or cannot be used.
        """
        began = time.monotonic()
        if began >= self._next_check:
            self._database.check()
            now = time.monotonic()
            self._next_check = now + _TIMES_LONGER * (now - began)
        if began >= self._next_settling:
            self._next_settling = began + SETTLE_SECONDS
            if not self._database.settle():
                self._next_settling = began  # others used it; at the next look
