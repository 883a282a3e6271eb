"""The claims so far: filtered, grouped, exported, and all those of one visitor."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select

from retrieval.types import NOT_ENOUGH_INFO, Label
from retrieval.words import FIRM_CONFIDENCE, Level
from worker.database import Database
from worker.jobs import Job, ListedJob, State
from worker.schema import ClaimRow
from worker.sharing import EVERYTHING, Viewer


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


class HistoryStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(
        self, wanted: ClaimFilter, limit: int, offset: int = 0
    ) -> tuple[list[ListedJob], int]:
        """Return one page of the claims, newest first, and how many there are in all."""
        found = _where(wanted)
        page = _listed(found).limit(limit).offset(offset)
        with self._database.reading() as session:
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
        with self._database.reading() as session:
            total = session.scalar(select(func.count()).select_from(claims.subquery()))
            rows = [ListedJob(*row) for row in session.execute(runs)]
        groups = groupby(rows, key=lambda row: row.claim.casefold())
        return [ClaimGroup(tuple(runs)) for _, runs in groups], total or 0

    def recipes(self) -> list[str]:
        """Return the names of the recipes of all claims, in their order."""
        names = select(ClaimRow.recipe).distinct().order_by(ClaimRow.recipe)
        with self._database.reading() as session:
            return list(session.scalars(names))

    def jobs(self, ids: Collection[str], seen_by: Viewer = EVERYTHING) -> Iterator[Job]:
        """Yield these claims with their results, in their order.

        Unknown ids are left out, and those of claims that the viewer may not open.

        They are read one by one, because results are long.
        """
        for job_id in ids:
            with self._database.reading() as session:
                wanted = select(ClaimRow).where(ClaimRow.id == job_id)
                row = session.scalar(wanted.where(seen_by.may_open(ClaimRow)))
                job = None if row is None else Job.model_validate(row)
            # Outside: who takes them may be slow, and a transaction must be short.
            if job is not None:
                yield job

    def ids_of(self, owner: str) -> list[str]:
        """Return the ids of all claims of a visitor, oldest first."""
        owned = select(ClaimRow.id).where(ClaimRow.owner == owner).order_by(ClaimRow.number)
        with self._database.reading() as session:
            return list(session.scalars(owned))


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
