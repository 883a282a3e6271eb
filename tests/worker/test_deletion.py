"""Deleted claims leave nothing and do not come back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import text

from retrieval.errors import EsotericError
from retrieval.llm_judge.interface import answer_digest
from retrieval.result import ClaimResult
from retrieval.types import Progress
from tests.app.claim_documents import claim_document
from tests.support.waiting import wait_until
from tests.worker.conftest import House
from tests.worker.test_job_store_races import at_once
from worker.answer_store import AnswerStore
from worker.database import Database
from worker.job_store import JobStore
from worker.jobs import Job, UnknownJob
from worker.reaper import Reaper
from worker.run_store import Run, RunStore

CLAIM = "The kettle of Quillby is made of pewter."
RESULT = ClaimResult.model_validate(claim_document(CLAIM))
DAY = timedelta(days=1)


@pytest.fixture
def answers(store: JobStore) -> AnswerStore:
    return AnswerStore(store.database)


@pytest.fixture
def runs(store: JobStore) -> RunStore:
    return RunStore(store.database)


def running(store: JobStore, claim: str = CLAIM) -> Run:
    run = RunStore(store.database).start(store.submit(claim, "esoteric")[0].id, "a worker")
    assert run is not None
    assert RunStore(store.database).record(run, Progress("spans", f"Looking for: {claim}", 1, 9))
    return run


def assert_gone(store: JobStore, job_id: str) -> None:
    for ask in (store.get, store.cancel, store.delete):
        with pytest.raises(UnknownJob, match="no claim with this id"):
            ask(job_id)
    assert store.events(job_id, 0) == []
    assert job_id not in [listed.id for listed in store.recent(100)]


def finish_long_ago(file: Path, days: int, store: JobStore, claim: str = CLAIM) -> Job:
    """Store a claim that was done so many days ago."""
    run = running(store, claim)
    assert RunStore(store.database).finish(run, RESULT)
    with closing(sqlite3.connect(file, timeout=10)) as database, database:
        database.execute(
            "UPDATE claims SET finished_at = datetime(finished_at, ?) || '.000000' WHERE id = ?",
            [f"-{days} days", run.job_id],
        )
    return store.get(run.job_id)


def test_no_word_of_a_deleted_claim_stays_in_the_file(tmp_path: Path) -> None:
    store = JobStore(Database(f"sqlite:///{tmp_path}/claims.db"))
    kept, deleted = running(store, "The bell of Quillby is cracked."), running(store)
    RunStore(store.database).finish(deleted, RESULT)
    AnswerStore(store.database).keep_answer(answer_digest(CLAIM, "m"), "Pewter, says the page.")
    store.delete(deleted.job_id)
    store.database.close()  # the write-ahead log goes into the file
    (file,) = tmp_path.iterdir()
    content = file.read_bytes().lower()
    assert b"bell of quillby" in content
    assert b"pewter" not in content
    assert JobStore(Database(f"sqlite:///{file}")).get(kept.job_id).state == "running"


def test_the_answers_of_a_language_model_go_with_the_claim_that_they_are_about(
    store: JobStore,
    answers: AnswerStore,
    runs: RunStore,
) -> None:
    document = claim_document(CLAIM)
    part = {"text": "The kettle is old.", "span": [0, 3], "verdict": document["verdict"]}
    of_claim, of_statement, of_other = (
        answer_digest(text, ["model", "prompt"]) for text in (CLAIM, part["text"], "Another.")
    )
    run = running(store)
    for digest in (of_claim, of_statement, of_other):
        answers.keep_answer(digest, "{}")
    runs.finish(run, ClaimResult.model_validate({**document, "statements": [part]}))
    store.delete(run.job_id)
    assert [answers.kept_answer(digest) for digest in (of_claim, of_statement, of_other)] == [
        *(None, None),
        "{}",
    ]


def test_a_claim_without_a_result_takes_the_answers_of_its_time_with_it(
    store: JobStore, answers: AnswerStore
) -> None:
    answers.keep_answer("before", "{}")
    run = running(store)
    answers.keep_answer("meanwhile", "{}")
    store.cancel(run.job_id)
    answers.keep_answer("just after", "{}")  # of the call that had begun
    store.delete(run.job_id)
    assert answers.kept_answer("before") == "{}"
    assert answers.kept_answer("meanwhile") is None
    assert answers.kept_answer("just after") is None


def test_a_claim_that_is_deleted_while_it_is_checked_is_lost_to_its_worker(
    store: JobStore, answers: AnswerStore, runs: RunStore
) -> None:
    began = datetime.now(UTC)
    run, other = running(store), running(store, "Another claim is kept.")
    (seen,) = (job for job in runs.running() if job.run == run)
    store.delete(run.job_id)
    answers.keep_answer("late", "{}")  # by the call that had begun
    assert not runs.record(run, Progress("titles", "late", 2, 9))
    assert not runs.renew(run)
    assert not runs.finish(run, RESULT)
    assert not runs.fail(run, EsotericError("x", "x", "x"))
    assert not runs.give_back(run)
    assert not runs.take_back(seen)
    assert not runs.was_deleted(other, began)
    assert answers.kept_answer("late") == "{}"
    assert runs.was_deleted(run, began)
    assert answers.kept_answer("late") is None
    assert_gone(store, run.job_id)


def test_a_claim_deleted_while_its_worker_writes_never_comes_back(url: str) -> None:
    stores = [JobStore(Database(url)) for _ in range(4)]

    def act(which: int, run: Run) -> bool:
        if which == 0:
            stores[0].delete(run.job_id)
        elif which == 1:
            return RunStore(stores[1].database).record(run, Progress("titles", "more", 2, 9))
        elif which == 2:
            return RunStore(stores[2].database).finish(run, RESULT)
        else:
            return RunStore(stores[3].database).give_back(run)
        return True

    for number in range(30):
        run = running(stores[0], f"Kettle {number} is old.")
        at_once(4, lambda which, run=run: act(which, run))  # type: ignore[misc]
        assert_gone(stores[0], run.job_id)
        assert RunStore(stores[0].database).start(run.job_id, "another worker") is None
    with stores[0].database.reading() as session:
        assert session.scalar(text("SELECT count(*) FROM events")) == 0
    for store in stores:
        store.database.close()


def test_only_claims_and_answers_that_are_older_are_deleted_after_the_days(tmp_path: Path) -> None:
    file = tmp_path / "claims.db"
    store = JobStore(Database(f"sqlite:///{file}"))
    AnswerStore(store.database).keep_answer("old", "{}")
    with closing(sqlite3.connect(file, timeout=10)) as database, database:
        database.execute("UPDATE answers SET kept_at = datetime('now', '-9 days') || '.000000'")
    AnswerStore(store.database).keep_answer("new", "{}")
    old = [finish_long_ago(file, 8, store, f"Kettle {number} is old.") for number in range(3)]
    younger = finish_long_ago(file, 6, store, "Kettle 4 is younger.")
    pending = running(store, "Kettle 5 boils.")
    assert RunStore(store.database).delete_finished(7 * DAY, 2) == 2
    assert RunStore(store.database).delete_finished(7 * DAY, 2) == 1
    assert RunStore(store.database).delete_finished(7 * DAY, 2) == 0
    for job in old:
        assert_gone(store, job.id)
    assert {listed.id for listed in store.recent(10)} == {younger.id, pending.job_id}
    assert (
        AnswerStore(store.database).kept_answer("old"),
        AnswerStore(store.database).kept_answer("new"),
    ) == (None, "{}")
    store.database.close()


@pytest.mark.parametrize(("keep_for", "left"), [(None, 1), (7 * DAY, 0), (9 * DAY, 1)])
def test_the_upkeep_of_a_worker_deletes_claims_after_the_days_that_are_set(
    house: House, keep_for: timedelta | None, left: int
) -> None:
    finish_long_ago(house.home / "esoteric.db", 8, house.store)
    Reaper(house.store.database, Event(), keep_for).look()
    assert len(house.store.recent(10)) == left


@pytest.mark.server
def test_a_worker_ends_the_check_of_a_deleted_claim_and_goes_on(any_house: House) -> None:
    claim = "The kettle never boils."
    any_house.hold("relevance", claim)
    worker = any_house.start_worker()
    job = any_house.queue.submit(claim, "esoteric")
    any_house.wait_for_event(job, "relevance")
    any_house.store.delete(job.id)
    wait_until(lambda: f"Claim {job.id} was deleted" in worker.log.read_text(), "the end")
    other = any_house.queue.submit("The kettle boils.", "esoteric")
    any_house.wait_for_state(other, "done")
    assert_gone(any_house.store, job.id)
    assert "Traceback" not in worker.log.read_text()
