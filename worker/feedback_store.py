"""What people say about verdicts: each visitor once about each claim."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, delete, exists, func, select
from sqlalchemy.exc import IntegrityError

from retrieval.errors import EsotericError
from retrieval.types import Label
from worker import clock
from worker.database import Database
from worker.jobs import Job, UnknownJob
from worker.schema import ClaimRow, EntryRow, FeedbackRow
from worker.sharing import EVERYTHING, Viewer
from worker.user_store import user_of


class UnknownFeedback(EsotericError):
    """No feedback has this id, or it was deleted."""

    def __init__(self) -> None:
        super().__init__(
            "unknown_feedback",
            "There is no feedback with this id.",
            "It may have been deleted, alone or with its claim. The page /feedback lists all.",
        )


@dataclass(frozen=True)
class Said:
    """What somebody says about a verdict.

    ``label``: what the verdict should be. ``wrong``: the evidence that is labelled wrongly, as
    numbers from 1. ``name``: of who stands for it in public, "" if nobody does; of what is stored,
    the account of who has logged in, whatever was typed.
    """

    agrees: bool
    label: Label
    wrong: tuple[int, ...] = ()
    note: str = ""
    name: str = ""


@dataclass(frozen=True)
class Feedback:
    """An opinion as it is stored. ``verdict``: what the program said; ``owner``: who gave it."""

    id: str
    claim_id: str
    claim: str
    verdict: Label
    opinion: Said
    created_at: datetime
    owner: str | None


class FeedbackStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def give(self, job_id: str, opinion: Said, owner: str | None) -> Feedback:
        """Store an opinion about a claim that is done; it replaces the owner's earlier one.

        Raises:
            UnknownJob: there is no job with this id.
        """
        while True:
            try:
                feedback_id = self._give(job_id, opinion, owner)
            except IntegrityError:
                continue  # the claim was deleted meanwhile, or the owner said something else
            return self.get(feedback_id)

    def _give(self, job_id: str, opinion: Said, owner: str | None) -> str:
        earlier = FeedbackRow.claim_id == job_id, FeedbackRow.owner == owner
        row = FeedbackRow(
            id=secrets.token_hex(12),
            claim_id=job_id,
            owner=owner,
            agrees=opinion.agrees,
            label=opinion.label,
            wrong=opinion.wrong,
            note=opinion.note,
            name=opinion.name,
            created_at=clock.now(),
        )
        feedback_id = row.id
        with self._database.writing() as session:
            if not session.scalar(select(exists().where(ClaimRow.id == job_id))):
                raise UnknownJob
            if owner is not None:
                session.execute(delete(FeedbackRow).where(*earlier))
            session.add(row)
        return feedback_id

    def get(self, feedback_id: str) -> Feedback:
        """Return the feedback.

        Raises:
            UnknownFeedback: there is none with this id.
        """
        with self._database.reading() as session:
            row = session.execute(_wanted().where(FeedbackRow.id == feedback_id)).first()
        if row is None:
            raise UnknownFeedback
        return _feedback(row)

    def listed(
        self, owner: str | None, limit: int, offset: int = 0, seen_by: Viewer = EVERYTHING
    ) -> tuple[list[Feedback], int]:
        """Return one page of the feedback, newest first, and how much there is in all.

        ``owner``: only that of one visitor, also on claims that are not shared any more; ``None``:
        that of all on claims that ``seen_by`` may open.
        """
        found = FeedbackRow.owner == owner if owner is not None else seen_by.may_open(ClaimRow)
        wanted = _wanted().where(found)
        number = select(func.count(FeedbackRow.number)).join(ClaimRow).where(found)
        page = wanted.order_by(FeedbackRow.number.desc()).limit(limit).offset(offset)
        with self._database.reading() as session:
            return [_feedback(row) for row in session.execute(page)], session.scalar(number) or 0

    def about(self, job_id: str) -> list[Feedback]:
        """Return the feedback on a claim, newest first."""
        wanted = _wanted().where(FeedbackRow.claim_id == job_id)
        with self._database.reading() as session:
            rows = session.execute(wanted.order_by(FeedbackRow.number.desc()))
            return [_feedback(row) for row in rows]

    def in_list(self, list_id: str) -> dict[str, list[Feedback]]:
        """Return the feedback on the claims of a list by their ids, each newest first."""
        claims = select(EntryRow.claim_id).where(EntryRow.list_id == list_id)
        wanted = _wanted().where(FeedbackRow.claim_id.in_(claims))
        found: dict[str, list[Feedback]] = defaultdict(list)
        with self._database.reading() as session:
            for row in session.execute(wanted.order_by(FeedbackRow.number.desc())):
                found[row.claim_id].append(_feedback(row))
        return found

    def with_jobs(self, seen_by: Viewer = EVERYTHING) -> Iterator[tuple[Feedback, Job]]:
        """Yield all feedback on claims that may be opened, with claim and result, oldest first."""
        with self._database.reading() as session:
            ids = list(session.scalars(select(FeedbackRow.id).order_by(FeedbackRow.number)))
        for feedback_id in ids:
            with self._database.reading() as session:
                row = session.execute(_wanted().where(FeedbackRow.id == feedback_id)).first()
                if row is None:
                    continue  # it was deleted meanwhile
                of_row = select(ClaimRow).where(ClaimRow.id == row.claim_id)
                claim = session.scalar(of_row.where(seen_by.may_open(ClaimRow)))
                job = None if claim is None else Job.model_validate(claim)
            # Outside: who takes them may be slow, and a transaction must be short.
            if job is not None:
                yield _feedback(row), job

    def delete(self, feedback_id: str) -> None:
        """Delete it; nothing happens if it is gone already."""
        with self._database.erasing() as session:
            session.execute(delete(FeedbackRow).where(FeedbackRow.id == feedback_id))

    def delete_all_of(self, owner: str) -> None:
        """Delete all feedback of a visitor."""
        with self._database.erasing() as session:
            session.execute(delete(FeedbackRow).where(FeedbackRow.owner == owner))


def _wanted() -> Select[*tuple[Any, ...]]:
    # Not the results of the claims, which are long.
    columns = (
        *(FeedbackRow.id, FeedbackRow.claim_id, FeedbackRow.owner, FeedbackRow.created_at),
        *(FeedbackRow.agrees, FeedbackRow.label, FeedbackRow.wrong),
        *(FeedbackRow.note, FeedbackRow.name),
        ClaimRow.claim,
        ClaimRow.label.label("verdict"),
    )
    return select(*columns).join(ClaimRow, ClaimRow.id == FeedbackRow.claim_id)


def _feedback(row: Row[Any]) -> Feedback:
    name = row.name and (user_of(row.owner) or row.name)
    opinion = Said(row.agrees, row.label, tuple(row.wrong), row.note, name)
    return Feedback(
        row.id, row.claim_id, row.claim, row.verdict, opinion, row.created_at, row.owner
    )
