"""Concurrent web servers and workers: each change happens once."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from threading import Barrier, Thread
from typing import TypeVar

import pytest

from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document
from worker.database import Database
from worker.job_store import JobStore
from worker.run_store import RunStore

T = TypeVar("T")
RESULT = ClaimResult.model_validate(claim_document("Tea is a drink."))


def at_once(number: int, do: Callable[[int], T]) -> list[T]:
    """Run the call in several threads that start at the same time."""
    barrier, results = Barrier(number), []

    def thread(which: int) -> None:
        barrier.wait()
        results.append(do(which))

    threads = [Thread(target=thread, args=[which]) for which in range(number)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(results) == number, "a thread failed"
    return results


def submit_in_a_process(url: str, barrier: Barrier, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    store = JobStore(Database(url))
    barrier.wait()
    for number in range(20):
        job, new = store.submit(f"Claim {number}.", "esoteric")
        results.put((number, job.id, new))
    store.database.close()


def test_one_claim_submitted_by_many_threads_is_one_job(url: str) -> None:
    """Each thread has its own store, and the database does not exist yet."""
    stores = [JobStore(Database(url)) for _ in range(8)]
    submitted = at_once(8, lambda which: stores[which].submit("Tea is a drink.", "esoteric"))
    assert len({job.id for job, _ in submitted}) == 1
    assert [new for _, new in submitted].count(True) == 1
    assert stores[0].counts()["queued"] == 1
    for store in stores:
        store.database.close()


@pytest.mark.server
def test_the_same_claims_submitted_by_many_processes_are_one_job_each(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(3), context.Queue()
    processes = [
        context.Process(target=submit_in_a_process, args=[url, barrier, results]) for _ in range(3)
    ]
    for process in processes:
        process.start()
    submitted = [results.get(timeout=60) for _ in range(3 * 20)]
    for process in processes:
        process.join()
    for number in range(20):
        ids = {job_id for claim, job_id, _ in submitted if claim == number}
        news = [new for claim, _, new in submitted if claim == number]
        assert len(ids) == 1
        assert news.count(True) == 1


def test_a_lost_job_that_many_reapers_find_is_taken_back_once(url: str) -> None:
    stores = [JobStore(Database(url)) for _ in range(8)]
    job, _ = stores[0].submit("Tea is a drink.", "esoteric")
    run = RunStore(stores[0].database).start(job.id, "lost")
    assert run is not None
    (lost,) = RunStore(stores[0].database).running()
    taken = at_once(8, lambda which: RunStore(stores[which].database).take_back(lost))
    assert taken.count(True) == 1
    assert stores[0].get(job.id).attempts == 1
    for store in stores:
        store.database.close()


def test_finishing_and_cancelling_at_once_has_one_outcome(url: str) -> None:
    stores = [JobStore(Database(url)) for _ in range(2)]
    for number in range(20):
        job, _ = stores[0].submit(f"Claim {number}.", "esoteric")
        run = RunStore(stores[0].database).start(job.id, "worker")
        assert run is not None
        outcomes = at_once(
            2,
            lambda which, run=run: (  # type: ignore[misc]
                RunStore(stores[0].database).finish(run, RESULT)
                if which == 0
                else stores[1].cancel(run.job_id)
            ),
        )
        end = stores[0].get(job.id)
        assert (end.state == "done") == (True in outcomes)
        assert end.state in ("done", "cancelled")
        assert (end.result is not None) == (end.state == "done")
    for store in stores:
        store.database.close()
