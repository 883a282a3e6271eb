"""Hands the rows of lists to the queue, a few at a time, so that other claims wait for few."""

from __future__ import annotations

import logging
from threading import Event, Thread

from sqlalchemy import Select, and_, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from worker import clock
from worker.broker import BrokerUnavailable, Queue
from worker.database import Database, StoreUnavailable
from worker.health import worker_health
from worker.job_store import pending_claim
from worker.list_store import PENDING
from worker.logs import about
from worker.schema import ClaimRow, EntryRow, ListRow
from worker.worker_store import WorkerStore

# With one claim in work and one waiting, a worker never waits for the next look.
MOST_PENDING_PER_WORKER = 2
# How often it looks while there are lists, and while there are none.
LOOK_SECONDS = 0.5
IDLE_SECONDS = 2.0

logger = logging.getLogger(__name__)


class Feeder(Thread):
    """Feeds the queue from the lists that run, and ends the lists whose rows have all ended.

    Every worker has one, and they need no coordination: a row is handed over in the transaction
    that makes its claim. So lists go on without an open page, and after a restart.
    """

    def __init__(self, database: Database, queue: Queue, stop: Event) -> None:
        super().__init__(name="feeder", daemon=True)
        self._database = database
        self._workers = WorkerStore(database)
        self._queue = queue
        self._halt = stop

    def run(self) -> None:
        """Feed the queue regularly until ``stop`` is set."""
        while True:
            busy = False
            try:
                busy = self.look()
            except StoreUnavailable as error:
                logger.error("The rows of lists could not be looked for: %s", error)
            if self._halt.wait(LOOK_SECONDS if busy else IDLE_SECONDS):
                return

    def look(self) -> bool:
        """Feed the queue once; return whether there is a list that has not ended.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        with self._database.reading() as session:
            unfinished = session.scalar(select(exists().where(_UNFINISHED)))
        if not unfinished:
            return False
        workers = max(1, worker_health(self._workers).workers)
        handed = self._handed_over(MOST_PENDING_PER_WORKER * workers)
        with self._database.writing() as session:
            _end_finished(session)
        for job_id in handed:
            with about(claim=job_id):
                try:
                    self._queue.send(job_id)
                except BrokerUnavailable as error:
                    # The claim counts as sent, so the reaper sends it again.
                    logger.warning("Claim %s of a list waits for the queue: %s", job_id, error)
        return True

    def _handed_over(self, most: int) -> list[str]:
        """Make claims of the next rows, so that ``most`` are pending; return the ids of the new."""
        try:
            with self._database.writing() as session:
                made = []
                room = max(0, most - (session.scalar(_CLAIMS_OF_LISTS) or 0))
                for row, of in session.execute(_NEXT_ROWS.limit(room)).all():
                    if row.state != "waiting":
                        continue  # an earlier row has the same claim
                    claim, new = pending_claim(
                        session, row.claim, of.recipe, of.owner, corpora=of.corpora
                    )
                    if new or of.shared == "everyone":
                        claim.shared = of.shared
                    if new:
                        claim.dispatched_at = clock.shared(session)
                        made.append(claim.id)
                    for same in session.scalars(_waiting_with(row)):
                        same.state, same.claim_id = "handed", claim.id
                return made
        except IntegrityError:
            return []  # somebody submitted the same claim at this moment; the next look finds it


_UNFINISHED = ListRow.state.in_(("running", "paused"))
_CLAIMS_OF_LISTS = select(func.count(ClaimRow.number)).where(
    ClaimRow.state.in_(("queued", "running")),
    exists().where(EntryRow.claim_id == ClaimRow.id),
)
# By their numbers first: a short list need not wait until a long one has ended.
_NEXT_ROWS = (
    select(EntryRow, ListRow)
    .join(ListRow, ListRow.id == EntryRow.list_id)
    .where(EntryRow.state == "waiting", ListRow.state == "running")
    .order_by(EntryRow.number, ListRow.number)
    .with_for_update(skip_locked=True, of=EntryRow)
)


def _waiting_with(row: EntryRow) -> Select[EntryRow]:
    """Select the rows of the same list with the same claim, which is checked once; also this."""
    same = (EntryRow.list_id == row.list_id, EntryRow.claim == row.claim)
    rows = select(EntryRow).where(*same, EntryRow.state == "waiting")
    return rows.with_for_update(skip_locked=True)


def _end_finished(session: Session) -> None:
    of_claim = EntryRow.claim_id == ClaimRow.id
    pending = (
        select(EntryRow.number)
        .join(ClaimRow, of_claim, isouter=True)
        .where(EntryRow.list_id == ListRow.id, PENDING)
        .exists()
    )
    ended = and_(_UNFINISHED, ~pending)
    session.execute(
        update(ListRow).where(ended).values(state="done", finished_at=clock.now(), client=None),
        execution_options={"synchronize_session": False},
    )
