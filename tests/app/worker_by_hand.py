"""A worker for tests: calls the job store's methods step by step."""

from __future__ import annotations

from collections import Counter
from typing import Any

from retrieval.errors import EsotericError
from retrieval.result import ClaimResult
from retrieval.types import Findings, FoundDocument, FoundSentence, Progress, Span
from worker.job_store import JobStore
from worker.jobs import Job
from worker.run_store import Run, RunStore

OF = 14  # five stages first, five and four in its two hops
FIRST_HOP = (
    ("start", "Reading the claim"),
    ("spans", "Looking for: the Lighthouse of Varn; Ida Holm"),
    ("titles", "2 exact titles, 1 more with words in parentheses"),
    ("texts", "Something of the claim stands in 214 documents"),
    (
        "questions",
        "Asking: Who built the Lighthouse of Varn? Was the Lighthouse of Varn built by Ida Holm?",
    ),
    ("ranking", "12 documents that may hold an answer"),
    ("sentences", "Reading 148 sentences of 12 documents"),
    ("relevance", "9 sentences that may bear on the claim"),
    ("semantic", "5 sentences selected as evidence"),
    ("verdict", "5 sentences read together: not enough info"),
    ("next", "Still missing: “Ida Holm”; 3 documents to read next"),
)
SECOND_HOP = (
    ("sentences", "Reading 31 sentences of 3 documents"),
    ("relevance", "4 sentences that may bear on the claim"),
    ("semantic", "5 sentences selected as evidence"),
    ("verdict", "5 sentences read together: supports"),
    ("done", "Finished"),
)

_HOLM = "Ida Holm"
# What these events have found, by the number of those before them with the same stage.
FOUND = {
    ("spans", 0): Findings(
        1,
        spans=(
            Span("The Lighthouse of Varn", 0, 22, "entity"),
            Span("Lighthouse", 4, 14, "noun chunk"),
            Span(_HOLM, 36, 44, "entity"),
        ),
    ),
    ("questions", 0): Findings(
        1,
        questions=(
            "Who built the Lighthouse of Varn?",
            "Was the Lighthouse of Varn built by Ida Holm?",
        ),
    ),
    ("sentences", 0): Findings(
        1,
        documents=(
            FoundDocument("Lighthouse of Varn", 0.8, ("title", "text")),
            FoundDocument("Ostrea", 1.0, ("title",)),
        ),
    ),
    ("semantic", 0): Findings(
        1,
        sentences=(
            FoundSentence("Lighthouse of Varn", "It was built in 1874.", 0.4, "NOT ENOUGH INFO"),
        ),
    ),
    ("next", 0): Findings(1, open=(_HOLM,)),
    ("sentences", 1): Findings(
        2, documents=(FoundDocument(_HOLM, 0.7, ("mention",), "Lighthouse of Varn"),)
    ),
    ("semantic", 1): Findings(
        2, sentences=(FoundSentence(_HOLM, "She built it.", 0.98, "SUPPORTS"),)
    ),
}


class WorkerByHand:
    """A worker that does only what the test says."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._before: Counter[tuple[str, str]] = Counter()

    def start(self, job: Job) -> Run:
        run = RunStore(self._store.database).start(job.id, "by-hand")
        assert run is not None
        return run

    def record(
        self, run: Run, steps: tuple[tuple[str, str], ...], done: int = 0, *, findings: bool = True
    ) -> int:
        """Record one event for each step and return how many steps are done.

        Without ``findings`` they are events as older versions wrote them.
        """
        for stage, message in steps:
            found = FOUND.get((stage, self._before[run.token, stage])) if findings else None
            self._before[run.token, stage] += 1
            progress = Progress(stage, message, OF if stage == "done" else done, OF, found)
            assert RunStore(self._store.database).record(run, progress)
            done += 1
        return done

    def finish(self, job: Job, result: dict[str, Any]) -> None:
        run = self.start(job)
        done = self.record(run, FIRST_HOP, findings=False)
        self.record(run, SECOND_HOP, done, findings=False)
        assert RunStore(self._store.database).finish(run, ClaimResult.model_validate(result))

    def fail(self, job: Job, error: EsotericError) -> None:
        assert RunStore(self._store.database).fail(self.start(job), error)
