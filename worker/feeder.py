"""Wakes the worker while claims wait, and makes claims of the rows of lists, a few at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

from sqlalchemy import Select, and_, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from worker import clock
from worker.broker import BrokerUnavailable, Queue
from worker.database import Database
from worker.health import worker_health
from worker.job_store import pending_claim
from worker.jobs import Origin, SaidBy
from worker.list_store import PENDING, UNFINISHED
from worker.schema import ClaimRow, EntryRow, ListRow
from worker.sharing import shared_in_list
from worker.threads import Regular
from worker.worker_store import WorkerStore

# With one claim in work and one waiting, a worker never waits for the next look.
MOST_PENDING_PER_WORKER = 2
# How often it looks while there are lists, and while there are none.
LOOK_SECONDS = 0.5
IDLE_SECONDS = 2.0

logger = logging.getLogger(__name__)


class Feeder(Regular):
    """Feeds a worker from the database; every worker has one, and they need no coordination.

    A row is handed over in the transaction that makes its claim, so lists go on without an open
    page, and after a restart. A claim whose message was lost is found here too: a message only
    wakes, and the database says what is next.
    """

    def __init__(
        self,
        database: Database,
        queue: Queue,
        stop: Event,
        idle: Callable[[], bool] = lambda: True,
    ) -> None:
        """``idle``: whether the worker has no claim."""
        super().__init__("feeder", stop, lambda busy: LOOK_SECONDS if busy else IDLE_SECONDS)
        self._database = database
        self._workers = WorkerStore(database)
        self._queue = queue
        self._idle = idle
        self._broker_answers = True

    def look(self) -> bool:
        """Feed once; return whether there is a list that has not ended.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        with self._database.reading() as session:
            unfinished = bool(session.scalar(select(exists().where(UNFINISHED))))
        if unfinished:
            workers = max(1, worker_health(self._workers).workers)
            self._hand_over(MOST_PENDING_PER_WORKER * workers)
            with self._database.writing() as session:
                _end_finished(session)
        try:
            self._wake()
        except BrokerUnavailable as error:
            if self._broker_answers:
                logger.error("%s", error)
            self._broker_answers = False
        else:
            self._broker_answers = True
        return unfinished

    def _wake(self) -> None:
        """Send a message if the worker has no claim although one waits.

        While it has one, messages are superfluous: it looks for the next claim itself, and other
        workers have read theirs. So they are removed, as many may be sent in the meantime.
        """
        if not self._idle():
            self._queue.empty()
            return
        with self._database.reading() as session:
            job_id = session.scalar(select(ClaimRow.id).where(ClaimRow.state == "queued").limit(1))
        if job_id is not None:
            self._queue.send(job_id)

    def _hand_over(self, most: int) -> None:
        """Make claims of the next rows, so that ``most`` are pending."""
        try:
            with self._database.writing() as session:
                room = max(0, most - (session.scalar(_CLAIMS_OF_LISTS) or 0))
                for row, of in session.execute(_NEXT_ROWS.limit(room)).all():
                    if row.state != "waiting":
                        continue  # an earlier row has the same claim
                    claim, new = pending_claim(
                        *(session, row.claim, of.recipe, of.owner),
                        Origin(said=SaidBy.of_columns(row.others)),
                        of.corpora,
                    )
                    claim.shared = of.shared if new else shared_in_list(claim.shared, of.shared)
                    for same in session.scalars(_waiting_with(row)):
                        same.state, same.claim_id = "handed", claim.id
        except IntegrityError:
            return  # somebody submitted the same claim at this moment; the next look finds it


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
    ended = and_(UNFINISHED, ~pending)
    session.execute(
        update(ListRow).where(ended).values(state="done", finished_at=clock.now(), client=None),
        execution_options={"synchronize_session": False},
    )
