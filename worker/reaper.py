"""Finds claims that no worker is checking any more, and queues them again."""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Event, Thread

from worker.broker import BrokerUnavailable, Queue
from worker.database import Database, StoreUnavailable
from worker.failures import WorkerLost
from worker.heartbeat import Heartbeat
from worker.logs import about
from worker.tidying import Tidying
from worker.unchanged import Unchanged
from worker.upkeep_store import UpkeepStore

LOOK_SECONDS = 2.0
# A claim whose lease was not renewed for this long goes to another worker. The time must
# be longer than a stage that blocks the interpreter, or a write that the disk delays.
LEASE_SECONDS = 10.0
MOST_ATTEMPTS = 2
# With fewer messages than queued claims, messages were lost: probably those of the oldest
# claims, because the messages are read in order. An idle worker has read all of them. A busy one
# cannot know this, and waits for longer: another worker may just have taken the message.
PATIENCE_WHEN_IDLE = timedelta(seconds=2)
PATIENCE_WHEN_BUSY = timedelta(seconds=15)
MOST_SENT_AT_ONCE = 100
# Messages of cancelled claims stay in the queue. With more messages than this for a queued claim,
# all are removed, and those of the queued claims are sent again.
MOST_MESSAGES_FOR_A_CLAIM = 2

logger = logging.getLogger(__name__)


class Reaper(Thread):
    """Queues claims of lost workers again, once, and keeps one or two messages for a queued claim.

    Every worker has one. They need no coordination: each step is a compare-and-set, and a
    message that is sent twice, or removed, does not check a claim twice, and loses none.
    """

    def __init__(
        self,
        database: Database,
        queue: Queue,
        heartbeat: Heartbeat,
        stop: Event,
        keep_for: timedelta | None = None,
    ) -> None:
        """``keep_for``: how long finished claims are kept, ``None`` for good."""
        super().__init__(name="reaper", daemon=True)
        self._claims = UpkeepStore(database)
        self._queue = queue
        self._heartbeat = heartbeat
        self._halt = stop
        self._broker_answers = True
        self._tidying = Tidying(database, keep_for)
        self._leases = Unchanged()

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
        """Look for lost claims, lost messages and old claims once.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        self._tidying.delete_old()
        lost = self._taken_back()
        try:
            self._send(lost)
            self._mend_messages()
        except BrokerUnavailable as error:
            if self._broker_answers:
                logger.error("%s", error)
            self._broker_answers = False
        else:
            self._broker_answers = True

    def _taken_back(self) -> list[str]:
        """Queue the claims of lost workers again, and return those that need a message."""
        queued = []
        running = {job.run.token: job for job in self._claims.running()}
        unchanged = self._leases.seconds({token: job.renewed for token, job in running.items()})
        for job in (running[token] for token in unchanged if unchanged[token] >= LEASE_SECONDS):
            run = job.run
            with about(claim=run.job_id):
                if run.attempt >= MOST_ATTEMPTS:
                    if self._claims.give_up(job, WorkerLost()):
                        logger.error("Claim %s lost its worker again and failed", run.job_id)
                elif self._claims.take_back(job):
                    logger.warning("Claim %s lost its worker and is queued again", run.job_id)
                    queued.append(run.job_id)
        return queued

    def _mend_messages(self) -> None:
        """Send lost messages again, and remove those that are too many."""
        idle = self._heartbeat.idle_seconds() >= PATIENCE_WHEN_IDLE.total_seconds() / 2
        patience = PATIENCE_WHEN_IDLE if idle else PATIENCE_WHEN_BUSY
        # A claim is stored before its message is sent, so the messages are counted first.
        messages = self._queue.waiting()
        queued = self._claims.queued()
        if messages > MOST_MESSAGES_FOR_A_CLAIM * queued:
            self._queue.empty()
            logger.info(
                "The queue had %d messages for %d queued claims; they are sent anew",
                messages,
                queued,
            )
            messages, patience = 0, PATIENCE_WHEN_IDLE
        if messages < queued:
            most = min(MOST_SENT_AT_ONCE, queued - messages)
            self._send(self._claims.take_unsent(patience, most))

    def _send(self, job_ids: list[str]) -> None:
        for job_id in job_ids:
            self._queue.send(job_id)
            with about(claim=job_id):
                logger.info("Claim %s was sent again", job_id)
