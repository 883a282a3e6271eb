"""Claims in work: started, kept by their leases, ended, and those of lost workers taken back.

A job changes its state by one UPDATE that names the old state. Only the database counts; a message
in the broker wakes a worker. So a lost message causes a short delay, and one that comes twice does
no harm. If an UPDATE changes no row, another process was first, and nothing is done. A job that is
deleted, in any state, is a row that no change finds any more.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    and_,
    delete,
    exists,
    func,
    select,
    update,
)
from sqlalchemy.orm import Session

from retrieval.errors import EsotericError, Problem
from retrieval.result import ClaimResult
from retrieval.types import Progress
from worker import clock, tallies
from worker.database import Database
from worker.jobs import State
from worker.schema import AnswerRow, ClaimRow, EntryRow, EventRow
from worker.turns import next_id, take


@dataclass(frozen=True)
class Run:
    """One worker's attempt at a job. ``token`` shows that the job still belongs to this attempt.

    ``list_id``: a list that it is a row of, for the log of its worker.
    """

    job_id: str
    token: str
    attempt: int
    claim: str
    recipe: str
    corpora: tuple[str, ...] | None
    list_id: str | None = None


@dataclass(frozen=True)
class RunningJob:
    """A run that has not ended, and what changes while it does well.

    ``renewed`` changes with every renewal of its lease, ``events`` with every event.
    """

    run: Run
    renewed: datetime
    events: int


class RunStore:
    """The claims, as workers see them.

    Every method may raise ``StoreUnavailable``; safe to share between threads.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def start_next(self, worker: str) -> Run | None:
        """Start the queued job whose turn it is. ``None``: none is queued."""
        with self._database.writing() as session:
            job_id = next_id(session)
            return None if job_id is None else _start(session, job_id, worker)

    def start(self, job_id: str, worker: str) -> Run | None:
        """Start this job out of turn. ``None``: it is not queued, so there is nothing to do."""
        with self._database.writing() as session:
            return _start(session, job_id, worker)

    def state(self, job_id: str) -> State | None:
        """Return the state of a job, ``None`` if there is no such job."""
        with self._database.reading() as session:
            found = session.scalar(select(ClaimRow.state).where(ClaimRow.id == job_id))
            return cast("State | None", found)

    def renew(self, run: Run) -> bool:
        """Renew the lease. False: the job no longer belongs to this run."""
        with self._database.writing() as session:
            return change(session, _held_by(run), renewed_at=clock.now())

    def record(self, run: Run, progress: Progress) -> bool:
        """Append an event. False: the job no longer belongs to this run; nothing was written."""
        with self._database.writing() as session:
            # Locked, so that the job is not deleted before its event is there.
            held = select(ClaimRow.id).where(_held_by(run)).with_for_update()
            if session.scalar(held) is None:
                return False
            _append(session, run, progress)
            return True

    def finish(self, run: Run, result: ClaimResult) -> bool:
        """Store the result. False: the job no longer belongs to this run; nothing was written."""
        with self._database.writing() as session:
            return end(session, _held_by(run), "done", *_times(result), **ClaimRow.outcome(result))

    def fail(self, run: Run, error: EsotericError) -> bool:
        """Store the error. False: the job no longer belongs to this run; nothing was written."""
        with self._database.writing() as session:
            return end(session, _held_by(run), "failed", error=error.problem)

    def give_back(self, run: Run) -> bool:
        """Queue the job again because its worker stops; this attempt is not counted."""
        with self._database.writing() as session:
            return _requeue(session, _held_by(run), attempts=ClaimRow.attempts - 1)

    def was_deleted(self, run: Run, began: datetime) -> bool:
        """Return whether the job was deleted; then delete the answers of models since ``began``.

        The run may have stored one after the deletion. Those of other claims are asked for again.
        """
        with self._database.erasing() as session:
            if session.scalar(select(exists().where(ClaimRow.id == run.job_id))):
                return False
            session.execute(delete(AnswerRow).where(AnswerRow.kept_at >= began))
            return True

    # Of other workers too

    def running(self, worker: str | None = None) -> list[RunningJob]:
        """Return the runs that have not ended, of one worker or of all."""
        events = select(func.count()).where(EventRow.claim_id == ClaimRow.id).scalar_subquery()
        run = (
            *(ClaimRow.id, ClaimRow.token, ClaimRow.attempts, ClaimRow.claim, ClaimRow.recipe),
            ClaimRow.corpora,
        )
        wanted = select(ClaimRow.renewed_at, events, *run).where(ClaimRow.state == "running")
        if worker is not None:
            wanted = wanted.where(ClaimRow.worker == worker)
        with self._database.reading() as session:
            return [
                RunningJob(Run(*of), renewed, events)
                for renewed, events, *of in session.execute(wanted)
            ]

    def take_back(self, job: RunningJob) -> bool:
        """Queue a lost job again. False: it was meanwhile renewed, ended or queued."""
        with self._database.writing() as session:
            return _requeue(session, _not_renewed(job))

    def give_up(self, job: RunningJob, error: EsotericError) -> bool:
        """Fail a lost job. False: it was meanwhile renewed, ended or queued."""
        with self._database.writing() as session:
            return end(session, _not_renewed(job), "failed", error=error.problem)

    def delete_finished(self, ago: timedelta, limit: int) -> int:
        """Delete up to ``limit`` jobs that ended at least this long ago, and return their number.

        Answers of language models that are as old are deleted too.
        """
        before = clock.now() - ago
        old = select(ClaimRow.id).where(ClaimRow.finished_at <= before).limit(limit)
        with self._database.erasing() as session:
            ids = list(session.scalars(old))
            session.execute(delete(ClaimRow).where(ClaimRow.id.in_(ids)))
            session.execute(delete(AnswerRow).where(AnswerRow.kept_at <= before))
        return len(ids)


