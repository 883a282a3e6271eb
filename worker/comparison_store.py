"""Comparisons: checks under one address, with a name and the right labels of their claims."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from sqlalchemy import func, select

from retrieval.types import Label
from worker.database import Database
from worker.schema import ClaimRow, ComparedRow


@dataclass(frozen=True, slots=True)
class Gold:
    """What is known of a claim: its right label, ``None`` if it is not, and what kind it is."""

    label: Label | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class KeptComparison:
    """A comparison as it is stored: its checks, by their ids, in their order."""

    id: str
    name: str
    checks: Mapping[str, Gold] = field(default_factory=dict)


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
                )
                for number, (check_id, gold) in enumerate(checks.items(), 1)
            )
        return comparison_id

    def get(self, comparison_id: str) -> KeptComparison | None:
        """Return the comparison with this id; ``None``: there is none, or its checks are gone."""
        wanted = select(ComparedRow).where(ComparedRow.comparison_id == comparison_id)
        with self._database.reading() as session:
            rows = session.scalars(wanted.order_by(ComparedRow.number)).all()
            checks = {row.claim_id: Gold(cast("Label | None", row.gold), row.kind) for row in rows}
            return KeptComparison(comparison_id, rows[0].name, checks) if rows else None

    def recent(self, owner: str, limit: int) -> Sequence[KeptComparison]:
        """Return the newest comparisons of an owner's checks, without these."""
        first = func.min(ClaimRow.number)
        wanted = (
            select(ComparedRow.comparison_id, ComparedRow.name)
            .join(ClaimRow, ClaimRow.id == ComparedRow.claim_id)
            .where(ClaimRow.owner == owner)
            .group_by(ComparedRow.comparison_id, ComparedRow.name)
            .order_by(first.desc())
            .limit(limit)
        )
        with self._database.reading() as session:
            return [KeptComparison(*row) for row in session.execute(wanted)]
