"""The web server as a process: connections, raw requests, its memory, log, database and end."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import sqlite3
import stat
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Barrier
from urllib.parse import urlencode

import pytest

from app.http.server import THREADS
from app.http.streams import MOST_STREAMS
from app.people import asker
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.client import Client
from tests.app.conftest import Start
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, WorkerByHand
from tests.support.cases import rows
from tests.support.command import printed
from tests.support.waiting import wait_until
from worker.database import Database
from worker.job_store import JobStore
from worker.user_store import UserStore

pytestmark = pytest.mark.server

MOST_MEGABYTES = 150
HEAVY = (
    *("torch", "spacy", "onnxruntime", "transformers", "haystack", "numpy", "tantivy"),
    "sentence_transformers",
)


def is_answered(connection: socket.socket) -> bool:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    answer = b""
    while not answer.endswith(b'{"status":"ok"}\n'):
        part = connection.recv(4096)
        if not part:
            return False
        answer += part
    return answer.startswith(b"HTTP/1.1 200")


@contextmanager
def idle_connections(web: WebProcess, number: int) -> Iterator[list[socket.socket]]:
    """Open connections that have had one answer and ask nothing more."""
    with ExitStack() as stack:
        opened = []
        for _ in range(number):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", web.port), 5))
            assert is_answered(one)
            opened.append(one)
        yield opened


def test_200_clients_that_keep_their_connections_are_all_served(web: WebProcess) -> None:
    all_served = Barrier(200)

    def visit(_client: int) -> list[int]:
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=30)
        with closing(connection):
            statuses = []
            for path in ("/", "/claims", "/"):
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                statuses.append(answer.status)
            all_served.wait(30)
            return statuses

    with ThreadPoolExecutor(200) as clients:
        assert set(map(tuple, clients.map(visit, range(200)))) == {(200, 200, 200)}


def test_with_too_many_connections_the_longest_idle_one_makes_room(tmp_path: Path) -> None:
    web = WebProcess(tmp_path, most_files=500)  # of these, 300 for connections
    with closing(web), idle_connections(web, 1) as first, idle_connections(web, 400) as others:
        assert web.get("/")[0] == 200
        first[0].settimeout(5)
        assert first[0].recv(100) == b""  # closed
        assert is_answered(others[-1])


SMUGGLED = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ENDLESS = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + "1" * 20_000


def test_an_unclear_or_too_large_request_is_refused_and_hides_no_other(web: WebProcess) -> None:
    requests = [*rows("raw_requests", ["request"], "status"), ("an endless line", [ENDLESS], 400)]
    for why, (request,), status in requests:
        with socket.create_connection(("127.0.0.1", web.port), 5) as connection:
            connection.sendall(f"{request}{SMUGGLED if status == 400 else ''}".encode("latin-1"))
            answers = connection.recv(4096)
            with suppress(ConnectionResetError):  # it is closed while something was not read
                while status == 400 and (part := connection.recv(4096)):
                    answers += part
        assert answers[9:12] == str(status).encode(), why
        assert answers.count(b"HTTP/1.") == 1, why
    for path in ("/api/v1/claims", "/documents/papers-1/remove"):  # but an upload
        with socket.create_connection(("127.0.0.1", web.port), 5) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"
            connection.sendall(head.encode())
            assert connection.recv(4096).startswith(b"HTTP/1.1 413")  # before any of it is sent


def test_a_health_check_is_answered_while_others_wait_for_the_database(web: WebProcess) -> None:
    tea = b'{"claim": "Tea is a drink."}'
    assert web.get("/claims")[0] == 200
    with closing(sqlite3.connect(web.settings.home / "esoteric.db", isolation_level=None)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(THREADS + 4) as clients:
            sent = ("POST", "/api/v1/claims", tea, "application/json", 30)
            waiting = [clients.submit(web.ask, *sent) for _ in range(THREADS + 4)]
            time.sleep(1)
            began = time.monotonic()
            assert web.get("/healthz")[0] == 200
            assert time.monotonic() - began < 5
            assert not any(one.done() for one in waiting)
            lock.execute("ROLLBACK")
            assert {one.result()[0] for one in waiting} == {202}


def test_importing_the_application_loads_nothing_heavy() -> None:
    code = f"import sys, app, app.__main__;print([one for one in {HEAVY!r} if one in sys.modules])"
    assert printed(code) == ["[]"]


@pytest.mark.rare
def test_the_process_stays_small_and_gives_back_what_large_bodies_took(own_web: WebProcess) -> None:
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

    body = b'{"claims": [' + b"[]," * 500_000 + b"[]]}"

    def send(_: int) -> int:
        return own_web.ask("POST", "/api/v1/lists", body, "application/json", 200)[0]

    assert send(0) == 422
    before = own_web.resident_megabytes()
    with ThreadPoolExecutor(6) as clients:
        assert set(clients.map(send, range(6))) == {422}
    assert own_web.resident_megabytes() < before + 35


def test_a_line_of_the_log_has_request_user_and_claim_but_no_text(tmp_path: Path) -> None:
    access = {"ESOTERIC_ACCESS": "tokens", "ESOTERIC_UPLOADS": "no", "ESOTERIC_LOG": "json"}
    with closing(WebProcess(tmp_path, **access, ESOTERIC_MOST_UPLOAD_MB="1")) as web:
        token = UserStore(web.store.database).add("ida", "checker")
        known = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        body = json.dumps({"claim": "Varnby has a harbour."}).encode()
        address = f"{web.address}/api/v1/claims"
        request = urllib.request.Request(address, body, known)
        with urllib.request.urlopen(request, timeout=10) as answer:
            claim, request_id = json.load(answer)["id"], answer.headers["X-Request-Id"]
        cancel = urllib.request.Request(f"{address}/{claim}", headers=known, method="DELETE")
        urllib.request.urlopen(cancel, timeout=10).close()
        assert web.get("/claims/none")[0] in (303, 401)
        # Too large an upload is refused by the application, not by the server before it.
        path = "/api/v1/corpora/papers-1/files"
        status, sent = web.ask("POST", path, bytes(9_000_000), "multipart/form-data; boundary=x")
        assert (status, json.loads(sent)["error"]["code"]) == (413, "upload_too_large")
    log = (tmp_path / "web.log").read_text()
    events = [json.loads(line) for line in log.splitlines()]
    submitted, cancelled, *_ = [one for one in events if one["logger"] == "audit"]
    assert submitted["request"] == request_id != cancelled["request"]
    assert (submitted["did"], submitted["claim"]) == ("api.submit", claim)
    assert (cancelled["did"], cancelled["claim"]) == ("api.cancel", claim)
    assert submitted["user"] == cancelled["user"] == "ida"
    assert "user" not in events[0]
    assert "harbour" not in log


# Its database and its end


def submit(web: WebProcess, claim: str) -> tuple[int, dict[str, object]]:
    body = json.dumps({"claim": claim}).encode()
    status, answer = web.ask("POST", "/api/v1/claims", body, "application/json")
    return status, json.loads(answer)


def test_a_removed_database_is_said_and_no_claim_is_accepted(own_web: WebProcess) -> None:
    assert submit(own_web, "Tea is a drink.")[0] == 202
    for one in own_web.settings.home.glob("esoteric.db*"):
        one.unlink()
    status, answer = submit(own_web, "Milk is a drink.")
    assert (status, answer["error"]["code"]) == (503, "store_removed")
    assert json.loads(own_web.get("/readyz")[1])["error"]["code"] == "store_removed"
    assert not list(own_web.settings.home.glob("esoteric.db*"))
    wait_until(lambda: "CRITICAL" in own_web.log.read_text(), "the line in the log", 30)
    assert "esoteric restore FILE --replace" in own_web.log.read_text()


def test_its_end_ends_streams_and_leaves_a_whole_file(own_web: WebProcess, tmp_path: Path) -> None:
    status, deleted = submit(own_web, "The kettle of Quillby is old.")
    status_of_tea, kept = submit(own_web, "Tea is a drink.")
    assert (status, status_of_tea) == (202, 202)
    assert own_web.ask("DELETE", f"/api/v1/claims/{deleted['id']}?forget=1")[0] == 204
    path = f"/api/v1/claims/{kept['id']}/events"
    with ExitStack() as stack:
        for _ in range(MOST_STREAMS):
            one = http.client.HTTPConnection("127.0.0.1", own_web.port, timeout=10)
            stack.enter_context(closing(one))
            one.request("GET", path)
            answer = stack.enter_context(closing(one.getresponse()))
            assert answer.readline() == b"event: state\n"  # sent at once
        # Open streams keep no page waiting.
        assert own_web.get("/")[0] == 200
        assert own_web.get(f"/claims/{kept['id']}")[0] == 200
        assert own_web.get(path)[0] == 503
        asked = time.monotonic()
        own_web.process.terminate()
        assert own_web.process.wait(10) == 0
        assert time.monotonic() - asked < 8
    assert "Traceback" not in own_web.log.read_text()
    files = [one for one in own_web.settings.home.rglob("*") if one.is_file()]
    assert b"Quillby" not in b"".join(one.read_bytes() for one in files)
    copy = shutil.copy(own_web.settings.home / "esoteric.db", tmp_path / "alone.db")
    store = JobStore(Database(f"sqlite:///{copy}"))
    assert [listed.claim for listed in store.recent(9)] == ["Tea is a drink."]
    store.database.close()


def test_a_stop_leaves_a_file_whole_that_another_has_open(client: Client, tmp_path: Path) -> None:
    client.sent("Tea is a drink.")
    # As a worker has it; else SQLite itself would empty the log with the last connection.
    other = sqlite3.connect(tmp_path / "esoteric.db")
    other.execute("SELECT count(*) FROM claims").fetchall()
    client.services.close()
    copy = shutil.copy(tmp_path / "esoteric.db", tmp_path / "alone.db")
    with closing(other), closing(sqlite3.connect(copy)) as alone:
        assert alone.execute("SELECT claim FROM claims").fetchall() == [("Tea is a drink.",)]


def test_an_address_is_one_client_in_all_processes_of_a_home(start: Start, tmp_path: Path) -> None:
    def clients(home: Path) -> list[str]:
        found = []
        app = start(Settings.from_environment({"ESOTERIC_HOME": str(home)})).application
        for address in ("192.0.2.7", "192.0.2.8"):
            with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
                found.append(asker.client())
        return found

    first = clients(tmp_path / "home")
    assert clients(tmp_path / "home") == first
    (key,) = (tmp_path / "home").glob("*.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    (tmp_path / "file").write_text("in the way")
    unwritable = tmp_path / "file" / "home"
    kept = clients(unwritable)
    assert clients(unwritable) == kept  # as long as this process lives
    assert len({*first, *clients(tmp_path / "other"), *kept}) == 6
