"""Deletes the claims and lists that ended longer ago than they are kept."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from worker.database import Database
from worker.list_store import ListStore
from worker.upkeep_store import UpkeepStore

# Old claims are looked for once in this time, and deleted in parts, so that others can write.
TIDY_SECONDS = 600.0
MOST_DELETED_AT_ONCE = 100

logger = logging.getLogger(__name__)


class Tidying:
    """Knows when it is time to look for old claims again."""

    def __init__(self, database: Database, keep_for: timedelta | None) -> None:
        """``keep_for``: how long finished claims are kept, ``None`` for good."""
        self._claims = UpkeepStore(database)
        self._lists = ListStore(database)
        self._keep_for = keep_for
        self._next = 0.0

    def delete_old(self) -> None:
        """Delete lists and some of the claims that ended too long ago, if it is time to.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        if self._keep_for is None or time.monotonic() < self._next:
            return
        self._lists.delete_finished(self._keep_for)
        deleted = self._claims.delete_finished(self._keep_for, MOST_DELETED_AT_ONCE)
        if deleted:
            logger.info("%d claims were deleted: they finished too long ago", deleted)
        if deleted < MOST_DELETED_AT_ONCE:
            self._next = time.monotonic() + TIDY_SECONDS
