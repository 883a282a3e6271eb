"""The lists of claims, as the pages and the API see them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.orm import Session, aliased

from retrieval.errors import Problem
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from retrieval.words import FIRM_CONFIDENCE
from worker import clock, postgresql
from worker.database import Database
from worker.jobs import QueueFull, SaidBy, Shared
from worker.lists import (
    PACE_OF,
    ClaimList,
    Entry,
    EntryState,
    ImportedFrom,
    ListState,
    NewEntry,
    SaidEntry,
    Shown,
    Sort,
    SourcePage,
    SourceText,
    TooManyRows,
    UnknownList,
    seconds_left,
)
from worker.schema import ClaimRow, EntryRow, FeedbackRow, ListRow
from worker.sharing import EVERYTHING, Viewer, shared_at_first

# How many of the last claims say how long one takes.
_LAST = 10
# Rows whose results are in memory at once while a list is exported.
_AT_ONCE = 20

UNFINISHED = ListRow.state.in_(("running", "paused"))
PENDING = or_(EntryRow.state == "waiting", ClaimRow.state.in_(("queued", "running")))
_CHECKED = ClaimRow.state.in_(("done", "failed"))
_UNSURE = or_(
    ClaimRow.leans.is_not(None),
    and_(
        ClaimRow.label != NOT_ENOUGH_INFO,
        ClaimRow.confidence < FIRM_CONFIDENCE,
    ),
)
_FILTERS: dict[Shown, ColumnElement[bool]] = {
    "all": EntryRow.number.is_not(None),
    "supported": ClaimRow.label == SUPPORTS,
    "refuted": ClaimRow.label == REFUTES,
    "unsettled": ClaimRow.label == NOT_ENOUGH_INFO,
    "unsure": _UNSURE,
    "divided": EntryRow.claim_id.in_(select(ClaimRow.id).where(ClaimRow.divided == true())),
    "disputed": exists().where(FeedbackRow.claim_id == EntryRow.claim_id, ~FeedbackRow.agrees),
    "refused": EntryRow.state == "refused",
    "failed": ClaimRow.state == "failed",
    "cancelled": or_(
        EntryRow.state == "cancelled",
        ClaimRow.state == "cancelled",
        and_(EntryRow.state == "handed", ClaimRow.state.is_(None)),
    ),
    "errors": and_(
        EntryRow.state != "waiting",
        or_(ClaimRow.state.is_(None), ClaimRow.state.in_(("failed", "cancelled"))),
    ),
    "unfinished": PENDING,
}
_RANK = case((ClaimRow.label != NOT_ENOUGH_INFO, 0), (ClaimRow.leans.is_not(None), 1), else_=2)
_ORDERS: dict[Sort, tuple[ColumnElement[Any], ...]] = {
    "row": (),
    "verdict": (
        case((ClaimRow.label == REFUTES, 0), (ClaimRow.label == SUPPORTS, 1), else_=2),
        ClaimRow.label.is_(None),
        _RANK,
        ClaimRow.confidence.desc(),
    ),
    "certainty": (ClaimRow.label.is_(None), _RANK, ClaimRow.confidence.desc()),
}
_DELETED = Problem(
    "claim_deleted", "This claim was deleted from the history.", "Check the list again."
)
_CANCELLED = Problem("cancelled", "This claim was cancelled.", "Check it alone, or the list again.")
_TYPED = ImportedFrom()
MOST_WAITING = 100_000  # rows of all running lists that wait for their turn


class ListStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads.

    What takes the id of a list raises ``UnknownList`` if there is none, or it was deleted.
    """

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
        client: str | None = None,
        most_waiting: int | None = None,
        imported_from: ImportedFrom = _TYPED,
    ) -> str:
        """Store a list, whose claims the workers then check; return its id.

        ``source_text``: the text that its claims are from, if they are from one; ``page``: where
        that was read, if it was on one. ``corpora``: those that they are checked against, ``None``
        for the default one. ``most_waiting``: how many rows of this owner may wait, or of
        ``client`` where there is no owner; ``None`` for any number.

        Raises:
            TooManyRows: too many of these rows wait already; nothing was stored.
            QueueFull: too many rows of all lists do.
        """
        list_id = secrets.token_hex(16)
        columns = list(dict.fromkeys(name for entry in entries for name in entry.others))
        rows = sum(entry.problem is None for entry in entries)
        with self._database.writing() as session:
            _refuse_beyond(session, owner, client, most_waiting, rows)
            session.add(
                ListRow(
                    id=list_id,
                    name=name,
                    recipe=recipe,
                    owner=owner,
                    shared=shared_at_first(owner),
                    client=client,
                    state="running",
                    columns=columns,
                    created_at=clock.now(),
                    source_text=source_text,
                    page_title=page and page.title,
                    page_address=page and page.address,
                    corpora=corpora,
                    file_name=imported_from.file,
                    claim_column=imported_from.column,
                    claim_after=imported_from.before,
                    csv_separator=imported_from.separator,
                    csv_decimal_mark=imported_from.decimal_mark,
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
        """Return a list."""
        with self._database.reading() as session:
            return _with_counts(session, _row(session, list_id))

    def recent(
        self, owners: Sequence[str | None] | None, limit: int, seen_by: Viewer = EVERYTHING
    ) -> list[ClaimList]:
        """Return the newest lists of these owners, ``None`` among them for nobody, or of all.

        Those that are shared with ``seen_by`` are among them.
        """
        wanted = select(ListRow).order_by(ListRow.number.desc()).limit(limit)
        if owners is not None:
            named = ListRow.owner.in_([owner for owner in owners if owner is not None])
            nobodys = ListRow.owner.is_(None) & ListRow.shared.is_(None)
            found = or_(named, seen_by.is_shared(ListRow))
            wanted = wanted.where(or_(found, nobodys) if None in owners else found)
        with self._database.reading() as session:
            return [_with_counts(session, row) for row in session.scalars(wanted)]

    def all_of(self, owner: str) -> list[ClaimList]:
        """Return all lists of a visitor, oldest first."""
        wanted = select(ListRow).where(ListRow.owner == owner).order_by(ListRow.number)
        with self._database.reading() as session:
            return [_with_counts(session, row) for row in session.scalars(wanted)]

    def entries(
        self,
        list_id: str,
        shown: Shown,
        limit: int,
        offset: int,
        *,
        results: bool = True,
        sort: Sort = "row",
    ) -> list[Entry]:
        """Return some rows of a list, without their long results if so wanted."""
        wanted = _entries(list_id, results=results, sort=sort).where(_FILTERS[shown])
        wanted = wanted.limit(limit).offset(offset)
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
        """Return the text that the claims of a list are from, ``None`` if they are from none."""
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

    def text_sentence_of(self, claim_id: str, visitor: str | None) -> str:
        """Return the sentence of a text that says this claim, as far as the visitor may see it.

        The text is that of the list which the claim was made for: the first one that has it. It is
        shown to the owner of that list, and to everybody if it has no owner. "" if the claim
        is from no text, or from one of somebody else: a claim's link does not open the text.
        """
        wanted = (
            select(ListRow.source_text, ListRow.owner, EntryRow.said_from, EntryRow.said_to)
            .join(EntryRow, EntryRow.list_id == ListRow.id)
            .join(ClaimRow, ClaimRow.id == EntryRow.claim_id)
            .where(ClaimRow.id == claim_id, ListRow.owner.is_not_distinct_from(ClaimRow.owner))
            .order_by(ListRow.number, EntryRow.number)
            .limit(1)
        )
        with self._database.reading() as session:
            found = session.execute(wanted).first()
        if found is None:
            return ""
        text, owner, start, end = found
        if start is None or owner not in (None, visitor):
            return ""
        return " ".join((text or "")[start:end].split())

    def unfinished_in(self, corpus: str) -> int:
        """Return how many lists that have not ended are checked against a corpus."""
        wanted = select(ListRow.corpora).where(UNFINISHED, ListRow.corpora.is_not(None))
        with self._database.reading() as session:
            return sum(corpus in (names or ()) for names in session.scalars(wanted))

    def waiting_of(self, owner: str) -> int:
        """Return how many rows of an owner's lists wait for their turn."""
        with self._database.reading() as session:
            return _waiting(session, ListRow.owner == owner)

    def seconds_of_a_row(self) -> float | None:
        """Return what the last claims took on average; ``None`` before the first."""
        with self._database.reading() as session:
            times = select(ClaimRow.started_at, ClaimRow.finished_at).where(_CHECKED)
            times = times.order_by(ClaimRow.number.desc()).limit(_LAST)
            return _mean(
                (finished - started).total_seconds()
                for started, finished in session.execute(times)
                if started is not None and finished is not None
            )

    def seconds_left(self, list_id: str) -> float | None:
        """Return about how long a running list still takes; ``None`` where that is not known."""
        waits = EntryRow.state == "waiting"
        own = (
            select(func.count(EntryRow.claim.distinct()), func.max(case((waits, EntryRow.number))))
            .join(ClaimRow, EntryRow.claim_id == ClaimRow.id, isouter=True)
            .where(EntryRow.list_id == list_id, PENDING)
        )
        first = select(func.min(ClaimRow.number)).where(ClaimRow.id.in_(_claims_of(list_id)))
        ended = (
            select(ClaimRow.created_at, ClaimRow.finished_at)
            .where(_CHECKED, ClaimRow.number >= first.scalar_subquery())
            .where(exists().where(EntryRow.claim_id == ClaimRow.id))
            .order_by(ClaimRow.number.desc())
            .limit(PACE_OF + 1)
        )
        with self._database.reading() as session:
            rows, last = session.execute(own).one()
            # Of other lists the rows that are handed on before the last one of this list.
            before = and_(ListRow.id != list_id, EntryRow.number <= (last or 0))
            rows += _waiting(session, before)
            found = sorted(session.execute(ended), key=itemgetter(1))
        ends = [(created, end) for created, end in found if end is not None]
        return seconds_left(ends, rows, clock.now())

    # What people do with them

    def pause(self, list_id: str) -> None:
        """Hand no more rows to the queue, if the list is running; they count for no limit then."""
        with self._database.writing() as session:
            row = _row(session, list_id, locked=True)
            if row.state == "running":  # else another request or a worker was first
                row.state = "paused"

    def go_on(self, list_id: str, most_waiting: int | None = None) -> None:
        """Continue a list that is paused, if its rows are within the limits of ``create`` again.

        Raises:
            TooManyRows: too many rows of its owner wait; it stays paused.
            QueueFull: too many rows of all lists do.
        """
        with self._database.writing() as session:
            row = _row(session, list_id, locked=True)
            if row.state != "paused":
                return  # another request or a worker was first
            rows = _waiting(session, ListRow.id == list_id, state="paused")
            _refuse_beyond(session, row.owner, row.client, most_waiting, rows)
            row.state = "running"

    def cancel(self, list_id: str) -> None:
        """Check no more rows of a list that has not ended; those in the queue still are."""
        with self._database.writing() as session:
            row = _row(session, list_id, locked=True)
            if row.state not in ("running", "paused"):
                return  # another request or a worker was first
            row.state, row.finished_at, row.client = "cancelled", clock.now(), None
            waiting = and_(EntryRow.list_id == list_id, EntryRow.state == "waiting")
            session.execute(
                update(EntryRow).where(waiting).values(state="cancelled", problem=_CANCELLED)
            )

    def edit(
        self,
        list_id: str,
        number: int,
        claim: str,
        client: str | None = None,
        most_waiting: int | None = None,
    ) -> bool:
        """Check a row again, as this claim, if it has ended; a list that has ended goes on with it.

        Return whether it had.

        Raises:
            TooManyRows, QueueFull: as of ``create``; nothing was changed.
        """
        of_row = (EntryRow.list_id == list_id, EntryRow.number == number)
        with self._database.writing() as session:
            row = _row(session, list_id, locked=True)
            ended = (
                select(EntryRow)
                .join(ClaimRow, EntryRow.claim_id == ClaimRow.id, isouter=True)
                .where(*of_row, func.coalesce(~PENDING, true()))
            )
            entry = session.scalar(ended)
            if entry is None:
                return False  # there is none, or it is being checked
            _refuse_beyond(session, row.owner, client, most_waiting, 1)
            before = entry.claim_id
            entry.claim, entry.state, entry.problem, entry.claim_id = claim, "waiting", None, None
            if before and row.shared not in (None, "owner"):
                session.flush()
                others = select(EntryRow.claim_id).where(EntryRow.claim_id == before)
                session.execute(
                    # It left the list, so taking the list back could not take it back.
                    update(ClaimRow)
                    .where(ClaimRow.id == before, ClaimRow.owner == row.owner)
                    .where(ClaimRow.shared == row.shared, ~others.exists())
                    .values(shared="owner")
                )
            if row.state in ("done", "cancelled"):
                row.state, row.finished_at, row.client = "running", None, client
        return True

    def share(self, list_id: str, shared: Shared) -> None:
        """Share a list and the claims that were made for it, or share them no more."""
        with self._database.writing() as session:
            row = _row(session, list_id, locked=True)
            row.shared = shared
            session.execute(
                update(ClaimRow)
                .where(ClaimRow.id.in_(_claims_of(list_id)), ClaimRow.owner == row.owner)
                .values(shared=shared)
            )

    def delete(self, list_id: str) -> None:
        """Delete a list; its claims stay in the history."""
        with self._database.erasing() as session:
            session.execute(delete(ListRow).where(ListRow.id == _row(session, list_id).id))

    def delete_all_of(self, owner: str) -> None:
        """Delete all lists of a visitor; their claims stay."""
        with self._database.erasing() as session:
            session.execute(delete(ListRow).where(ListRow.owner == owner))

    def delete_finished(self, ago: timedelta) -> None:
        """Delete lists that ended at least this long ago, or are as old and paused."""
        before = clock.now() - ago
        paused = and_(ListRow.state == "paused", ListRow.created_at <= before)
        with self._database.erasing() as session:
            session.execute(delete(ListRow).where(or_(ListRow.finished_at <= before, paused)))


def _row(session: Session, list_id: str, locked: bool = False) -> ListRow:
    wanted = select(ListRow).where(ListRow.id == list_id)
    row = session.scalar(wanted.with_for_update() if locked else wanted)
    if row is None:
        raise UnknownList
    return row


def _entries(list_id: str, *, results: bool = True, sort: Sort = "row") -> Any:
    same = aliased(EntryRow)
    first = (
        select(func.min(same.number))
        .where(same.claim_id == EntryRow.claim_id, same.list_id == EntryRow.list_id)
        .scalar_subquery()
    )
    said_by = (ClaimRow.speaker, ClaimRow.appearance, ClaimRow.said_on)
    of_claim = (ClaimRow.state, ClaimRow.error, first, *said_by, ClaimRow.finished_at)
    verdict = (ClaimRow.label, ClaimRow.confidence, ClaimRow.leans)
    return (
        select(EntryRow, *of_claim, *verdict, ClaimRow.result if results else null())
        .join(ClaimRow, EntryRow.claim_id == ClaimRow.id, isouter=True)
        .where(EntryRow.list_id == list_id)
        .order_by(*_ORDERS[sort], EntryRow.number)
    )


def _entry(
    row: EntryRow,
    state: str | None,
    error: Problem | None,
    first: int | None,
    speaker: str | None,
    appearance: str | None,
    said_on: str | None,
    *ended: Any,
) -> Entry:
    same_as = None if first == row.number else first
    own = SaidBy.of_columns(row.others)
    said_by = SaidBy(speaker or "", appearance or "", said_on or "")
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
        _place(row),
        same_as,
        own if same_as or said_by == SaidBy() else said_by,
        *ended,
    )


def _place(row: EntryRow) -> tuple[int, int] | None:
    if row.said_from is None or row.said_to is None:
        return None
    return row.said_from, row.said_to


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
        row.shared,
        cast(ListState, row.state),
        tuple(row.columns),
        ImportedFrom(
            *(row.file_name, row.claim_column, row.claim_after),
            *(row.csv_separator, row.csv_decimal_mark),
        ),
        row.corpora,
        row.created_at,
        row.finished_at,
        dict(zip(_FILTERS, (int(count or 0) for count in counts), strict=True)),
    )


