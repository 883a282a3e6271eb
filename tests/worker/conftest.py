"""A home with an index for the fake retriever, real workers, and a real Redis."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import TypeVar

import pytest

from settings import CHECKOUT, Settings
from tests.ops.up_process import free_port
from tests.support.postgresql import new_database
from tests.support.waiting import wait_until
from worker.broker import Queue
from worker.database import Database
from worker.health import worker_health
from worker.job_store import JobStore
from worker.jobs import Job
from worker.worker_store import WorkerStore

T = TypeVar("T")


def at_once(number: int, do: Callable[[int], T]) -> list[T]:
    """Run the call in several threads that start at the same time."""
    barrier, results = Barrier(number), []

    def thread(which: int) -> None:
        barrier.wait()
        results.append(do(which))

    threads = [Thread(target=thread, args=[which]) for which in range(number)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(results) == number, "a thread failed"
    return results


@pytest.fixture
def on_sqlite(tmp_path: Path) -> str:
    """The URL of a database in a file that is not there yet."""
    return f"sqlite:///{tmp_path}/deep/down/claims.db"


@pytest.fixture
def on_postgresql() -> str:
    """The URL of an empty database on a real server."""
    return new_database()


@pytest.fixture(
    params=[
        "on_sqlite",
        pytest.param("on_postgresql", marks=[pytest.mark.postgresql, pytest.mark.rare]),
    ],
    ids=["sqlite", "postgresql"],
)
def url(request: pytest.FixtureRequest) -> str:
    """One database of each kind."""
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def store(url: str) -> Iterator[JobStore]:
    """The job store on each of them."""
    store = JobStore(Database(url))
    yield store
    store.database.close()


class Worker:
    """A real worker process around the fake retriever."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.worker.fake_retriever"],
                cwd=CHECKOUT,
                env=environment,
                stderr=file,
                stdout=file,
                start_new_session=True,
            )

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the worker and to the process that keeps it."""
        os.killpg(self.process.pid, number)

    def stop(self) -> float:
        """Send SIGTERM and return how many seconds the worker took to end."""
        asked = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        return time.monotonic() - asked


class House:
    """A home folder with the settings of its web process and workers."""

    def __init__(self, home: Path, broker_url: str) -> None:
        self.home = home
        self.environment = {
            **os.environ,
            "ESOTERIC_HOME": str(home),
            "ESOTERIC_BROKER_URL": broker_url,
            "ESOTERIC_DATABASE_URL": "",
            "ESOTERIC_THREADS": "1",
        }
        self.settings = Settings.from_environment(self.environment)
        self.store = JobStore(Database(self.settings.database_url))
        self.queue = Queue(self.settings, self.store)
        self.workers: list[Worker] = []
        self.give_index("Almanac")

    def give_index(self, name: str) -> None:
        """Write an index of this name for the fake retriever."""
        index = self.settings.store
        index.mkdir(parents=True, exist_ok=True)
        (index / "new").write_text(name)
        (index / "new").replace(index / "name")

    def hold(self, stage: str, claim: str) -> None:
        """Make the fake retriever wait in this stage of this claim."""
        (self.home / "hold").write_text(f"{stage} {claim}")

    def hang(self, stage: str, claim: str) -> None:
        """Make the fake retriever hang in this stage of this claim."""
        (self.home / "hang").write_text(f"{stage} {claim}")

    def let_go(self) -> None:
        """Let the fake retriever continue."""
        (self.home / "hold").unlink()

    def cut_off(self) -> None:
        """Let the fake retriever get no answer about its index."""
        (self.home / "cut-off").touch()

    def reconnect(self) -> None:
        """End this."""
        (self.home / "cut-off").unlink()

    def start_worker(self) -> Worker:
        worker = Worker(self.environment, self.home / f"worker{len(self.workers)}.log")
        self.workers.append(worker)
        return worker

    def wait_for_event(self, job: Job, stage: str) -> None:
        """Wait until the last event of the job is of this stage."""
        wait_until(
            lambda: [event.stage for event in self.store.events(job.id, 0)][-1:] == [stage],
            f"stage {stage}",
        )

    def wait_for_state(self, job: Job, state: str, seconds: float = 60) -> Job:
        wait_until(lambda: self.store.get(job.id).state == state, f"state {state}", seconds)
        return self.store.get(job.id)

    def wait_until_ready(self) -> None:
        wait_until(lambda: worker_health(WorkerStore(self.store.database)).ready, "a ready worker")

    def close(self) -> None:
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.kill()
        self.queue.close()
        self.store.database.close()


class RedisServer:
    """A real Redis that can be stopped and started at the same address."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(self._program, "--port", str(self._port), "--bind", "127.0.0.1"),
                *("--dir", str(self._folder), "--save", "", "--appendonly", "no"),
            ],
            stdout=subprocess.DEVNULL,
        )
        wait_until(self._answers, "Redis")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1):
                return True
        except OSError:
            return False


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("redis-server is not installed")
        pytest.skip("redis-server is not installed")
    server = RedisServer(program, tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A home with the embedded broker."""
    house = House(tmp_path / "home", "filesystem://")
    yield house
    house.close()


@pytest.fixture
def redis_house(tmp_path: Path, redis_server: RedisServer) -> Iterator[House]:
    """A home whose broker is Redis."""
    house = House(tmp_path / "home", redis_server.url)
    yield house
    house.close()


@pytest.fixture(
    params=["house", pytest.param("redis_house", marks=[pytest.mark.redis, pytest.mark.rare])],
    ids=["embedded", "redis"],
)
def any_house(request: pytest.FixtureRequest) -> House:
    """One home for each broker."""
    house: House = request.getfixturevalue(request.param)
    return house
