"""Logs say where an error happened, without the text of a claim."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from tests.worker.conftest import House
from worker.database import Database
from worker.list_store import ListStore
from worker.lists import NewEntry
from worker.logs import about, log_as_json, start_logging
from worker.schema import EventRow

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


def logged(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is logged about the error that is being handled."""
    with logging_started():
        logging.getLogger("a.module").exception("Claim %s failed", "c1a1")
    return capsys.readouterr().err


def test_an_unexpected_error_is_logged_by_its_kinds_and_places_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        try:
            {}[CLAIM]
        except KeyError as error:
            raise ValueError(f"cannot read {CLAIM!r}") from error
    except ValueError:
        log = logged(capsys)
    assert "ERROR a.module: Claim c1a1 failed" in log
    assert log.index("KeyError") < log.index("ValueError")
    assert log.count("test_logs.py") == 2
    assert "pewter" not in log


def test_an_error_of_the_system_keeps_its_message(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    try:
        (tmp_path / "none").read_text()
    except FileNotFoundError:
        log = logged(capsys)
    assert f"No such file or directory: '{tmp_path}/none'" in log


def test_an_error_of_the_database_does_not_show_what_was_to_be_stored(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/claims.db")
    with pytest.raises(IntegrityError) as caught, database.writing() as session:
        session.execute(insert(EventRow).values(claim_id="x", n=1, message=CLAIM))
    assert "pewter" not in str(caught.value)
    database.close()


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


def test_as_json_an_event_is_one_line_with_what_it_is_about_and_its_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
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
@pytest.mark.parametrize("asked", [False, True])
def test_each_line_about_a_claim_has_its_id_and_that_of_its_list(house: House, asked: bool) -> None:
    house.environment |= {"ESOTERIC_LOG": "json", "ESOTERIC_LOG_CLAIMS": "yes" if asked else "no"}
    listed = ListStore(house.store.database).create(
        "kettles", "esoteric", [NewEntry("1", CLAIM, {}, None)], None
    )
    worker = house.start_worker()
    failing = house.queue.submit(f"Divide by zero: {CLAIM}", "esoteric")
    error = house.wait_for_state(failing, "failed").error
    assert error is not None
    assert (error.code, "ZeroDivisionError" in str(error)) == ("internal", False)
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
