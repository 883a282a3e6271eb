"""Whether claims are being checked at all, for ``/readyz`` and for the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from retrieval.errors import Problem
from worker.jobs import AskedModel, JobStore, SearchedCorpus

# A worker gives a sign of life every two seconds (worker.heartbeat); loading
# models may hold the interpreter for longer than one of them.
ALIVE_WITHIN = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """Either a worker can check claims now, or ``problem`` says why not.

    ``corpus`` is what the worker searches, if one can and reports it. ``language_model`` is whom a
    worker shows claims and evidence to.
    """

    ready: bool
    workers: int
    problem: Problem | None
    corpus: SearchedCorpus | None = None
    language_model: AskedModel | None = None


def worker_health(store: JobStore) -> WorkerHealth:
    """Return what the heartbeats in the database tell.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    workers = store.workers(ALIVE_WITHIN)
    ready = [worker for worker in workers if worker.state == "ready"]
    asked = [worker.language_model for worker in workers if worker.language_model is not None]
    # First one that gets no answer: that is what an operator must know.
    model = min(asked, key=lambda one: one.problem is None, default=None)
    if ready:
        return WorkerHealth(True, len(workers), None, ready[0].corpus, model)
    if any(worker.state == "loading" for worker in workers):
        problem = Problem(
            "worker_loading", "The worker is loading its models.", "Wait a few seconds."
        )
    elif workers and workers[0].problem is not None:
        problem = workers[0].problem
    else:
        problem = Problem(
            "no_worker",
            "No worker is running, so claims wait.",
            "Start everything with `esoteric up`, or one worker with `python -m worker`.",
        )
    return WorkerHealth(False, len(workers), problem, language_model=model)
