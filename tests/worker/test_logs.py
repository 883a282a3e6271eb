"""What operators see: logs without the text of a claim, and counts that never shrink."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from retrieval.errors import EsotericError
from retrieval.llm_judge.interface import Explained
from retrieval.result import ClaimResult
from retrieval.types import NOT_ENOUGH_INFO, Progress, Usage, Verdict
from tests.app.claim_documents import claim_document
from tests.support.waiting import wait_until
from tests.worker.conftest import House, at_once
from worker.answer_store import CountedModel
from worker.database import Database
from worker.job_store import JobStore
from worker.list_store import ListStore
from worker.lists import NewEntry
from worker.logs import about, log_as_json, start_logging
from worker.run_store import RunStore
from worker.schema import EventRow
from worker.tallies import STAGES, Tally, Timed, Totals, count, totals

CLAIM = "The kettle of Quillby is made of pewter."


@contextmanager
def logging_started() -> Iterator[None]:
    """Log as a program does; pytest, which adds handlers before each test, gets them back."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    root.handlers.clear()
    try:
        start_logging()
        yield
    finally:
        root.handlers[:], level = before
        root.setLevel(level)


def test_an_unexpected_error_is_logged_by_its_kinds_and_places_alone_but_for_the_systems(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with logging_started():
        try:
            try:
                {}[CLAIM]
            except KeyError as error:
                raise ValueError(f"cannot read {CLAIM!r}") from error
        except ValueError:
            logging.getLogger("a.module").exception("Claim %s failed", "c1a1")
        log = capsys.readouterr().err
        try:
            (tmp_path / "none").read_text()
        except FileNotFoundError:
            logging.getLogger("a.module").exception("Failed")
    assert "ERROR a.module: Claim c1a1 failed" in log
    assert log.index("KeyError") < log.index("ValueError")
    assert log.count("test_logs.py") == 2
    assert "pewter" not in log
    assert f"No such file or directory: '{tmp_path}/none'" in capsys.readouterr().err


def test_an_error_of_the_database_does_not_show_what_was_to_be_stored(database: Database) -> None:
    with pytest.raises(IntegrityError) as caught, database.writing() as session:
        session.execute(insert(EventRow).values(claim_id="x", n=1, message=CLAIM))
    assert "pewter" not in str(caught.value)


def test_a_message_is_one_line_with_its_time_in_utc(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    record = logging.makeLogRecord(
        {"name": "a.module", "levelname": "INFO", "levelno": 20, "created": 0.0}
    )
    record.msg, record.args = "%s", ("/a\nINFO audit: {}\x1b[2J\u2028",)
    with logging_started():
        logging.getLogger().handlers[0].emit(record)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == ("1970-01-01T00:00:00Z INFO a.module: /a\\nINFO audit: {}\\x1b[2J\\u2028")


def test_as_json_an_event_is_a_line_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_started():
        log_as_json()
        with about(claim="c1a1", list=None):
            try:
                {}[CLAIM]
            except KeyError:
                logging.getLogger("a.module").exception("It\nfailed \x1b[2J")
        logging.getLogger("a.module").warning("Another")
    failed, other = capsys.readouterr().err.splitlines()
    assert "\x1b" not in failed
    event = json.loads(failed)
    error = event.pop("error")
    assert event.pop("time").endswith("Z")
    assert event == {
        "level": "ERROR",
        "logger": "a.module",
        "message": "It\nfailed \x1b[2J",
        "claim": "c1a1",
    }
    assert error[-1] == "KeyError"
    assert "pewter" not in failed
    assert "claim" not in json.loads(other)


@pytest.mark.server
@pytest.mark.parametrize("asked", [False, pytest.param(True, marks=pytest.mark.rare)])
def test_each_line_about_a_claim_has_its_id_and_that_of_its_list(house: House, asked: bool) -> None:
    house.environment |= {"ESOTERIC_LOG": "json", "ESOTERIC_LOG_CLAIMS": "yes" if asked else "no"}
    rows = [NewEntry("1", CLAIM, {}, None)]
    listed = ListStore(house.store.database).create("kettles", "esoteric", rows, None)
    worker = house.start_worker()
    failing = house.queue.submit(f"Divide by zero: {CLAIM}", "esoteric")
    error = house.wait_for_state(failing, "failed").error
    assert (error.code, "ZeroDivisionError" in str(error)) == ("internal", False)
    # The worker queues the rows of lists on its own, maybe after it has taken the other claim.
    wait_until(lambda: len(house.store.recent(2)) == 2, "the claim of the list")
    of_list = next(job for job in house.store.recent(2) if job.id != failing.id)
    house.wait_for_state(house.store.get(of_list.id), "done")
    worker.stop()
    log = worker.log.read_text()
    events = [json.loads(line) for line in log.splitlines()]
    about_failing = [one for one in events if one.get("claim") == failing.id]
    assert [one["level"] for one in about_failing] == ["INFO", "ERROR"]
    assert about_failing[1]["error"][-1] == "ZeroDivisionError"
    assert {one["list"] for one in events if one.get("claim") == of_list.id} == {listed}
    assert not [one for one in events if "Claim " in one["message"] and "claim" not in one]
    assert ("pewter" in log) == asked


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/claims.db")
    yield database
    database.close()


def counted(database: Database) -> Totals:
    with database.reading() as session:
        return totals(session)


def test_each_claim_is_counted_once_also_when_it_is_deleted(database: Database) -> None:
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


def test_the_wait_of_a_claim_that_is_given_back_is_counted_once(database: Database) -> None:
    job, runs = JobStore(database).submit("Tea is hot.", "esoteric")[0], RunStore(database)
    for _ in range(3):
        run = runs.start(job.id, "w")
        runs.record(run, Progress("start", "Reading the claim", 0, 1))
        assert runs.give_back(run)
    waits = counted(database).histograms["esoteric_claim_wait_seconds"]
    assert waits["false",].counts[-1] == 1


def test_processes_that_count_at_once_add_up(database: Database, tmp_path: Path) -> None:
    database.reach()

    def work(number: int) -> None:
        own = Database(f"sqlite:///{tmp_path}/claims.db")
        for _ in range(10):
            count(own, [Tally(STAGES, (f"stage {number % 2}",), 100.0)])
        own.close()

    at_once(4, work)
    stages = counted(database).histograms["esoteric_stage_seconds"]
    assert {labels: (one.counts[-2:], one.sum) for labels, one in stages.items() if one.sum} == {
        ("stage 0",): ((0, 20), 2000.0),
        ("stage 1",): ((0, 20), 2000.0),
    }


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
