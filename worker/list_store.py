"""The lists of claims, as the pages and the API see them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from retrieval.errors import Problem
from retrieval.recipes.config import RetrievalConfig
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from worker import clock
from worker.database import Database
from worker.jobs import QueueFull
from worker.lists import (
    ClaimList,
    Entry,
    EntryState,
    ListState,
    NewEntry,
    SaidEntry,
    Shown,
    SourcePage,
    SourceText,
    UnknownList,
)
from worker.schema import ClaimRow, EntryRow, ListRow

# How many of the last claims the time that is left is estimated from.
_LAST = 20
# Rows whose results are in memory at once while a list is exported.
_AT_ONCE = 20

PENDING = or_(EntryRow.state == "waiting", ClaimRow.state.in_(("queued", "running")))
_UNSURE = or_(
    ClaimRow.leans.is_not(None),
    and_(
        ClaimRow.label != NOT_ENOUGH_INFO,
        ClaimRow.confidence < RetrievalConfig().firm_confidence,
    ),
)
_FILTERS: dict[Shown, ColumnElement[bool]] = {
    "all": EntryRow.number.is_not(None),
    "supported": ClaimRow.label == SUPPORTS,
    "refuted": ClaimRow.label == REFUTES,
    "unsettled": ClaimRow.label == NOT_ENOUGH_INFO,
    "unsure": _UNSURE,
    "errors": and_(
        EntryRow.state != "waiting",
        or_(ClaimRow.state.is_(None), ClaimRow.state.in_(("failed", "cancelled"))),
    ),
    "unfinished": PENDING,
}
_DELETED = Problem(
    "claim_deleted", "This claim was deleted from the history.", "Check the list again."
)
_CANCELLED = Problem("cancelled", "This claim was cancelled.", "Check it alone, or the list again.")
MOST_WAITING = 100_000  # rows of all lists that wait for their turn


class ListStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        name: str,
        recipe: str,
        entries: Sequence[NewEntry],
        owner: str | None,
        source_text: str | None = None,
        corpora: tuple[str, ...] | None = None,
        page: SourcePage | None = None,
    ) -> str:
        """Store a list, whose claims the workers then check; return its id.

        ``source_text``: the text that its claims are from, if they are from one; ``page``: where
        that was read, if it was on one. ``corpora``: those that they are checked against, ``None``
        for the default one.

        Raises:
            QueueFull: too many rows of lists wait already; nothing was stored.
        """
        list_id = secrets.token_hex(16)
        columns = list(dict.fromkeys(name for entry in entries for name in entry.others))
        with self._database.writing() as session:
            waits = select(func.count()).select_from(EntryRow).where(EntryRow.state == "waiting")
            if (session.scalar(waits) or 0) + len(entries) > MOST_WAITING:
                raise QueueFull(MOST_WAITING)
            session.add(
                ListRow(
                    id=list_id,
                    name=name,
                    recipe=recipe,
                    owner=owner,
                    state="running",
                    columns=columns,
                    created_at=clock.now(),
                    source_text=source_text,
                    page_title=page and page.title,
                    page_address=page and page.address,
                    corpora=corpora,
                )
            )
            session.flush()
            session.execute(
                insert(EntryRow),
                [
                    {
                        "list_id": list_id,
                        "number": number,
                        "place": entry.place,
                        "claim": entry.claim,
                        "others": entry.others,
                        "state": "refused" if entry.problem else "waiting",
                        "problem": entry.problem,
                        "claim_id": None,
                        "said_from": entry.said and entry.said[0],
                        "said_to": entry.said and entry.said[1],
                    }
                    for number, entry in enumerate(entries, 1)
                ],
            )
        return list_id

    def get(self, list_id: str) -> ClaimList:
        """Return a list.

        Raises:
            UnknownList: there is none with this id.
        """
        with self._database.reading() as session:
            return _with_counts(session, _row(session, list_id))

    def recent(self, owners: Sequence[str | None] | None, limit: int) -> list[ClaimList]:
        """Return the newest lists of these owners, ``None`` among them for nobody, or of all."""
        wanted = select(ListRow).order_by(ListRow.number.desc()).limit(limit)
        if owners is not None:
            named = ListRow.owner.in_([owner for owner in owners if owner is not None])
            wanted = wanted.where(or_(named, ListRow.owner.is_(None)) if None in owners else named)
        with self._database.reading() as session:
            return [_with_counts(session, row) for row in session.scalars(wanted)]

    def all_of(self, owner: str) -> list[ClaimList]:
        """Return all lists of a visitor, oldest first."""
        wanted = select(ListRow).where(ListRow.owner == owner).order_by(ListRow.number)
        with self._database.reading() as session:
            return [_with_counts(session, row) for row in session.scalars(wanted)]

    def entries(self, list_id: str, shown: Shown, limit: int, offset: int) -> list[Entry]:
        """Return some rows of a list with their results, in their order."""
        wanted = _entries(list_id).where(_FILTERS[shown]).limit(limit).offset(offset)
        with self._database.reading() as session:
            return [_entry(*found) for found in session.execute(wanted)]

    def all_entries(self, list_id: str) -> Iterator[Entry]:
        """Yield all rows of a list with their results, a few in memory at once."""
        after = 0
        while True:
            wanted = _entries(list_id).where(EntryRow.number > after).limit(_AT_ONCE)
            with self._database.reading() as session:
                found = [_entry(*row) for row in session.execute(wanted)]
            if not found:
                return
            yield from found
            after = found[-1].number

    def source_text(self, list_id: str) -> SourceText | None:
        """Return the text that the claims of a list are from, ``None`` if they are from none.

        Raises:
            UnknownList: there is none with this id.
        """
        verdict = (ClaimRow.label, ClaimRow.confidence, ClaimRow.leans)
        said = (
            select(EntryRow, ClaimRow.state, *verdict)
            .join(ClaimRow, EntryRow.claim_id == ClaimRow.id, isouter=True)
            .where(EntryRow.list_id == list_id, EntryRow.said_from.is_not(None))
            .order_by(EntryRow.said_from, EntryRow.number)
        )
        with self._database.reading() as session:
            row = _row(session, list_id)
            if row.source_text is None:
                return None
            address = row.page_address
            page = SourcePage(row.page_title or address, address) if address else None
            entries = tuple(_said(*found) for found in session.execute(said))
            return SourceText(row.source_text, entries, page)

    # What people do with them

    def pause(self, list_id: str) -> None:
        """Hand no more rows to the queue, if the list is running.

        Raises:
            UnknownList: there is none with this id.
        """
        self._change(list_id, ("running",), "paused")

    def go_on(self, list_id: str) -> None:
        """Continue a list that is paused.

        Raises:
            UnknownList: there is none with this id.
        """
        self._change(list_id, ("paused",), "running")

    def cancel(self, list_id: str) -> None:
        """Check no more rows of a list that has not ended; those in the queue still are.

        Raises:
            UnknownList: there is none with this id.
        """
        self._change(list_id, ("running", "paused"), "cancelled")

    def delete(self, list_id: str) -> None:
        """Delete a list; its claims stay in the history.

        Raises:
            UnknownList: there is none with this id.
        """
        with self._database.writing() as session:
            session.execute(delete(ListRow).where(ListRow.id == _row(session, list_id).id))

    def delete_all_of(self, owner: str) -> None:
        """Delete all lists of a visitor; their claims stay."""
        with self._database.writing() as session:
            session.execute(delete(ListRow).where(ListRow.owner == owner))

    def delete_finished(self, ago: timedelta) -> None:
        """Delete lists that ended at least this long ago, or are as old and paused."""
        before = clock.now() - ago
        paused = and_(ListRow.state == "paused", ListRow.created_at <= before)
        with self._database.writing() as session:
            session.execute(delete(ListRow).where(or_(ListRow.finished_at <= before, paused)))

    def _change(self, list_id: str, allowed: Sequence[ListState], state: ListState) -> None:
        ended = clock.now() if state == "cancelled" else None
        with self._database.writing() as session:
            row = _row(session, list_id)
            if row.state not in allowed:
                return  # another request or a worker was first
            row.state, row.finished_at = state, ended
            if state == "cancelled":
                waiting = and_(EntryRow.list_id == list_id, EntryRow.state == "waiting")
                session.execute(
                    update(EntryRow).where(waiting).values(state="cancelled", problem=_CANCELLED)
                )


def _row(session: Session, list_id: str) -> ListRow:
    row = session.scalar(select(ListRow).where(ListRow.id == list_id))
    if row is None:
        raise UnknownList
    return row


def _entries(list_id: str) -> Any:
    of_claim = (ClaimRow.state, ClaimRow.error, ClaimRow.label, ClaimRow.confidence)
    return (
        select(EntryRow, *of_claim, ClaimRow.leans, ClaimRow.result)
        .join(ClaimRow, EntryRow.claim_id == ClaimRow.id, isouter=True)
        .where(EntryRow.list_id == list_id)
        .order_by(EntryRow.number)
    )


def _entry(row: EntryRow, state: str | None, error: Problem | None, *verdict: Any) -> Entry:
    known = _state(row, state)
    problem = {"deleted": _DELETED, "cancelled": _CANCELLED}.get(known, row.problem or error)
    return Entry(
        row.number,
        row.place,
        row.claim,
        row.others,
        known,
        problem,
        row.claim_id,
        *verdict,
    )


def _said(row: EntryRow, state: str | None, *verdict: Any) -> SaidEntry:
    assert row.said_from is not None
    assert row.said_to is not None
    return SaidEntry(row.said_from, row.said_to, _state(row, state), row.claim_id, *verdict)


def _state(row: EntryRow, of_claim: str | None) -> EntryState:
    deleted = row.state == "handed" and of_claim is None
    return cast(EntryState, "deleted" if deleted else of_claim or row.state)


def _with_counts(session: Session, row: ListRow) -> ClaimList:
    joined = select(*(func.sum(case((one, 1), else_=0)) for one in _FILTERS.values()))
    joined = joined.select_from(EntryRow).join(
        ClaimRow, EntryRow.claim_id == ClaimRow.id, isouter=True
    )
    counts = session.execute(joined.where(EntryRow.list_id == row.id)).one()
    return ClaimList(
        row.id,
        row.name,
        row.recipe,
        row.owner,
        cast(ListState, row.state),
        tuple(row.columns),
        row.created_at,
        row.finished_at,
        dict(zip(_FILTERS, (int(count or 0) for count in counts), strict=True)),
        _seconds(session, row.id),
    )


def _seconds(session: Session, list_id: str) -> float | None:
    times = (
        select(ClaimRow.started_at, ClaimRow.finished_at)
        .join(EntryRow, EntryRow.claim_id == ClaimRow.id)
        .where(EntryRow.list_id == list_id, ClaimRow.state.in_(("done", "failed")))
        .order_by(EntryRow.number.desc())
        .limit(_LAST)
    )
    found = [
        (finished - started).total_seconds()
        for started, finished in session.execute(times)
        if started is not None and finished is not None
    ]
    return sum(found) / len(found) if found else None