def change(session: Session, allowed: ColumnElement[bool], **values: Any) -> bool:
    """Change the row of a job, if it is as it must be. False: it is not; nothing was changed."""
    statement = update(ClaimRow).where(allowed).values(**values)
    # No row is in the session before its change.
    changed = session.execute(statement, execution_options={"synchronize_session": False})
    return cast("CursorResult[Any]", changed).rowcount == 1


def end(
    session: Session,
    allowed: ColumnElement[bool],
    state: State,
    *more: tallies.Tally,
    error: Problem | None = None,
    **values: Any,
) -> bool:
    """Give a job one of the states in which it stays, and count that. False: nothing was changed.

    ``more``: what is counted with it.
    """
    ended = change(
        session,
        allowed,
        state=state,
        finished_at=clock.now(),
        pending=None,
        client=None,
        token=None,
        renewed_at=None,
        error=error,
        **values,
    )
    if ended:
        code = "" if error is None else error.code
        tallies.add(session, (tallies.Tally(tallies.CLAIMS, (state, code)), *more))
    return ended


def _requeue(session: Session, allowed: ColumnElement[bool], **values: Any) -> bool:
    """Queue a running job again. False: nothing was changed."""
    return change(
        session,
        allowed,
        state="queued",
        token=None,
        worker=None,
        renewed_at=None,
        started_at=None,
        **values,
    )


def _start(session: Session, job_id: str, worker: str) -> Run | None:
    """Start a queued job. ``None``: it is not queued.

    A job that was started before gets an event about it; event numbers continue.
    """
    now, token = clock.now(), secrets.token_hex(16)
    taken = change(
        session,
        and_(ClaimRow.id == job_id, ClaimRow.state == "queued"),
        state="running",
        attempts=ClaimRow.attempts + 1,
        token=token,
        worker=worker,
        renewed_at=now,
        started_at=now,
    )
    if not taken:
        return None
    row = session.scalars(select(ClaimRow).where(ClaimRow.id == job_id)).one()
    take(session, row)
    began_before = session.scalar(select(exists().where(EventRow.claim_id == job_id)))
    if row.attempts == 1 and not began_before:  # one that was given back has one attempt again
        waited = max(0.0, (now - row.created_at).total_seconds())  # clocks of machines may differ
        typed = "true" if row.typed else "false"
        tallies.add(session, [tallies.Tally(tallies.WAITS, (typed,), waited)])
    of_list = session.scalar(select(EntryRow.list_id).where(EntryRow.claim_id == job_id).limit(1))
    run = Run(row.id, token, row.attempts, row.claim, row.recipe, row.corpora, of_list)
    if began_before:
        again = Progress("start", "Its worker stopped; the claim starts again.", 0, 1)
        _append(session, run, again)
    return run


def _append(session: Session, run: Run, progress: Progress) -> None:
    last = select(func.max(EventRow.n)).where(EventRow.claim_id == run.job_id)
    session.add(
        EventRow(
            claim_id=run.job_id,
            n=(session.scalar(last) or 0) + 1,
            at=clock.now(),
            stage=progress.stage,
            message=progress.message,
            done=progress.done,
            of=progress.of,
            found=progress.found,
        )
    )


def _times(result: ClaimResult) -> list[tallies.Tally]:
    return [tallies.Tally(tallies.STAGES, (stage,), s) for stage, s in result.seconds.items()]


def _held_by(run: Run) -> ColumnElement[bool]:
    """Return what is true of a job while it belongs to this run."""
    return and_(ClaimRow.id == run.job_id, ClaimRow.state == "running", ClaimRow.token == run.token)


def _not_renewed(job: RunningJob) -> ColumnElement[bool]:
    return and_(_held_by(job.run), ClaimRow.renewed_at == job.renewed)
