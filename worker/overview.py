"""How busy the service is, as the database shows it at one moment, for ``/metrics``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from worker import clock
from worker.database import Database
from worker.jobs import STATES
from worker.schema import ClaimRow, EntryRow, ListRow
from worker.tallies import Totals, totals

_UNFINISHED = ListRow.state.in_(("running", "paused"))


@dataclass(frozen=True, slots=True)
class Waiting:
    """Claims that wait: how many, and for how many seconds the oldest one does."""

    claims: int
    oldest: float


@dataclass(frozen=True, slots=True)
class Overview:
    """``typed``: claims that persons wait for, ``others``: those of lists and programs.

    ``rows``: of the lists that have not ended.
    """

    claims: Mapping[str, int]
    typed: Waiting
    others: Waiting
    lists: Mapping[str, int]
    rows: Mapping[str, int]
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
            totals=totals(session),
        )
