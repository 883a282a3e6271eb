"""The claims, as the pages and commands see them: submit, read, search, group, cancel, delete."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from itertools import groupby
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from retrieval.result import ClaimResult
from retrieval.types import NOT_ENOUGH_INFO, Label
from retrieval.words import FIRM_CONFIDENCE, Level
from worker import clock
from worker.answer_store import answers_to
from worker.database import Database
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


@dataclass(frozen=True)
class ClaimFilter:
    """Which claims are wanted; ``None`` and "" want all. ``text``: words of the claim.

    ``seen_by``: only those that are shown to somebody.
    """

    text: str = ""
    owner: str | None = None
    seen_by: Viewer = EVERYTHING
    label: Label | None = None
    level: Level | None = None
    recipe: str | None = None
    state: State | None = None


@dataclass(frozen=True)
class ClaimGroup:
    """The runs of one claim, newest first; they may differ in the case of its letters."""

    runs: tuple[ListedJob, ...]


class JobStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads.

    What takes the id of a job raises ``UnknownJob`` if there is none, or it was deleted.
    """

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
        """Return the job."""
        with self.database.reading() as session:
            return Job.model_validate(_row(session, job_id))

    def owner(self, job_id: str) -> str | None:
        """Return who submitted the job, ``None`` if it belongs to nobody."""
        return self.sharing(job_id)[0]

    def sharing(self, job_id: str) -> tuple[str | None, Shared | None]:
        """Return who owns the job and with whom it is shared (worker/sharing.py)."""
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
        """Share the job with a group or everyone, or with nobody any more."""
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
        """Return the state of a job, and how many come before it if it is queued."""
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
        return self.listed(ClaimFilter(owner=owner, seen_by=seen_by), limit)[0]

    def listed(
        self, wanted: ClaimFilter, limit: int, offset: int = 0
    ) -> tuple[list[ListedJob], int]:
        """Return one page of the jobs, newest first, and how many there are in all."""
        found = _where(wanted)
        page = _listed(found).limit(limit).offset(offset)
        with self.database.reading() as session:
            total = session.scalar(select(func.count(ClaimRow.number)).where(found))
            return [ListedJob(*row) for row in session.execute(page)], total or 0

    def grouped(
        self, wanted: ClaimFilter, limit: int, offset: int = 0
    ) -> tuple[list[ClaimGroup], int]:
        """Return one page of the claims with their runs, and how many there are in all.

        Those with the newest run come first. Letter case is ignored. Only wanted runs are in them.
        """
        found = _where(wanted)
        newest = func.max(ClaimRow.number)
        claims = select(ClaimRow.folded, newest.label("newest")).where(found)
        claims = claims.group_by(ClaimRow.folded)
        page = claims.order_by(newest.desc()).limit(limit).offset(offset).subquery()
        runs = _listed(found).join(page, page.c.folded == ClaimRow.folded)
        runs = runs.order_by(None).order_by(page.c.newest.desc(), ClaimRow.number.desc())
        with self.database.reading() as session:
            total = session.scalar(select(func.count()).select_from(claims.subquery()))
            rows = [ListedJob(*row) for row in session.execute(runs)]
        groups = groupby(rows, key=lambda row: row.claim.casefold())
        return [ClaimGroup(tuple(runs)) for _, runs in groups], total or 0

    def recipes(self) -> list[str]:
        """Return the names of the recipes of all claims, in their order."""
        names = select(ClaimRow.recipe).distinct().order_by(ClaimRow.recipe)
        with self.database.reading() as session:
            return list(session.scalars(names))

    def one_by_one(self, ids: Sequence[str], seen_by: Viewer = EVERYTHING) -> Iterator[Job]:
        """Yield these jobs as ``jobs`` returns them, few in memory at once: results are long."""
        return (job for job_id in ids for job in self.jobs([job_id], seen_by))

    def ids_of(self, owner: str) -> list[str]:
        """Return the ids of all jobs of a visitor, oldest first."""
        owned = select(ClaimRow.id).where(ClaimRow.owner == owner).order_by(ClaimRow.number)
        with self.database.reading() as session:
            return list(session.scalars(owned))

    def checked_before(
        self, claim: str, recipe: str, seen_by: Viewer = EVERYTHING
    ) -> ListedJob | None:
        """Return the newest job that gave a verdict on this claim with this recipe, if any.

        Only the default corpus counts: what others say is no earlier answer of it.
        """
        done = and_(
            *(ClaimRow.folded == claim.casefold(), ClaimRow.recipe == recipe),
            *(ClaimRow.corpora.is_(None), ClaimRow.state == "done", seen_by.listed(ClaimRow)),
        )
        with self.database.reading() as session:
            found = session.execute(_listed(done).limit(1)).first()
            return None if found is None else ListedJob(*found)

    def counts(self) -> dict[State, int]:
        """Return how many jobs are in each state, states without a job included."""
        counted = select(ClaimRow.state, func.count()).group_by(ClaimRow.state)
        with self.database.reading() as session:
            found = dict(session.execute(counted).all())
        return {state: found.get(state, 0) for state in STATES}

    # Its end

    def cancel(self, job_id: str) -> Job:
        """Cancel a pending job and return it; a finished job stays as it is."""
        pending = (ClaimRow.id == job_id) & ClaimRow.state.in_(("queued", "running"))
        with self.database.writing() as session:
            end(session, pending, "cancelled")
            return Job.model_validate(_row(session, job_id))

    def delete(self, job_id: str) -> None:
        """Delete a job in any state: the claim, its events, its result, a model's answers to it.

        A worker that checks it notices so at its next step, as if it were cancelled.
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


def _listed(found: ColumnElement[bool]) -> Select[Any]:
    # Not their results, which are long.
    columns = (getattr(ClaimRow, field.name) for field in fields(ListedJob))
    return select(*columns).where(found).order_by(ClaimRow.number.desc())


def _where(wanted: ClaimFilter) -> ColumnElement[bool]:
    # Letter case is ignored; "%" and "_" have no special meaning.
    conditions = [ClaimRow.folded.contains(wanted.text.casefold(), autoescape=True)]
    conditions.append(wanted.seen_by.listed(ClaimRow))
    for column, value in (
        (ClaimRow.owner, wanted.owner),
        (ClaimRow.label, wanted.label),
        (ClaimRow.recipe, wanted.recipe),
        (ClaimRow.state, wanted.state),
    ):
        if value is not None:
            conditions.append(column == value)
    if wanted.level is not None:
        conditions.append(_has_level(wanted.level))
    return and_(*conditions)


def _has_level(level: Level) -> ColumnElement[bool]:
    """Return whether a verdict has this level, as ``retrieval.words.level_of`` gives it."""
    if level in ("leans", "unsettled"):
        leans = ClaimRow.leans.is_not(None)
        return and_(ClaimRow.label == NOT_ENOUGH_INFO, leans if level == "leans" else ~leans)
    firm = func.coalesce(ClaimRow.confidence, 1.0) >= FIRM_CONFIDENCE
    return and_(ClaimRow.label != NOT_ENOUGH_INFO, firm if level == "settled" else ~firm)
