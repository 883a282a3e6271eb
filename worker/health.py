"""Whether any worker can check claims, for ``/readyz`` and ``esoteric doctor``; how busy they are.

``overview`` has what ``/metrics`` shows: how busy the service is at one moment. ``python -m
worker.health`` is the health check of a worker's container.
"""

from __future__ import annotations

import socket
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import get_args

from sqlalchemy import func, select

from retrieval.errors import Problem
from settings import Settings
from worker import clock
from worker.database import Database
from worker.jobs import STATES
from worker.list_store import UNFINISHED
from worker.reports import AskedModel, SearchedCorpus, WorkerDies, WorkerState
from worker.schema import ClaimRow, EntryRow, ListRow, WorkerRow
from worker.tallies import Totals, totals
from worker.worker_store import WorkerStore

# A worker writes a heartbeat every two seconds (worker.heartbeat); loading models may
# block it for longer than that.
ALIVE_WITHIN = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """The state of the workers: one of them is ready, or ``problem`` says why not.

    ``corpus``: the corpus of a ready worker, if it reports it. ``language_model``: the model that
    a worker sends claims and evidence to.
    """

    ready: bool
    workers: int
    problem: Problem | None
    corpus: SearchedCorpus | None = None
    language_model: AskedModel | None = None


def worker_health(store: WorkerStore) -> WorkerHealth:
    """Return the state of the workers from their heartbeats in the database.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    reported = store.alive(ALIVE_WITHIN)
    # What `esoteric up` says about its worker is no worker.
    dying = [one.problem for one in reported if one.problem and one.problem.code == WorkerDies.CODE]
    workers = [one for one in reported if one.problem is None or one.problem not in dying]
    ready = [one for one in workers if one.state == "ready" and one.problem is None]
    asked = [worker.language_model for worker in workers if worker.language_model is not None]
    # A model that gives no answer comes first, because an operator must know it.
    model = min(asked, key=lambda one: one.problem is None, default=None)
    if ready:
        return WorkerHealth(True, len(workers), None, ready[0].corpus, model)
    if dying:
        problem = dying[0]
    elif any(worker.state == "loading" for worker in workers):
        problem = Problem(
            "worker_loading", "The worker is loading its models.", "Wait a few seconds."
        )
    elif workers and workers[0].problem is not None:
        problem = workers[0].problem
    else:
        problem = Problem(
            "no_worker",
            "No worker is running, so claims wait.",
            "Start everything with `esoteric up`, or one worker with `python -m worker`.",
        )
    return WorkerHealth(False, len(workers), problem, language_model=model)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Claims that wait: how many, and for how many seconds the oldest one does."""

    claims: int
    oldest: float


@dataclass(frozen=True, slots=True)
class Overview:
    """``typed``: claims that persons wait for, ``others``: those of lists and programs.

    ``rows``: of the lists that have not ended. ``workers``: those with a heartbeat;
    "hanging" is one whose check makes no progress.
    """

    claims: Mapping[str, int]
    typed: Waiting
    others: Waiting
    lists: Mapping[str, int]
    rows: Mapping[str, int]
    workers: Mapping[str, int]
    totals: Totals


def overview(database: Database) -> Overview:
    """Read all numbers in one transaction.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    claims = select(ClaimRow.state, func.count()).group_by(ClaimRow.state)
    lists = select(ListRow.state, func.count()).group_by(ListRow.state)
    waiting = (
        select(ClaimRow.typed, func.count(), func.min(ClaimRow.created_at))
        .where(ClaimRow.state == "queued")
        .group_by(ClaimRow.typed)
    )
    # A row has the state of its claim, once it has one.
    state = func.coalesce(ClaimRow.state, EntryRow.state)
    rows = (
        select(state, func.count())
        .select_from(EntryRow)
        .join(ListRow, ListRow.id == EntryRow.list_id)
        .join(ClaimRow, ClaimRow.id == EntryRow.claim_id, isouter=True)
        .where(UNFINISHED)
        .group_by(state)
    )
    now = clock.now()
    alive = WorkerStore(database).alive(ALIVE_WITHIN)
    with database.reading() as session:
        found = {
            typed: Waiting(number, max(0.0, (now - oldest).total_seconds()))
            for typed, number, oldest in session.execute(waiting)
        }
        of_rows = dict(session.execute(rows).all())
        of_rows["deleted"] = of_rows.pop("handed", 0)  # its claim is gone
        return Overview(
            claims=dict.fromkeys(STATES, 0) | dict(session.execute(claims).all()),
            typed=found.get(True, Waiting(0, 0.0)),
            others=found.get(False, Waiting(0, 0.0)),
            lists=dict(session.execute(lists).all()),
            rows=of_rows,
            workers=_by_state(alive),
            totals=totals(session),
        )


def main() -> int:
    """Return 0 if a worker of this machine, or container, has a heartbeat, else 1."""
    settings = Settings.from_environment()
    with closing(Database(settings.database_url)) as database:
        alive = WorkerStore(database).alive(ALIVE_WITHIN)
    return int(not any(one.id.startswith(f"{socket.gethostname()}-") for one in alive))


def _by_state(alive: Sequence[WorkerRow]) -> Mapping[str, int]:
    # What `esoteric up` says about a worker that dies again and again is no worker.
    states = Counter(
        "hanging" if one.problem and one.state == "ready" else one.state
        for one in alive
        if not (one.problem and one.problem.code == WorkerDies.CODE)
    )
    return {state: states[state] for state in (*get_args(WorkerState), "hanging")}


if __name__ == "__main__":
    sys.exit(main())
