"""A language model whose answers, calls and seconds are counted for ``/metrics``."""

from __future__ import annotations

import time
from collections.abc import Sequence

from retrieval.errors import EsotericError
from retrieval.llm_judge.interface import Explained, Explains, Waiting
from retrieval.types import Evidence, Verdict
from worker.database import Database
from worker.tallies import MODEL_ANSWERS, MODEL_CALLS, MODEL_SECONDS, Tally, count


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
