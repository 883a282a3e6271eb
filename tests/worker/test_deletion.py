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
from tests.worker.conftest import at_once
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


def test_the_answers_of_a_language_model_go_with_the_claim_that_they_are_about(
    store: JobStore, answers: AnswerStore, runs: RunStore
) -> None:
    document = claim_document(CLAIM)
    part = {"text": "The kettle is old.", "span": [0, 3], "verdict": document["verdict"]}
    digests = [answer_digest(text, ["m", "p"]) for text in (CLAIM, part["text"], "Another.")]
    run = running(store)
    for digest in digests:
        answers.keep_answer(digest, "{}")
    runs.finish(run, ClaimResult.model_validate({**document, "statements": [part]}))
    store.delete(run.job_id)
    assert [answers.kept_answer(digest) for digest in digests] == [None, None, "{}"]


def test_a_claim_without_result_takes_answers_of_its_time(
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
    runs = [RunStore(store.database) for store in stores]
    for number in range(30):
        run = running(stores[0], f"Kettle {number} is old.")
        acts = (
            lambda run: stores[0].delete(run.job_id),
            lambda run: runs[1].record(run, Progress("titles", "more", 2, 9)),
            lambda run: runs[2].finish(run, RESULT),
            runs[3].give_back,
        )
        at_once(4, lambda which: acts[which](run))  # noqa: B023
        assert_gone(stores[0], run.job_id)
        assert runs[0].start(run.job_id, "another worker") is None
    with stores[0].database.reading() as session:
        assert session.scalar(text("SELECT count(*) FROM events")) == 0
    for store in stores:
        store.database.close()


def test_only_claims_and_answers_that_are_older_are_deleted_after_the_days(tmp_path: Path) -> None:
    file = tmp_path / "claims.db"
    store = JobStore(Database(f"sqlite:///{file}"))
    answers, runs = AnswerStore(store.database), RunStore(store.database)
    answers.keep_answer("old", "{}")
    with closing(sqlite3.connect(file, timeout=10)) as database, database:
        database.execute("UPDATE answers SET kept_at = datetime('now', '-9 days') || '.000000'")
    answers.keep_answer("new", "{}")
    old = [finish_long_ago(file, 8, store, f"Kettle {number} is old.") for number in range(4)]
    younger = finish_long_ago(file, 6, store, "Kettle 4 is younger.")
    pending = running(store, "Kettle 5 boils.")
    for keep_for, left in ((None, 6), (9 * DAY, 6)):  # as the upkeep of a worker does
        Reaper(store.database, Event(), keep_for).look()
        assert len(store.recent(10)) == left
    assert [runs.delete_finished(7 * DAY, 3) for _ in range(3)] == [3, 1, 0]
    for job in old:
        assert_gone(store, job.id)
    assert {listed.id for listed in store.recent(10)} == {younger.id, pending.job_id}
    assert (answers.kept_answer("old"), answers.kept_answer("new")) == (None, "{}")
    Reaper(store.database, Event(), 5 * DAY).look()
    assert [listed.id for listed in store.recent(10)] == [pending.job_id]
    store.database.close()
