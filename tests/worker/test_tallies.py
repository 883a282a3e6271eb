"""What is counted for Prometheus: once, by all processes, and never less."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from retrieval.errors import EsotericError
from retrieval.llm_judge.interface import Explained
from retrieval.result import ClaimResult
from retrieval.types import NOT_ENOUGH_INFO, Progress, Usage, Verdict
from tests.app.claim_documents import claim_document
from worker.answer_store import CountedModel
from worker.database import Database
from worker.job_store import JobStore
from worker.run_store import RunStore
from worker.tallies import STAGES, Tally, Timed, Totals, count, totals


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/claims.db")
    yield database
    database.close()


def counted(database: Database) -> Totals:
    with database.reading() as session:
        return totals(session)


def test_each_claim_is_counted_once_by_its_end_and_stays_counted_when_it_is_deleted(
    database: Database,
) -> None:
    store, runs = JobStore(database), RunStore(database)
    done, failed, cancelled = (
        store.submit(f"Tea {number} is hot.", "esoteric")[0] for number in range(3)
    )
    run = runs.start(done.id, "w")
    assert run is not None
    result = claim_document(done.claim) | {"seconds": {"total": 0.7, "titles": 0.02}}
    for _ in range(2):
        runs.finish(run, ClaimResult.model_validate(result))
    run = runs.start(failed.id, "w")
    assert run is not None
    for _ in range(2):
        runs.fail(run, EsotericError("index_missing", "There is no index.", "Build one."))
        store.cancel(cancelled.id)
    store.delete(done.id)
    RunStore(database).delete_finished(timedelta(0), 10)
    found = counted(database)
    assert found.counters["esoteric_claims_ended"] == {
        ("done", ""): 1,
        ("failed", "index_missing"): 1,
        ("cancelled", ""): 1,
    }
    stages = found.histograms["esoteric_stage_seconds"]
    # 13 buckets: .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, and one without a bound.
    assert stages["total",] == Timed((0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1), 0.7)
    assert stages["titles",] == Timed((0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 0.02)
    waits = found.histograms["esoteric_claim_wait_seconds"]
    assert waits["false",].counts[-1] == 2


def test_the_wait_of_a_claim_is_counted_once_although_its_worker_gives_it_back(
    database: Database,
) -> None:
    job = JobStore(database).submit("Tea is hot.", "esoteric")[0]
    runs = RunStore(database)
    for _ in range(3):
        run = runs.start(job.id, "w")
        assert run is not None
        runs.record(run, Progress("start", "Reading the claim", 0, 1))
        assert runs.give_back(run)
    waits = counted(database).histograms["esoteric_claim_wait_seconds"]
    assert waits["false",].counts[-1] == 1


def test_processes_that_count_at_once_add_up(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/claims.db"
    Database(url).reach()

    def work(number: int) -> None:
        database = Database(url)
        for _ in range(10):
            count(database, [Tally(STAGES, (f"stage {number % 2}",), 100.0)])
        database.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    database = Database(url)
    stages = counted(database).histograms["esoteric_stage_seconds"]
    assert {labels: (one.counts[-2:], one.sum) for labels, one in stages.items() if one.sum} == {
        ("stage 0",): ((0, 20), 2000.0),
        ("stage 1",): ((0, 20), 2000.0),
    }
    database.close()


class Scripted:
    """A language model that answers as a test says."""

    model, problem = "scripted", None

    def __init__(self, *answers: Explained) -> None:
        self._answers = iter(answers)

    def warm_up(self) -> None:
        """Do nothing."""

    def explain(self, *_: object) -> Explained:
        return next(self._answers)


def test_a_language_model_is_counted_by_its_answers_and_calls(database: Database) -> None:
    verdict = Verdict(NOT_ENOUGH_INFO, 0.5, "verifier", "")
    model = CountedModel(
        Scripted(
            Explained(verdict, Usage("scripted", 2, 10, 5)),
            Explained(verdict, Usage("scripted", 0, 0, 0)),
            Explained(verdict, Usage("scripted", 0, 0, 0), (), "no_answer"),
            Explained(verdict, Usage("scripted", 2, 0, 0), (), "bad_answer"),
        ),
        database,
    )
    for _ in range(4):
        model.explain("Tea is hot.", (), verdict, lambda _: None)
    found = counted(database)
    assert found.counters["esoteric_language_model_statements"] == {
        ("answered",): 1,
        ("kept",): 1,
        ("no_answer",): 1,
        ("bad_answer",): 1,
    }
    assert found.counters["esoteric_language_model_calls"] == {(): 4}
    assert found.histograms["esoteric_language_model_seconds"][()].counts[-1] == 3
