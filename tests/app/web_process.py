"""The web server as a separate process, as users run it."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from settings import CHECKOUT, Settings
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from tests.ops.up_process import free_port
from worker.database import Database
from worker.job_store import JobStore
from worker.schema import Base


class WebProcess:
    """``python -m app`` with its own home, and, if given, few files that it may open.

    ``more``: variables of its environment.
    """

    def __init__(self, home: Path, most_files: int | None = None, **more: str) -> None:
        describe_index(home)
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        environment = {"ESOTERIC_HOME": str(home), "PORT": str(self.port), **more}
        self.settings = Settings.from_environment(environment)
        self.store = JobStore(Database(self.settings.database_url))
        self.log = home / "web.log"
        with self.log.open("wb") as log:
            limit = "" if most_files is None else f"ulimit -n {most_files};"
            self.process = subprocess.Popen(
                ["sh", "-c", f'{limit} exec "$0" -m app', sys.executable],
                cwd=CHECKOUT,
                env={**os.environ, "HOST": "", **environment},
                stderr=log,
                stdout=log,
            )
        self.worker = WorkerByHand(self.store)
        self._wait()

    def done(self, result: dict[str, Any]) -> str:
        """Submit the claim of a result, end it with that, and return the address of its page."""
        job = self.store.submit(result["claim"], "esoteric")[0]
        self.worker.finish(job, result)
        return f"{self.address}/claims/{job.id}"

    def get(self, path: str) -> tuple[int, bytes]:
        return self.ask("GET", path)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        kind: str = "text/plain",
        seconds: float = 30,
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def forget_all(self) -> None:
        """Delete all that is in its database, and its corpora."""
        rmtree(self.settings.documents, ignore_errors=True)
        with self.store.database.writing() as session:
            for table in reversed(Base.metadata.sorted_tables):
                session.execute(table.delete())

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def close(self) -> None:
        self.store.database.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                assert self.get("/healthz")[0] == 200
            except ConnectionError:
                time.sleep(0.05)
            else:
                return
        pytest.fail("the web server did not answer within 60 seconds")
