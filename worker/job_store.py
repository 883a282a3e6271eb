"""The claims, as the pages and commands see them: submit, read, search, cancel, delete."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, fields
from hashlib import sha256
from typing import cast

from sqlalchemy import delete, exists, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from retrieval.result import ClaimResult
from worker import clock
from worker.answer_store import answers_to
from worker.database import Database
from worker.history_store import ClaimFilter, HistoryStore
from worker.jobs import (
    STATES,
    Event,
    Job,
    ListedJob,
    Origin,
    QueueFull,
    SaidBy,
    Shared,
    State,
    UnknownJob,
)
from worker.run_store import end
from worker.schema import AnswerRow, ClaimRow, EventRow
from worker.sharing import EVERYTHING, Viewer, shared_at_first
from worker.turns import Places, forget

_DELETED_AT_ONCE = 50
_NEW = Origin()


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
        origin: Origin = _NEW,
        corpora: tuple[str, ...] | None = None,
        client: str | None = None,
        typed: bool = False,
        most_queued: int | None = None,
    ) -> tuple[Job, bool]:
        """Return the job of this claim and whether it is new.

        While the same claim of the same owner with the same recipe and corpora is pending, its job
        is returned, even if many processes submit it at once. Two owners never share a job, so that
        neither can cancel the other's. ``client``, ``typed``: when its turn is (worker/turns.py).

        Raises:
            QueueFull: it is new, and ``most_queued`` jobs are queued already.
        """
        while True:
            try:
                with self.database.writing() as session:
                    row, new = pending_claim(session, claim, recipe, owner, origin, corpora)
                    # With the new one; what is raised here takes it back.
                    if new and most_queued is not None and queued(session) > most_queued:
                        raise QueueFull(most_queued)
                    row.typed |= typed  # also if it was a row of a list: a person waits for it now
                    if new:
                        row.client = client
                    session.flush()
                    return Job.model_validate(row), new
            except IntegrityError:
                continue  # another process was first: the next try finds its job

    def keep(self, result: ClaimResult, corpora: tuple[str, ...] | None = None) -> None:
        """Store a claim that a command has checked, so that the history shows it too."""
        claim = result.claim if result.claim_as_written is None else result.claim_as_written
        row = _new(
            *(claim, result.recipe),
            corpora=corpora,
            state="done",
            attempts=1,
            **ClaimRow.outcome(result),
        )
        row.started_at = row.finished_at = row.created_at
        with self.database.writing() as session:
            session.add(row)

    def is_pending(
        self, claim: str, recipe: str, owner: str | None, corpora: tuple[str, ...] | None
    ) -> bool:
        """Return whether ``submit`` would return a job that there is."""
        same = ClaimRow.pending == _pending(claim, recipe, owner, corpora)
        with self.database.reading() as session:
            return bool(session.scalar(select(exists().where(same))))

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

    def sharing(self, job_id: str) -> tuple[str | None, Shared | None]:
        """Return who owns the job and with whom it is shared (worker/sharing.py).

        Raises:
            UnknownJob: there is no job with this id.
        """
        wanted = select(ClaimRow.owner, ClaimRow.shared).where(ClaimRow.id == job_id)
        with self.database.reading() as session:
            found = session.execute(wanted).first()
        if found is None:
            raise UnknownJob
        return found.owner, found.shared

    def say(self, job_id: str, said: SaidBy) -> None:
        """Keep who said the claim, where and when.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self.database.writing() as session:
            row = _row(session, job_id, locked=True)
            for name, value in _said(said).items():
                setattr(row, name, value)

    def share(self, job_id: str, shared: Shared) -> None:
        """Share the job with a group or everyone, or with nobody any more.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self.database.writing() as session:
            _row(session, job_id, locked=True).shared = shared

    def jobs(self, ids: Sequence[str], seen_by: Viewer = EVERYTHING) -> list[Job]:
        """Return the jobs with these ids, in this order; unknown and unseen ids are left out."""
        wanted = select(ClaimRow).where(ClaimRow.id.in_(ids), seen_by.may_open(ClaimRow))
        with self.database.reading() as session:
            rows = session.scalars(wanted)
            found = {row.id: Job.model_validate(row) for row in rows}
        return [found[one] for one in ids if one in found]

    def events(self, job_id: str, since: int) -> list[Event]:
        """Return the events of a job with a number above ``since``, in order."""
        wanted = select(EventRow).where(EventRow.claim_id == job_id, EventRow.n > since)
        with self.database.reading() as session:
            return [
                Event.model_validate(row) for row in session.scalars(wanted.order_by(EventRow.n))
            ]

    def standing(self, job_id: str) -> tuple[State, int]:
        """Return the state of a job, and how many come before it if it is queued.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self.database.reading() as session:
            wanted = select(ClaimRow.state).where(ClaimRow.id == job_id)
            state = cast("State | None", session.scalar(wanted))
        if state is None:
            raise UnknownJob
        return state, (self._places.of(job_id) or 0) if state == "queued" else 0

    def recent(
        self, limit: int, owner: str | None = None, seen_by: Viewer = EVERYTHING
    ) -> list[ListedJob]:
        """Return the newest jobs that are shown to somebody, of one owner or of all."""
        wanted = ClaimFilter(owner=owner, seen_by=seen_by)
        return HistoryStore(self.database).listed(wanted, limit)[0]

    def search(
        self, text: str, limit: int, offset: int, owner: str | None = None
    ) -> tuple[list[ListedJob], int]:
        """Return one page of jobs whose claim contains ``text``, newest first, and their number.

        ``owner``: whose they are, ``None`` for those of all. Letter case is ignored; ``%`` and
        ``_`` have no special meaning.
        """
        return HistoryStore(self.database).listed(ClaimFilter(text, owner), limit, offset)

    def checked_before(
        self, claim: str, recipe: str, seen_by: Viewer = EVERYTHING
    ) -> ListedJob | None:
        """Return the newest job that gave a verdict on this claim with this recipe, if any.

        Only the default corpus counts: what others say is no earlier answer of it.
        """
        wanted = (
            select(*(getattr(ClaimRow, field.name) for field in fields(ListedJob)))
            .where(
                ClaimRow.folded == claim.casefold(),
                ClaimRow.recipe == recipe,
                ClaimRow.corpora.is_(None),
                ClaimRow.state == "done",
                seen_by.listed(ClaimRow),
            )
            .order_by(ClaimRow.number.desc())
            .limit(1)
        )
        with self.database.reading() as session:
            found = session.execute(wanted).first()
            return None if found is None else ListedJob(*found)

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
        with self.database.erasing() as session:
            _delete(session, _row(session, job_id, locked=True))

    def delete_all_of(self, owner: str) -> None:
        """Delete all jobs of a visitor, as ``delete`` does, in parts, so that others can write."""
        part = select(ClaimRow).where(ClaimRow.owner == owner).limit(_DELETED_AT_ONCE)
        while True:
            with self.database.erasing() as session:
                rows = session.scalars(part).all()
                for row in rows:
                    _delete(session, row)
                forget(session, owner)
            if not rows:
                return


