"""The whole service, as users start it, over the library."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ops.up_process import environment, esoteric, free_port, programs
from tests.support.shared import one_at_a_time, start_server
from tests.support.waiting import wait_until

# Thirty short documents with plain facts, which the walks search.
LIBRARY = Path(__file__).with_name("library.jsonl")
SECONDS_TO_START = 180.0  # at most, also where the worker has to convert the models first


@dataclass(frozen=True, slots=True)
class Service:
    """A running ``esoteric up``; ``pid``: its process, which has started all others."""

    home: Path
    address: str
    pid: int

    @contextmanager
    def held_worker(self) -> Iterator[None]:
        """Let no claim be checked in this block, so that one sees how its page begins."""
        with one_at_a_time("worker"):
            worker = self._worker()
            os.kill(worker, signal.SIGSTOP)
            while not self._can_write():
                os.kill(worker, signal.SIGCONT)
                time.sleep(0.05)  # in which it ends its write
                os.kill(worker, signal.SIGSTOP)
            try:
                yield
            finally:
                os.kill(worker, signal.SIGCONT)

    def _can_write(self) -> bool:
        """Return whether the pages can write, which the worker, stopped amid a write, prevents."""
        with closing(sqlite3.connect(self.home / "esoteric.db", timeout=0.2)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            return True

    def kill_worker(self) -> None:
        """End the worker as a fault does, amid whatever it does."""
        with one_at_a_time("worker"):
            os.kill(self._worker(), signal.SIGKILL)

    def _worker(self) -> int:
        """Return the process that checks claims: the last one, below the one that watches it."""
        return programs("worker", self.pid)[-1]


def start(folder: Path, models: Path) -> Service:
    """Build the index in this folder, and start the service."""
    home = folder / "home"
    home.mkdir()
    (home / "models").symlink_to(models)
    built = esoteric("index", "build", "--source", f"jsonl:{LIBRARY}", home=home)
    assert built.returncode == 0, built.stderr
    port, log = free_port(), home / "up.log"
    # Small files are too large for this service, so that nobody has to make large ones.
    settings = environment(home) | {"ESOTERIC_MOST_UPLOAD_MB": "1"}
    command = [sys.executable, "-m", "cli", "up", "--port", str(port)]
    up = start_server(command, log, settings)
    ready = "the line that it is ready"
    wait_until(lambda: "is ready" in log.read_text(), ready, SECONDS_TO_START)
    return Service(home, f"http://127.0.0.1:{port}", up.pid)
