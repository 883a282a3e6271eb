"""Comparisons: checks under one address, with a name and the right labels of their claims."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from sqlalchemy import case, delete, exists, func, select, update
from sqlalchemy.orm import aliased

from retrieval.types import Label
from worker.database import Database
from worker.run_store import end
from worker.schema import ClaimRow, ComparedRow, EntryRow


@dataclass(frozen=True, slots=True)
class Gold:
    """What is known of a claim: its right label, ``None`` if it is not, and what kind it is.

    ``evidence``: the sentences that this label rests on, by document and number; none where they
    are not known.
    """

    label: Label | None = None
    kind: str = ""
    evidence: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class KeptComparison:
    """A comparison as it is stored: its checks, by their ids, in their order."""

    id: str
    name: str
    checks: Mapping[str, Gold] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListedComparison:
    """A comparison in a list: how many checks it has, and how many of them have not ended."""

    id: str
    name: str
    created_at: datetime
    checks: int
    pending: int


_UNFINISHED = ClaimRow.state.in_(("queued", "running"))


class ComparisonStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, checks: Mapping[str, Gold]) -> str:
        """Store a comparison of the checks with these ids, and return its own."""
        comparison_id = secrets.token_hex(8)
        with self._database.writing() as session:
            session.add_all(
                ComparedRow(
                    comparison_id=comparison_id,
                    number=number,
                    claim_id=check_id,
                    name=name,
                    gold=gold.label,
                    kind=gold.kind,
                    evidence=gold.evidence or None,
                )
                for number, (check_id, gold) in enumerate(checks.items(), 1)
            )
        return comparison_id

    def get(self, comparison_id: str) -> KeptComparison | None:
        """Return the comparison with this id; ``None``: there is none, or its checks are gone."""
        wanted = select(ComparedRow).where(ComparedRow.comparison_id == comparison_id)
        with self._database.reading() as session:
            rows = session.scalars(wanted.order_by(ComparedRow.number)).all()
            checks = {
                row.claim_id: Gold(cast("Label | None", row.gold), row.kind, row.evidence or ())
                for row in rows
            }
            return KeptComparison(comparison_id, rows[0].name, checks) if rows else None

    def recent(self, owner: str, limit: int) -> Sequence[ListedComparison]:
        """Return the newest comparisons of an owner's checks."""
        wanted = (
            select(
                *(ComparedRow.comparison_id, ComparedRow.name, func.min(ClaimRow.created_at)),
                *(func.count(), func.sum(case((_UNFINISHED, 1), else_=0))),
            )
            .join(ClaimRow, ClaimRow.id == ComparedRow.claim_id)
            .where(ClaimRow.owner == owner)
            .group_by(ComparedRow.comparison_id, ComparedRow.name)
            .order_by(func.min(ClaimRow.number).desc())
            .limit(limit)
        )
        with self._database.reading() as session:
            return [ListedComparison(*row) for row in session.execute(wanted)]

    def rename(self, comparison_id: str, name: str) -> None:
        """Give a comparison another name."""
        rows = ComparedRow.comparison_id == comparison_id
        with self._database.writing() as session:
            session.execute(update(ComparedRow).where(rows).values(name=name))

    def stop(self, comparison_id: str) -> None:
        """Cancel its checks that have not ended, but those that a list or another one needs too."""
        own, other = ComparedRow, aliased(ComparedRow)
        needed = exists().where(EntryRow.claim_id == ClaimRow.id) | exists().where(
            other.claim_id == ClaimRow.id, other.comparison_id != comparison_id
        )
        of_this = select(own.claim_id).where(own.comparison_id == comparison_id)
        wanted = select(ClaimRow.id).where(_UNFINISHED, ClaimRow.id.in_(of_this), ~needed)
        with self._database.writing() as session:
            for check_id in session.scalars(wanted).all():
                end(session, _UNFINISHED & (ClaimRow.id == check_id), "cancelled")

    def delete(self, comparison_id: str) -> None:
        """Delete a comparison; its checks stay in the history."""
        with self._database.erasing() as session:
            session.execute(delete(ComparedRow).where(ComparedRow.comparison_id == comparison_id))
