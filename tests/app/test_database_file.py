"""The web server while the file of its database is removed or damaged, and after its end."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.index import describe_index
from tests.app.web_process import WebProcess
from tests.worker.test_database_file import all_text, damage_events
from worker.database import Database
from worker.job_store import JobStore

pytestmark = pytest.mark.server


def submit(web: WebProcess, claim: str) -> tuple[int, dict[str, object]]:
    body = json.dumps({"claim": claim}).encode()
    status, answer = web.ask("POST", "/api/v1/claims", body, "application/json")
    return status, json.loads(answer)


def code_of(body: bytes) -> str:
    return str(json.loads(body)["error"]["code"])


def wait_until_not_ready(web: WebProcess, code: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while code_of((said := web.get("/readyz"))[1]) != code:
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


def test_a_removed_database_is_said_and_no_claim_is_accepted(own_web: WebProcess) -> None:
    assert submit(own_web, "Tea is a drink.")[0] == 202
    for one in own_web.settings.home.glob("esoteric.db*"):
        one.unlink()
    status, answer = submit(own_web, "Milk is a drink.")
    assert (status, answer["error"]["code"]) == (503, "store_removed")  # type: ignore[index]
    assert code_of(own_web.get("/readyz")[1]) == "store_removed"
    assert not list(own_web.settings.home.glob("esoteric.db*"))
    deadline = time.monotonic() + 30
    while "CRITICAL" not in own_web.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert "esoteric restore FILE --replace" in own_web.log.read_text()


def test_a_damaged_database_is_said_within_ten_seconds_and_no_claim_is_accepted(
    own_web: WebProcess,
) -> None:
    assert submit(own_web, "Tea is a drink.")[0] == 202
    damage_events(own_web.settings.home / "esoteric.db")
    wait_until_not_ready(own_web, "store_damaged", 10)
    status, answer = submit(own_web, "Milk is a drink.")
    assert (status, answer["error"]["code"]) == (503, "store_damaged")  # type: ignore[index]


def test_what_is_deleted_leaves_the_disk_and_the_file_alone_is_whole_after_the_end(
    own_web: WebProcess, tmp_path: Path
) -> None:
    status, deleted = submit(own_web, "The kettle of Quillby is old.")
    assert (status, submit(own_web, "Tea is a drink.")[0]) == (202, 202)
    address = f"/api/v1/claims/{deleted['id']}?forget=1"
    assert own_web.ask("DELETE", address)[0] == 204
    own_web.process.terminate()
    own_web.process.wait(30)
    assert "Quillby" not in all_text(own_web.settings.home)
    copy = shutil.copy(own_web.settings.home / "esoteric.db", tmp_path / "alone.db")
    store = JobStore(Database(f"sqlite:///{copy}"))
    assert [listed.claim for listed in store.recent(9)] == ["Tea is a drink."]
    store.database.close()


def test_a_stop_leaves_the_file_whole_also_while_another_program_has_it_open(
    tmp_path: Path,
) -> None:
    describe_index(tmp_path)
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)}))
    file = tmp_path / "esoteric.db"
    with closing(services_of(app)):
        body = {"claim": "Tea is a drink."}
        assert app.test_client().post("/api/v1/claims", json=body).status_code == 202
        # As a worker has it; else SQLite itself would empty the log with the last connection.
        other = sqlite3.connect(file)
        other.execute("SELECT count(*) FROM claims").fetchall()
    copy = shutil.copy(file, tmp_path / "alone.db")
    with closing(other), closing(sqlite3.connect(copy)) as alone:
        assert alone.execute("SELECT claim FROM claims").fetchall() == [("Tea is a drink.",)]
