"""Logs say where an error happened, without the text of a claim."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from tests.worker.conftest import House
from worker.database import Database
from worker.logs import start_logging
from worker.schema import EventRow

CLAIM = "The kettle of Quillby is made of pewter."


@pytest.fixture
def root() -> logging.Logger:
    return logging.getLogger()


def logged(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is logged about the error that is being handled."""
    before = root.handlers[:], root.level
    root.handlers.clear()
    try:
        start_logging()
        logging.getLogger("a.module").exception("Claim %s failed", "c1a1")
    finally:
        root.handlers[:], level = before
        root.setLevel(level)
    return capsys.readouterr().err


def test_an_unexpected_error_is_logged_by_its_kinds_and_places_alone(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        try:
            {}[CLAIM]
        except KeyError as error:
            raise ValueError(f"cannot read {CLAIM!r}") from error
    except ValueError:
        log = logged(root, capsys)
    assert "ERROR a.module: Claim c1a1 failed" in log
    assert log.index("KeyError") < log.index("ValueError")
    assert log.count("test_logs.py") == 2
    assert "pewter" not in log


def test_an_error_of_the_system_keeps_its_message(
    root: logging.Logger, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    try:
        (tmp_path / "none").read_text()
    except FileNotFoundError:
        log = logged(root, capsys)
    assert f"No such file or directory: '{tmp_path}/none'" in log


def test_an_error_of_the_database_does_not_show_what_was_to_be_stored(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/claims.db")
    with pytest.raises(IntegrityError) as caught, database.writing() as session:
        session.execute(insert(EventRow).values(claim_id="x", n=1, message=CLAIM))
    assert "pewter" not in str(caught.value)
    database.close()


@pytest.mark.server
def test_the_log_of_a_worker_has_no_text_of_a_claim(house: House) -> None:
    worker = house.start_worker()
    for claim, state in ((CLAIM, "done"), (f"Divide by zero: {CLAIM}", "failed")):
        house.wait_for_state(house.queue.submit(claim, "esoteric"), state)
    house.store.delete(house.store.recent(1)[0].id)
    worker.stop()
    log = worker.log.read_text()
    assert "ZeroDivisionError" in log
    assert "Quillby" not in log


def test_a_message_is_one_line_with_its_time_in_utc(
    root: logging.Logger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    before = root.handlers[:], root.level
    root.handlers.clear()
    try:
        start_logging()
        record = logging.makeLogRecord(
            {"name": "a.module", "levelname": "INFO", "levelno": 20, "created": 0.0}
        )
        record.msg, record.args = "%s", ("/a\nINFO audit: {}\x1b[2J\u2028",)
        root.handlers[0].emit(record)
    finally:
        root.handlers[:], level = before
        root.setLevel(level)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == ("1970-01-01T00:00:00Z INFO a.module: /a\\nINFO audit: {}\\x1b[2J\\u2028")
