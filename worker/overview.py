"""How busy the service is, as the database shows it at one moment, for ``/metrics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from sqlalchemy import func, select

from worker import clock
from worker.database import Database
from worker.failures import WorkerDies
from worker.health import ALIVE_WITHIN
from worker.jobs import STATES
from worker.reports import WorkerState
from worker.schema import ClaimRow, EntryRow, ListRow, WorkerRow
from worker.tallies import Totals, totals
from worker.worker_store import WorkerStore

_UNFINISHED = ListRow.state.in_(("running", "paused"))


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
        .where(_UNFINISHED)
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


def _by_state(alive: Sequence[WorkerRow]) -> Mapping[str, int]:
    # What `esoteric up` says about a worker that dies again and again is no worker.
    states = Counter(
        "hanging" if one.problem and one.state == "ready" else one.state
        for one in alive
        if not (one.problem and one.problem.code == WorkerDies.CODE)
    )
    return {state: states[state] for state in (*get_args(WorkerState), "hanging")}