def _delete(session: Session, row: ClaimRow) -> None:
    session.execute(delete(AnswerRow).where(answers_to(row)))
    session.execute(delete(ClaimRow).where(ClaimRow.id == row.id))  # with its events


def pending_claim(
    session: Session,
    claim: str,
    recipe: str,
    owner: str | None,
    origin: Origin = _NEW,
    corpora: tuple[str, ...] | None = None,
) -> tuple[ClaimRow, bool]:
    """Return the pending claim of this owner, and whether it is new.

    Raises:
        IntegrityError: another process submits it at this moment.
    """
    pending = _pending(claim, recipe, owner, corpora)
    # Locked, so that it does not end or go before the caller has changed it.
    row = session.scalar(select(ClaimRow).where(ClaimRow.pending == pending).with_for_update())
    if row is not None:
        return row, False
    row = _new(
        claim,
        recipe,
        owner=owner,
        shared=shared_at_first(owner),
        edited_from=origin.edited_from,
        continued_from=origin.continued_from,
        **_said(origin.said),
        corpora=corpora,
        pending=pending,
        state="queued",
        attempts=0,
    )
    session.add(row)
    session.flush()
    return row, True


def _said(said: SaidBy) -> dict[str, str | None]:
    return {name: value or None for name, value in asdict(said).items()}


def _pending(claim: str, recipe: str, owner: str | None, corpora: tuple[str, ...] | None) -> str:
    """Return the digest of a claim while it is pending, which is unique."""
    searched = " ".join(corpora or ())
    return sha256(f"{recipe}\0{owner or ''}\0{searched}\0{claim}".encode()).hexdigest()


def _row(session: Session, job_id: str, locked: bool = False) -> ClaimRow:
    wanted = select(ClaimRow).where(ClaimRow.id == job_id)
    row = session.scalar(wanted.with_for_update() if locked else wanted)
    if row is None:
        raise UnknownJob
    return row


def queued(session: Session) -> int:
    """Return the number of queued jobs."""
    return session.scalar(select(func.count()).where(ClaimRow.state == "queued")) or 0


def _new(claim: str, recipe: str, **values: object) -> ClaimRow:
    # 128 random bits: the id alone opens the page, so it must not be guessable.
    return ClaimRow(
        id=secrets.token_hex(16),
        claim=claim,
        folded=claim.casefold(),
        recipe=recipe,
        created_at=clock.now(),
        **values,
    )
