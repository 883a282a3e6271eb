"""All claims, as those see them who look after the queue: find lost ones, delete old ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from retrieval.errors import EsotericError
from worker import clock
from worker.database import Database
from worker.job_store import queued
from worker.run_store import Run, held_by
from worker.schema import AnswerRow, ClaimRow, EventRow
from worker.transitions import end, requeue


@dataclass(frozen=True)
class RunningJob:
    """A run that has not ended, and what changes while it does well.

    ``renewed`` changes with every renewal of its lease, ``events`` with every event.
    """

    run: Run
    renewed: datetime
    events: int


class UpkeepStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
        """Queue a lost job again. False: it was meanwhile renewed, ended or queued.

        It counts as sent now: the caller sends it.
        """
        with self._database.writing() as session:
            return requeue(session, _not_renewed(job), dispatched_at=clock.shared(session))

    def give_up(self, job: RunningJob, error: EsotericError) -> bool:
        """Fail a lost job. False: it was meanwhile renewed, ended or queued."""
        with self._database.writing() as session:
            return end(session, _not_renewed(job), "failed", error=error.problem)

    def queued(self) -> int:
        """Return the number of queued jobs."""
        with self._database.reading() as session:
            return queued(session)

    def take_unsent(self, for_at_least: timedelta, limit: int) -> list[str]:
        """Return queued jobs whose last message is at least this old, oldest first.

        So is one of the future, for this machine's clock: it was set back, or another's is ahead.
        They count as sent now, so that no two processes send the same one.
        """
        sent = func.coalesce(ClaimRow.dispatched_at, ClaimRow.created_at)
        queued_ids = select(ClaimRow.id).where(ClaimRow.state == "queued")
        unsent = queued_ids.order_by(ClaimRow.number).limit(limit).with_for_update(skip_locked=True)
        with self._database.writing() as session:
            now = clock.shared(session)
            due = or_(sent <= now - for_at_least, sent > now + for_at_least)
            ids = list(session.scalars(unsent.where(due)))
            session.execute(update(ClaimRow).where(ClaimRow.id.in_(ids)).values(dispatched_at=now))
        return ids

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


def _not_renewed(job: RunningJob) -> ColumnElement[bool]:
    return and_(held_by(job.run), ClaimRow.renewed_at == job.renewed)
