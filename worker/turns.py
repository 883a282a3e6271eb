"""Whose claim is next: clients take turns, so that many claims of one do not hold up another's.

* A claim that a person typed into the page comes before those of lists and programs; after a few of
  these in a row, one of the others comes, as people may type without end.
* Then the client comes first whose last turn is the longest ago; a client is an address, or a user
  who has logged in. Behind one address the same holds for its visitors. What comes without an
  address, such as the rows of a list, takes turns by its owners.
* The claims of one visitor come in the order in which they were submitted.

A turn has a number, not a time, as the clocks of workers may differ.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import Any

from sqlalchemy import Select, case, delete, func, literal, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from worker.database import Database
from worker.schema import ClaimRow, TurnRow

# Who had no turn among so many counts as one who never had one.
MOST_REMEMBERED = 1000
MOST_TYPED_IN_A_ROW = 4
# Prefix for owners of claims without an address, so that their turns are not mixed with those of
# the owners' addresses. With it, 55 characters of the owner fit into the 64 of the column.
_NO_ADDRESS = "rows of "
# Has a turn with each claim that was not typed; no user has a name with a space.
_NOT_TYPED = "not typed"
# For how long the order of the queue is kept: many pages ask for their places at once.
ORDER_SECONDS = 1.0

_of_client, _of_owner = aliased(TurnRow), aliased(TurnRow)
_owner = func.coalesce(ClaimRow.owner, "")
_client = func.coalesce(ClaimRow.client, literal(_NO_ADDRESS).concat(func.substr(_owner, 1, 55)))
_client_turn = func.coalesce(_of_client.number, 0)
_owner_turn = func.coalesce(_of_owner.number, 0)
_LAST_TURNS = select(
    func.max(TurnRow.number), func.max(case((TurnRow.who == _NOT_TYPED, TurnRow.number)))
)


def next_id(session: Session) -> str | None:
    """Return the id of the queued job whose turn it is, locked where the database can do that."""
    last, not_typed = session.execute(_LAST_TURNS).one()
    typed_in_a_row = (last or 0) - (not_typed or 0)
    typed_first = typed_in_a_row < MOST_TYPED_IN_A_ROW
    wanted = (
        select(ClaimRow.id)
        .outerjoin(_of_client, _of_client.who == _client)
        .outerjoin(_of_owner, _of_owner.who == _owner)
        .where(ClaimRow.state == "queued")
        .order_by(
            ClaimRow.typed.desc() if typed_first else ClaimRow.typed,
            *(_client_turn, _owner_turn, ClaimRow.number),
        )
        .limit(1)
        .with_for_update(of=ClaimRow, skip_locked=True)
    )
    return session.scalar(wanted)


def take(session: Session, row: ClaimRow) -> None:
    """Record that the client and the owner of this job have had their turn."""
    number = (session.scalar(select(func.max(TurnRow.number))) or 0) + 1
    kind = set() if row.typed else {_NOT_TYPED}
    owner = row.owner or ""
    whose = {row.client or f"{_NO_ADDRESS}{owner[:55]}", owner} | kind
    for who in sorted(whose):  # in one order, so that two workers never wait for each other
        known = update(TurnRow).where(TurnRow.who == who).values(number=number)
        if session.scalar(known.returning(TurnRow.number)) is None:
            try:
                with session.begin_nested():
                    session.add(TurnRow(who=who, number=number))
            except IntegrityError:
                continue  # another worker has just recorded a turn of the same
    old = select(TurnRow.who).where(TurnRow.number <= number - MOST_REMEMBERED)
    forgotten = old.with_for_update(skip_locked=True)
    session.execute(delete(TurnRow).where(TurnRow.who.in_(forgotten)))


def forget(session: Session, owner: str) -> None:
    """Delete the turns of an owner, who counts as one that never had one."""
    names = (owner, f"{_NO_ADDRESS}{owner[:55]}")
    session.execute(delete(TurnRow).where(TurnRow.who.in_(names)))


class Places:
    """The places of queued jobs; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._read_at = float("-inf")
        self._before: dict[str, int] = {}

    def of(self, job_id: str) -> int | None:
        """Return how many jobs come before this one, as it was a second ago at most.

        The number may grow, as clients take turns; those that were typed are counted as if all of
        them came before the others. ``None``: the job is not queued.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        with self._lock:
            known = job_id in self._before  # or it was submitted just now
            if not known or time.monotonic() - self._read_at >= ORDER_SECONDS:
                with self._database.reading() as session:
                    ids = enumerate(session.scalars(_in_order()))
                    self._before = {one: number for number, one in ids}
                self._read_at = time.monotonic()
            return self._before.get(job_id)


def _in_order() -> Select[Any]:
    """Return all queued jobs, in the order of ``next_id`` while few of them are typed."""
    rows = (
        select(
            ClaimRow.id,
            ClaimRow.number,
            ClaimRow.typed,
            _client.label("client"),
            _client_turn.label("client_turn"),
            _owner_turn.label("owner_turn"),
            func.row_number()
            .over(partition_by=(ClaimRow.typed, _client, _owner), order_by=ClaimRow.number)
            .label("of_owner"),
        )
        .outerjoin(_of_client, _of_client.who == _client)
        .outerjoin(_of_owner, _of_owner.who == _owner)
        .where(ClaimRow.state == "queued")
        .subquery()
    ).c
    among_clients = (rows.typed, rows.client)
    within_client = (rows.of_owner, rows.owner_turn, rows.number)
    of_client = func.row_number().over(partition_by=among_clients, order_by=within_client)
    numbered = select(*rows, of_client.label("of_client")).subquery().c
    return select(numbered.id).order_by(
        numbered.typed.desc(), numbered.of_client, numbered.client_turn, numbered.number
    )
