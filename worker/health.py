"""Whether any worker can check claims, for ``/readyz`` and ``esoteric doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from retrieval.errors import Problem
from worker.failures import WorkerDies
from worker.reports import AskedModel, SearchedCorpus
from worker.worker_store import WorkerStore

# A worker writes a heartbeat every two seconds (worker.heartbeat); loading models may
# block it for longer than that.
ALIVE_WITHIN = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """The state of the workers: one of them is ready, or ``problem`` says why not.

    ``corpus``: the corpus of a ready worker, if it reports it. ``language_model``: the model that
    a worker sends claims and evidence to.
    """

    ready: bool
    workers: int
    problem: Problem | None
    corpus: SearchedCorpus | None = None
    language_model: AskedModel | None = None


def worker_health(store: WorkerStore) -> WorkerHealth:
    """Return the state of the workers from their heartbeats in the database.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    reported = store.alive(ALIVE_WITHIN)
    # What `esoteric up` says about its worker is no worker.
    dying = [one.problem for one in reported if one.problem and one.problem.code == WorkerDies.CODE]
    workers = [one for one in reported if one.problem is None or one.problem not in dying]
    ready = [one for one in workers if one.state == "ready" and one.problem is None]
    asked = [worker.language_model for worker in workers if worker.language_model is not None]
    # A model that gives no answer comes first, because an operator must know it.
    model = min(asked, key=lambda one: one.problem is None, default=None)
    if ready:
        return WorkerHealth(True, len(workers), None, ready[0].corpus, model)
    if dying:
        problem = dying[0]
    elif any(worker.state == "loading" for worker in workers):
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
