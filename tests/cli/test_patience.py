"""Long work waits for a server that is away: real connections, and a server that comes late."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread, Timer

import pytest

from cli.progress import patiently
from retrieval.errors import IndexAway, IndexUnavailable
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.location import ElasticLocation
from tests.ops.up_process import free_port


class Node(BaseHTTPRequestHandler):
    """Answers every question with the version of a server."""

    number = "9.1.0"

    def do_GET(self) -> None:
        body = json.dumps({"version": {"number": self.number}}).encode()
        self.send_response(200)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class OldNode(Node):
    """One that is too old."""

    number = "7.17.0"


def serve(port: int, node: type[Node]) -> HTTPServer:
    server = HTTPServer(("127.0.0.1", port), node)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def cluster(port: int) -> Iterator[Cluster]:
    cluster = Cluster(ElasticLocation.read(f"elasticsearch://127.0.0.1:{port}/notes"))
    yield cluster
    cluster.close()


def test_it_waits_for_a_server_that_is_away_says_so_once_and_goes_on(
    port: int, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    servers: list[HTTPServer] = []
    timer = Timer(3, lambda: servers.append(serve(port, Node)))
    timer.start()
    began = time.monotonic()
    patiently(cluster.check_version)
    assert 3 <= time.monotonic() - began < 20
    timer.join()
    servers[0].shutdown()
    servers[0].server_close()
    waits, goes_on = capsys.readouterr().err.splitlines()
    assert waits.startswith(f"Elasticsearch at elasticsearch://127.0.0.1:{port}/notes is unreach")
    assert waits.endswith(" Waiting for it, 10 minutes at most.")
    assert goes_on == "The index answers again; the work goes on."


def test_it_gives_up_when_the_time_is_over(cluster: Cluster) -> None:
    began = time.monotonic()
    with pytest.raises(IndexAway):
        patiently(cluster.check_version, longest_wait=3)
    assert 3 <= time.monotonic() - began < 15


def test_an_error_that_waiting_does_not_mend_is_reported_at_once(
    port: int, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(port, OldNode)
    with pytest.raises(IndexUnavailable, match="is version 7"):
        patiently(cluster.check_version)
    server.shutdown()
    server.server_close()
    assert capsys.readouterr().err == ""
