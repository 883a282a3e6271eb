"""Finds claims that no worker is checking any more, and queues them again."""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Event, Thread

from worker.broker import BrokerUnavailable, Queue
from worker.failures import WorkerLost
from worker.heartbeat import Heartbeat
from worker.jobs import JobStore, StoreUnavailable

LOOK_SECONDS = 2.0
MOST_ATTEMPTS = 2
# An idle worker has emptied the queue, so a claim that is still queued has lost its
# message. A busy worker cannot know this, and checks rarely.
PATIENCE_WHEN_IDLE = timedelta(seconds=2)
PATIENCE_WHEN_BUSY = timedelta(seconds=60)
MOST_SENT_AT_ONCE = 100

logger = logging.getLogger(__name__)


class Reaper(Thread):
    """Queues claims of lost workers again, once, and sends lost messages again.

    Every worker has one. They need no coordination: each step is a compare-and-set, and a
    message that is sent twice does not check a claim twice.
    """

    def __init__(self, store: JobStore, queue: Queue, heartbeat: Heartbeat, stop: Event) -> None:
        super().__init__(name="reaper", daemon=True)
        self._store = store
        self._queue = queue
        self._heartbeat = heartbeat
        self._halt = stop
        self._broker_answers = True

    def run(self) -> None:
        """Check the claims regularly until ``stop`` is set."""
        while True:
            try:
                self.look()
            except StoreUnavailable as error:
                logger.error("Lost claims could not be looked for: %s", error)
            if self._halt.wait(LOOK_SECONDS):
                return

    def look(self) -> None:
        """Look for lost claims and lost messages once.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        # After the machine slept, every lease has expired, also that of this worker.
        self._heartbeat.beat()
        for run in self._store.overdue():
            if run.attempt >= MOST_ATTEMPTS:
                if self._store.give_up(run, WorkerLost()):
                    logger.error("Claim %s lost its worker again and failed", run.job_id)
            elif self._store.take_back(run):
                logger.warning("Claim %s lost its worker and is queued again", run.job_id)
                self._send([run.job_id])
        idle = self._heartbeat.idle_seconds() >= PATIENCE_WHEN_IDLE.total_seconds() / 2
        patience = PATIENCE_WHEN_IDLE if idle else PATIENCE_WHEN_BUSY
        self._send(self._store.waiting_unsent(patience, MOST_SENT_AT_ONCE))

    def _send(self, job_ids: list[str]) -> None:
        try:
            for job_id in job_ids:
                self._queue.send(job_id)
                logger.info("Claim %s was sent again", job_id)
                self._broker_answers = True
        except BrokerUnavailable as error:
            if self._broker_answers:
                logger.error("%s", error)
            self._broker_answers = False
