"""The workers, as their heartbeats describe them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import delete, select, update

from retrieval.errors import EsotericError
from worker import clock
from worker.clock import LastChanges
from worker.database import Database
from worker.reports import AskedModel, SearchedCorpus, WorkerState
from worker.schema import WorkerRow


class WorkerStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes = LastChanges()

    def beat(
        self,
        worker: str,
        started_at: datetime,
        state: WorkerState,
        problem: EsotericError | None = None,
        corpus: SearchedCorpus | None = None,
        language_model: AskedModel | None = None,
        documents: str | None = None,
    ) -> None:
        """Store a worker's heartbeat.

        It has its state, problem, corpus, language model, and the mark of its documents.
        """
        values: dict[str, Any] = {
            "started_at": started_at,
            "state": state,
            "problem": None if problem is None else problem.problem,
            "corpus": corpus,
            "language_model": language_model,
            "documents": documents,
        }
        with self._database.writing() as session:
            values["seen_at"] = clock.shared(session)
            # Not a merge: another process may forget this worker at this moment.
            known = update(WorkerRow).where(WorkerRow.id == worker).values(**values)
            if session.scalar(known.returning(WorkerRow.id)) is None:
                session.add(WorkerRow(id=worker, **values))

    def alive(self, seen_within: timedelta) -> list[WorkerRow]:
        """Return the workers with a heartbeat within this time, newest heartbeat first.

        The heartbeat says so by the clock, or it was seen to change: the clock of a worker on
        another machine may differ, and may be set.
        """
        wanted = select(WorkerRow).order_by(WorkerRow.seen_at.desc(), WorkerRow.id)
        with self._database.reading() as session:
            rows, now = list(session.scalars(wanted)), clock.shared(session)
        within = seen_within.total_seconds()
        changed = self._changes.seconds({row.id: row.seen_at for row in rows})
        return [
            row
            for row in rows
            if min(abs((now - row.seen_at).total_seconds()), changed[row.id]) <= within
        ]

    def state(self, worker: str) -> WorkerState | None:
        """Return the state of a worker as it was last reported; ``None``: there is none."""
        with self._database.reading() as session:
            found = session.scalar(select(WorkerRow.state).where(WorkerRow.id == worker))
            return cast("WorkerState | None", found)

    def forget(self, worker: str) -> None:
        """Remove a worker that stops."""
        with self._database.writing() as session:
            session.execute(delete(WorkerRow).where(WorkerRow.id == worker))

    def forget_silent(self, unseen_for: timedelta) -> None:
        """Remove workers without a heartbeat for this time."""
        with self._database.writing() as session:
            silent = WorkerRow.seen_at < clock.shared(session) - unseen_for
            session.execute(delete(WorkerRow).where(silent))
