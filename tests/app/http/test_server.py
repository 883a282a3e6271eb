"""The web server while clients keep connections open, and while the database is locked."""

from __future__ import annotations

import http.client
import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Barrier

import pytest

from app.http.server import THREADS
from app.http.streams import MOST_STREAMS
from tests.app.web_process import WebProcess

pytestmark = pytest.mark.server


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
    try:
        with idle_connections(web, 1) as first, idle_connections(web, 400) as others:
            assert web.get("/")[0] == 200
            first[0].settimeout(5)
            assert first[0].recv(100) == b""  # closed
            assert is_answered(others[-1])
    finally:
        web.close()


def test_where_users_log_in_too_large_an_upload_is_refused_by_the_application(
    tmp_path: Path,
) -> None:
    access = {"ESOTERIC_ACCESS": "tokens", "ESOTERIC_UPLOADS": "no"}
    web = WebProcess(tmp_path, **access, ESOTERIC_MOST_UPLOAD_MB="1")
    try:
        path = "/api/v1/corpora/papers-1/files"
        status, body = web.ask("POST", path, bytes(9_000_000), "multipart/form-data; boundary=x")
        assert (status, json.loads(body)["error"]["code"]) == (413, "upload_too_large")
    finally:
        web.close()


SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
UNCLEAR = {
    "two lengths": b"POST /api/v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths, none chunked": b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:\r\n"
    b"Content-Length: 4\r\n\r\nabcd",
    "pieces in HTTP/1.0": b"POST / HTTP/1.0\r\nConnection: keep-alive\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\nExpect: 100-continue\r\n\r\n",
    "line feeds alone": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "one line feed alone": b"GET /healthz HTTP/1.1\r\nHost: localhost\nX: a\r\n\r\n",
    "an endless line": b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"1" * 20_000,
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_an_unclear_request_is_refused_at_once_and_hides_no_other(
    web: WebProcess, name: str
) -> None:
    with socket.create_connection(("127.0.0.1", web.port), 5) as connection:
        connection.sendall(UNCLEAR[name] + SMUGGLED)
        answers = b""
        with suppress(ConnectionResetError):  # it is closed while something was not read
            while part := connection.recv(4096):
                answers += part
    assert answers.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
    assert answers.count(b"HTTP/1.") == 1


def test_the_memory_of_large_bodies_is_given_back(own_web: WebProcess) -> None:
    body = b'{"claims": [' + b"[]," * 500_000 + b"[]]}"

    def send(_: int) -> int:
        return own_web.ask("POST", "/api/v1/lists", body, "application/json", 200)[0]

    assert send(0) == 422
    before = own_web.resident_megabytes()
    with ThreadPoolExecutor(6) as clients:
        assert set(clients.map(send, range(6))) == {422}
    assert own_web.resident_megabytes() < before + 35


@pytest.mark.parametrize("path", ["/api/v1/claims", "/documents/papers-1/remove"])
def test_no_route_but_an_upload_may_send_more_than_a_list(web: WebProcess, path: str) -> None:
    with socket.create_connection(("127.0.0.1", web.port), 5) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413")  # before any of it is sent


def test_a_health_check_is_answered_at_once_while_all_others_wait_for_the_database(
    web: WebProcess,
) -> None:
    assert web.get("/claims")[0] == 200
    with closing(sqlite3.connect(web.settings.home / "esoteric.db", isolation_level=None)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(THREADS + 4) as clients:
            waiting = [
                clients.submit(
                    *(web.ask, "POST", "/api/v1/claims", b'{"claim": "Tea is a drink."}'),
                    *("application/json", 30),
                )
                for _ in range(THREADS + 4)
            ]
            time.sleep(1)
            began = time.monotonic()
            assert web.get("/healthz")[0] == 200
            assert time.monotonic() - began < 5
            assert not any(one.done() for one in waiting)
            lock.execute("ROLLBACK")
            assert {one.result()[0] for one in waiting} == {202}


def test_open_streams_keep_no_page_waiting_and_end_with_the_server(own_web: WebProcess) -> None:
    job = own_web.store.submit("Varnby has a harbour.", "esoteric")[0]
    path = f"/api/v1/claims/{job.id}/events"
    with ExitStack() as stack:
        streams = []
        for _ in range(MOST_STREAMS):
            one = http.client.HTTPConnection("127.0.0.1", own_web.port, timeout=10)
            stack.enter_context(closing(one))
            one.request("GET", path)
            answer = one.getresponse()
            assert answer.readline() == b"event: state\n"  # sent at once
            streams.append(answer)
        assert own_web.get("/")[0] == 200
        assert own_web.get(f"/claims/{job.id}")[0] == 200
        assert own_web.get(path)[0] == 503
        own_web.process.terminate()
        assert own_web.process.wait(10) == 0


def test_what_a_body_may_contain_and_old_programs_send_is_answered(web: WebProcess) -> None:
    for request in (
        b"GET /healthz HTTP/1.0\r\n\r\n",
        b"\r\nGET /healthz HTTP/1.0\r\nX: Transfer-Encoding: chunked\r\n\r\n",
        b"POST /healthz HTTP/1.0\r\nContent-Length: 40\r\n\r\na\nTransfer-Encoding: chunked\n"
        + b"b" * 11,
    ):
        with socket.create_connection(("127.0.0.1", web.port), 5) as connection:
            connection.sendall(request)
            assert connection.recv(4096)[9:12] in (b"200", b"405")
