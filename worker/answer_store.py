"""Answers of language models, kept so that the same question is not paid for twice."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import ColumnElement, delete, false, or_, select
from sqlalchemy.exc import IntegrityError

from retrieval.llm_judge.interface import digest_of
from worker import clock
from worker.database import Database
from worker.schema import AnswerRow, ClaimRow

# A language model that was asked before a claim was cancelled may answer this much later.
LATEST_ANSWER = timedelta(seconds=600)


class AnswerStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def kept_answer(self, digest: str) -> str | None:
        """Return the answer stored under this digest, or ``None``."""
        with self._database.reading() as session:
            return session.scalar(select(AnswerRow.answer).where(AnswerRow.digest == digest))

    def keep_answer(self, digest: str, answer: str) -> None:
        """Store an answer; it replaces an older one."""
        try:
            with self._database.writing() as session:
                session.execute(delete(AnswerRow).where(AnswerRow.digest == digest))
                session.add(AnswerRow(digest=digest, answer=answer, kept_at=clock.now()))
        except IntegrityError:
            return  # another process stored one meanwhile


def answers_to(claim: ClaimRow) -> ColumnElement[bool]:
    """Return which answers belong to a claim.

    Its result names the statements that a model was asked about. Without a result they are not
    known: all answers of its time are meant, also to others, which are then asked for again.
    """
    if claim.result is not None:
        statements = {claim.result.claim, *(one.text for one in claim.result.statements)}
        return or_(*(AnswerRow.digest.startswith(digest_of(one)) for one in statements))
    if claim.started_at is None:
        return false()
    ended = claim.finished_at or clock.now()
    return AnswerRow.kept_at.between(claim.created_at, ended + LATEST_ANSWER)