def _refuse_beyond(
    session: Session, owner: str | None, client: str | None, most: int | None, rows: int
) -> None:
    """Refuse so many more rows that wait, if they are beyond a limit; see ``ListStore.create``."""
    if session.get_bind().dialect.name == "postgresql":
        postgresql.lock_waiting_rows(session)  # SQLite has one writer anyway
    whose = ListRow.owner == owner
    if owner is None:
        whose = and_(ListRow.owner.is_(None), ListRow.client == client)
    waiting = 0 if most is None else _waiting(session, whose)
    if most is not None and waiting + rows > most:
        raise TooManyRows(most, waiting, rows)
    if _waiting(session, true()) + rows > MOST_WAITING:
        raise QueueFull(MOST_WAITING)


def _waiting(session: Session, which: ColumnElement[bool], state: ListState = "running") -> int:
    """Return how many rows of these lists in this state wait; only those of running ones move."""
    rows = select(func.count()).select_from(EntryRow).join(ListRow, ListRow.id == EntryRow.list_id)
    waits = (EntryRow.state == "waiting", ListRow.state == state)
    return session.scalar(rows.where(which, *waits)) or 0


def _claims_of(list_id: str) -> Any:
    return select(EntryRow.claim_id).where(EntryRow.list_id == list_id)


def _mean(seconds: Iterable[float]) -> float | None:
    found = list(seconds)
    return sum(found) / len(found) if found else None
