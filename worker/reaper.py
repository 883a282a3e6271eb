"""Finds claims that no worker is checking any more, and deletes what was kept for long enough."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from threading import Event

from worker.clock import Unchanged
from worker.database import Database
from worker.list_store import ListStore
from worker.logs import about
from worker.reports import WorkerLost
from worker.run_store import RunStore
from worker.threads import Regular

LOOK_SECONDS = 2.0
# A claim whose lease was not renewed for this long goes to another worker. The time must
# be longer than a stage that blocks the interpreter, or a write that the disk delays.
LEASE_SECONDS = 10.0
MOST_ATTEMPTS = 2
# Old claims are looked for once in this time, and deleted in parts, so that others can write.
TIDY_SECONDS = 600.0
MOST_DELETED_AT_ONCE = 100

logger = logging.getLogger(__name__)


class Reaper(Regular):
    """Queues claims of lost workers again, once.

    Every worker has one. They need no coordination: each step is a compare-and-set.
    """

    def __init__(self, database: Database, stop: Event, keep_for: timedelta | None = None) -> None:
        """``keep_for``: how long finished claims are kept, ``None`` for good."""
        super().__init__("reaper", stop, lambda _: LOOK_SECONDS)
        self._claims = RunStore(database)
        self._lists = ListStore(database)
        self._keep_for = keep_for
        self._next_tidying = 0.0
        self._leases = Unchanged()

    def look(self) -> None:
        """Look for old claims and lost claims once.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        if self._keep_for is not None and time.monotonic() >= self._next_tidying:
            self._tidy(self._keep_for)
        running = {job.run.token: job for job in self._claims.running()}
        unchanged = self._leases.seconds({token: job.renewed for token, job in running.items()})
        for job in (running[token] for token in unchanged if unchanged[token] >= LEASE_SECONDS):
            job_id = job.run.job_id
            with about(claim=job_id):
                if job.run.attempt >= MOST_ATTEMPTS:
                    if self._claims.give_up(job, WorkerLost()):
                        logger.error("Claim %s lost its worker again and failed", job_id)
                elif self._claims.take_back(job):
                    logger.warning("Claim %s lost its worker and is queued again", job_id)

    def _tidy(self, keep_for: timedelta) -> None:
        """Delete lists and some of the claims that ended too long ago."""
        self._lists.delete_finished(keep_for)
        deleted = self._claims.delete_finished(keep_for, MOST_DELETED_AT_ONCE)
        if deleted:
            logger.info("%d claims were deleted: they finished too long ago", deleted)
        if deleted < MOST_DELETED_AT_ONCE:
            self._next_tidying = time.monotonic() + TIDY_SECONDS
