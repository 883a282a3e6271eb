"""The claims, as the pages and commands see them: submit, read, search, cancel, delete."""

from __future__ import annotations

import secrets
from hashlib import sha256

from sqlalchemy import delete, exists, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from retrieval.result import ClaimResult
from worker import clock
from worker.answer_store import answers_to
from worker.database import Database
from worker.history_store import ClaimFilter, HistoryStore
from worker.jobs import STATES, Event, Job, ListedJob, QueueFull, State, UnknownJob
from worker.schema import AnswerRow, ClaimRow, EventRow
from worker.transitions import change, end
from worker.turns import Place, Places


class JobStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._places = Places(database)

    def submit(
        self,
        claim: str,
        recipe: str,
        owner: str | None = None,
        client: str | None = None,
        typed: bool = False,
        most_queued: int | None = None,
    ) -> tuple[Job, bool]:
        """Return the job of this claim and whether it is new.

        While the same claim of the same owner with the same recipe is pending, its job is
        returned, even if many processes submit it at once. Two owners never share a job, so that
        neither can cancel the other's. ``client``, ``typed``: when its turn is (worker/turns.py).

        Raises:
            QueueFull: it is new, and ``most_queued`` jobs are queued already.
        """
        pending = sha256(f"{recipe}\0{owner or ''}\0{claim}".encode()).hexdigest()
        while True:
            try:
                with self.database.writing() as session:
                    row = session.scalar(select(ClaimRow).where(ClaimRow.pending == pending))
                    if row is not None:
                        row.typed |= typed  # a person waits for it now
                        return Job.model_validate(row), False
                    if most_queued is not None and queued(session) >= most_queued:
                        raise QueueFull(most_queued)
                    row = _new(
                        *(claim, recipe),
                        owner=owner,
                        client=client,
                        typed=typed,
                        pending=pending,
                        state="queued",
                        attempts=0,
                    )
                    session.add(row)
                    session.flush()
                    return Job.model_validate(row), True
            except IntegrityError:
                continue  # another process was first: the next try finds its job

    def keep(self, result: ClaimResult) -> None:
        """Store a claim that a command has checked, so that the history shows it too."""
        claim = result.claim if result.claim_as_written is None else result.claim_as_written
        row = _new(claim, result.recipe, state="done", attempts=1, **ClaimRow.outcome(result))
        row.started_at = row.finished_at = row.created_at
        with self.database.writing() as session:
            session.add(row)

    # Messages in the broker

    def dispatched(self, job_id: str) -> bool:
        """Record that the broker accepted a message for the job. False: the job was withdrawn."""
        with self.database.writing() as session:
            return change(session, ClaimRow.id == job_id, dispatched_at=clock.now())

    def accepted(self, job_id: str) -> bool:
        """Return whether the job is stored and has had a message, or needs none."""
        needs_none = or_(ClaimRow.dispatched_at.is_not(None), ClaimRow.state != "queued")
        with self.database.reading() as session:
            return bool(session.scalar(select(exists().where(ClaimRow.id == job_id, needs_none))))

    def withdraw(self, job_id: str) -> None:
        """Remove a queued job that never had a message; any other job stays as it is."""
        with self.database.writing() as session:
            session.execute(
                delete(ClaimRow).where(
                    ClaimRow.id == job_id,
                    ClaimRow.state == "queued",
                    ClaimRow.dispatched_at.is_(None),
                )
            )

    # What there is

    def get(self, job_id: str) -> Job:
        """Return the job.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self.database.reading() as session:
            return Job.model_validate(_row(session, job_id))

    def owner(self, job_id: str) -> str | None:
        """Return who submitted the job, ``None`` if it belongs to nobody.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self.database.reading() as session:
            return _row(session, job_id).owner

    def events(self, job_id: str, since: int) -> list[Event]:
        """Return the events of a job with a number above ``since``, in order."""
        wanted = select(EventRow).where(EventRow.claim_id == job_id, EventRow.n > since)
        with self.database.reading() as session:
            return [
                Event.model_validate(row) for row in session.scalars(wanted.order_by(EventRow.n))
            ]

    def recent(self, limit: int, owner: str | None = None) -> list[ListedJob]:
        """Return the newest jobs, of one owner or of all, newest first."""
        return self.search("", limit, 0, owner)[0]

    def search(
        self, text: str, limit: int, offset: int, owner: str | None = None
    ) -> tuple[list[ListedJob], int]:
        """Return one page of jobs whose claim contains ``text``, newest first, and their number.

        ``owner``: whose they are, ``None`` for those of all. Letter case is ignored; ``%`` and
        ``_`` have no special meaning.
        """
        return HistoryStore(self.database).listed(ClaimFilter(text, owner), limit, offset)

    def place(self, job_id: str) -> Place | None:
        """Return the place of a job in the queue; ``None``: it is not queued."""
        return self._places.of(job_id)

    def counts(self) -> dict[State, int]:
        """Return how many jobs are in each state, states without a job included."""
        counted = select(ClaimRow.state, func.count()).group_by(ClaimRow.state)
        with self.database.reading() as session:
            found = dict(session.execute(counted).all())
        return {state: found.get(state, 0) for state in STATES}

    # Its end

    def cancel(self, job_id: str) -> Job:
        """Cancel a pending job and return it; a finished job stays as it is.

        Raises:
            UnknownJob: there is no job with this id.
        """
        pending = (ClaimRow.id == job_id) & ClaimRow.state.in_(("queued", "running"))
        with self.database.writing() as session:
            end(session, pending, "cancelled")
            return Job.model_validate(_row(session, job_id))

    def delete(self, job_id: str) -> None:
        """Delete a job in any state: the claim, its events, its result, a model's answers to it.

        A worker that checks it notices so at its next step, as if it were cancelled.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self.database.writing() as session:
            row = _row(session, job_id)
            session.execute(delete(AnswerRow).where(answers_to(row)))
            session.execute(delete(ClaimRow).where(ClaimRow.id == job_id))  # with its events


def _row(session: Session, job_id: str) -> ClaimRow:
    row = session.scalar(select(ClaimRow).where(ClaimRow.id == job_id))
    if row is None:
        raise UnknownJob
    return row


def queued(session: Session) -> int:
    """Return the number of queued jobs."""
    return session.scalar(select(func.count()).where(ClaimRow.state == "queued")) or 0


def _new(claim: str, recipe: str, **values: object) -> ClaimRow:
    # 96 random bits: the id alone opens the page, so it must not be guessable.
    return ClaimRow(
        id=secrets.token_hex(12),
        claim=claim,
        folded=claim.casefold(),
        recipe=recipe,
        created_at=clock.now(),
        **values,
    )
