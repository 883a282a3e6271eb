"""A worker for tests: calls the job store's methods step by step."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from retrieval.errors import EsotericError
from retrieval.result import ClaimResult
from retrieval.types import Findings, Progress
from tests.app.claim_documents import claim_document
from worker.feeder import Feeder
from worker.job_store import JobStore
from worker.jobs import Job
from worker.run_store import Run, RunStore

if TYPE_CHECKING:
    from app.services import Services

OF = 14  # five stages first, five and four in its two hops
_HOPS = json.loads(Path(__file__).with_name("progress.json").read_text("utf-8"))
FIRST_HOP, SECOND_HOP = (tuple((one["stage"], one["message"]) for one in hop) for hop in _HOPS)
# What these events have found, by the number of those before them with the same stage.
FOUND = {
    (one["stage"], number): TypeAdapter(Findings).validate_python(one["found"])
    for number, hop in enumerate(_HOPS)
    for one in hop
    if "found" in one
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

    def finish_lists(self, here: Services) -> None:
        """Check the claims of all lists, as workers do."""
        while self.feed(here):
            for listed in self._store.recent(99):
                if listed.state == "queued":
                    job = self._store.get(listed.id)
                    self.finish(job, claim_document(job.claim))

    def feed(self, here: Services) -> bool:
        """Hand rows of the lists to the queue once; return whether there was something to do."""
        return Feeder(here.database, here.queue, Event()).look()
