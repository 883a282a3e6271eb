"""Answers of language models: kept, so that no question is paid for twice, and counted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, false, or_, select
from sqlalchemy.exc import IntegrityError

from retrieval.errors import EsotericError
from retrieval.llm_judge.interface import Explained, Explains, Waiting, digest_of
from retrieval.types import Evidence, Verdict
from worker import clock
from worker.database import Database
from worker.schema import AnswerRow, ClaimRow
from worker.tallies import MODEL_ANSWERS, MODEL_CALLS, MODEL_SECONDS, Tally, count

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


class CountedModel:
    """Asks another ``Explains``, and counts."""

    def __init__(self, inner: Explains, database: Database) -> None:
        self._inner = inner
        self._database = database

    @property
    def model(self) -> str:
        """The name of the model in verdicts."""
        return self._inner.model

    @property
    def problem(self) -> EsotericError | None:
        """Why the model gives no usable answer, else ``None``."""
        return self._inner.problem

    def asking(self, model: str) -> CountedModel:
        """See ``Explains.asking``."""
        return CountedModel(self._inner.asking(model), self._database)

    def warm_up(self) -> None:
        """Prepare what the first claim needs."""
        self._inner.warm_up()

    def explain(
        self, claim: str, evidence: Sequence[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> Explained:
        """See ``Explains.explain``."""
        began = time.monotonic()
        explained = self._inner.explain(claim, evidence, verdict, on_wait)
        seconds, calls = time.monotonic() - began, explained.usage.calls
        kept = explained.unanswered is None and not calls
        outcome = explained.unanswered or ("kept" if kept else "answered")
        tallies = [Tally(MODEL_ANSWERS, (outcome,)), Tally(MODEL_CALLS, (), calls)]
        if not kept:
            tallies.append(Tally(MODEL_SECONDS, (), seconds))
        count(self._database, tallies)
        return explained
