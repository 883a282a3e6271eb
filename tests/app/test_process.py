"""The web server as a separate process: its memory, its log, its database, its end."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest

from app import create_app
from app.services import services_of
from settings import CHECKOUT, Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, WorkerByHand
from tests.worker.test_database_file import all_text
from worker.database import Database
from worker.job_store import JobStore
from worker.user_store import UserStore

pytestmark = pytest.mark.server

MOST_MEGABYTES = 150
HEAVY = (
    *("torch", "spacy", "onnxruntime", "transformers", "haystack", "numpy", "tantivy"),
    "sentence_transformers",
)


def test_the_web_process_stays_small(own_web: WebProcess) -> None:
    worker = WorkerByHand(own_web.store)
    for number in range(30):
        job = own_web.store.submit(f"Pier {number} is made of oak.", "esoteric")[0]
        worker.finish(job, claim_document(job.claim))
        for path in (f"/claims/{job.id}", "/", "/claims", "/metrics"):
            assert own_web.get(path)[0] == 200
    form = urlencode({"claim": "Varnby has a harbour."}).encode()
    assert own_web.ask("POST", "/claims", form, "application/x-www-form-urlencoded")[0] == 303
    job = own_web.store.recent(1)[0]
    worker.record(worker.start(job), FIRST_HOP)
    for _ in range(200):
        assert own_web.get(f"/api/v1/claims/{job.id}/progress?since=5")[0] == 200
    megabytes = own_web.resident_megabytes()
    print(f"web: {megabytes:.0f} MB resident")
    assert megabytes < MOST_MEGABYTES


def test_importing_the_application_loads_nothing_heavy() -> None:
    code = (
        f"import sys, app, app.__main__;print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert run.stdout.strip() == "[]"


def test_sigterm_ends_it_at_once_without_a_traceback(own_web: WebProcess) -> None:
    own_web.get("/")
    asked = time.monotonic()
    own_web.process.send_signal(signal.SIGTERM)
    assert own_web.process.wait(10) == 0
    assert time.monotonic() - asked < 8
    assert "Traceback" not in own_web.log.read_text()


def test_a_line_has_the_request_its_user_and_its_claim_but_no_text(tmp_path: Path) -> None:
    web = WebProcess(tmp_path, ESOTERIC_LOG="json", ESOTERIC_ACCESS="tokens")
    try:
        token = UserStore(web.store.database).add("ida", "checker")
        request = urllib.request.Request(
            f"{web.address}/api/v1/claims",
            json.dumps({"claim": "Varnby has a harbour."}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            claim, request_id = json.load(answer)["id"], answer.headers["X-Request-Id"]
        cancel = urllib.request.Request(
            f"{web.address}/api/v1/claims/{claim}",
            headers={"Authorization": f"Bearer {token}"},
            method="DELETE",
        )
        urllib.request.urlopen(cancel, timeout=10).close()
        assert web.get("/claims/none")[0] in (303, 401)
    finally:
        web.close()
    log = (tmp_path / "web.log").read_text()
    events = [json.loads(line) for line in log.splitlines()]
    submitted, cancelled, *_ = [one for one in events if one["logger"] == "audit"]
    assert submitted["request"] == request_id != cancelled["request"]
    assert (submitted["did"], submitted["claim"]) == ("api.submit", claim)
    assert (cancelled["did"], cancelled["claim"]) == ("api.cancel", claim)
    assert submitted["user"] == cancelled["user"] == "ida"
    assert "user" not in events[0]
    assert "harbour" not in log


def submit(web: WebProcess, claim: str) -> tuple[int, dict[str, object]]:
    body = json.dumps({"claim": claim}).encode()
    status, answer = web.ask("POST", "/api/v1/claims", body, "application/json")
    return status, json.loads(answer)


def code_of(body: bytes) -> str:
    return str(json.loads(body)["error"]["code"])


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
