"""A database on a PostgreSQL server: what differs from a file, and when the server is away."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event, Timer

import pytest
from sqlalchemy import create_engine, make_url, text

from retrieval.types import ProgressListener, Report
from settings import CHECKOUT
from tests.worker.conftest import House, Worker, wait_until
from tests.worker.fake_retriever import FakeRetriever
from worker.database import Database, StoreUnavailable
from worker.heartbeat import Heartbeat
from worker.job_store import ClaimFilter, JobStore
from worker.retriever import RetrieverSlot
from worker.tasks import ClaimChecker
from worker.worker_store import WorkerStore


@pytest.fixture
def store(on_postgresql: str) -> Iterator[JobStore]:
    store = JobStore(Database(on_postgresql))
    yield store
    store.database.close()


def set_away(url: str, away: bool) -> None:
    """Let the server end and refuse every connection to the database, or take new ones."""
    engine = create_engine(make_url(url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    name = make_url(url).database
    with engine.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {not away}"))
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"
        connection.execute(text(ended), {"name": name})
    engine.dispose()


def test_its_texts_have_no_nul_and_connections_that_were_cut_are_made_again(
    store: JobStore, on_postgresql: str
) -> None:
    assert store.listed(ClaimFilter("\0"), 10) == ([], 0)
    job, _ = store.submit("Tea\0 is a drink.", "esoteric")
    set_away(on_postgresql, False)
    assert store.get(job.id).claim == "Tea\ufffd is a drink."
    with pytest.raises(StoreUnavailable) as caught:
        Database("postgresql+psycopg://anna:secret@127.0.0.1:1/claims").reach()
    assert "refused" in caught.value.message
    assert "\n" not in caught.value.message
    assert "secret" not in str(caught.value)


def test_it_says_that_a_change_may_be_stored_if_the_server_ends_amid_its_commit(
    store: JobStore, on_postgresql: str
) -> None:
    job, _ = store.submit("Tea is a drink.", "esoteric")

    def delete(away_before: bool) -> str:
        try:
            with store.database.writing() as session:
                session.execute(text("SELECT 1"))
                if away_before:
                    set_away(on_postgresql, True)
                session.execute(text("DELETE FROM claims"))
                set_away(on_postgresql, True)
        except StoreUnavailable as error:
            return error.message
        finally:
            set_away(on_postgresql, False)
        return ""

    assert "not known whether the last change was stored" in delete(away_before=False)
    before = delete(away_before=True)
    assert before
    assert "not known" not in before
    assert store.get(job.id).claim == "Tea is a drink."


class Interrupted(FakeRetriever):
    """While it checks, the server of the database is away for a moment; twice."""

    url = ""

    def check(
        self, claim: str, recipe: str, listen: ProgressListener, corpora: tuple[str, ...] | None
    ) -> Report:
        self.before["ranking"] = self._interrupt
        report = super().check(claim, recipe, listen, corpora)
        self._interrupt()
        return report

    def _interrupt(self) -> None:
        set_away(self.url, True)
        Timer(0.5, set_away, [self.url, False]).start()


@pytest.mark.rare
def test_a_check_goes_on_and_its_result_is_kept_when_the_server_is_away_for_a_moment(
    store: JobStore, on_postgresql: str, house: House
) -> None:
    retriever = Interrupted(house.settings.store)
    retriever.url = on_postgresql
    stopping, database = Event(), Database(on_postgresql)
    slot = RetrieverSlot(lambda _: retriever, house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    job, _ = store.submit("Tea is a drink.", "esoteric")
    checker.check(job.id)
    done = store.get(job.id)
    assert (done.state, done.attempts) == ("done", 1)
    stages = [event.stage for event in store.events(job.id, 0)]
    assert stages.count("ranking") == 1
    database.close()


@pytest.mark.rare
def test_a_worker_that_starts_before_its_database_waits_for_it(
    store: JobStore, on_postgresql: str, tmp_path: Path
) -> None:
    set_away(on_postgresql, True)
    environment = {**os.environ, "ESOTERIC_DATABASE_URL": on_postgresql}
    worker = Worker({**environment, "ESOTERIC_HOME": str(tmp_path)}, tmp_path / "worker.log")
    try:
        wait_until(lambda: "waits for its database" in worker.log.read_text(), "its word")
        set_away(on_postgresql, False)
        workers = WorkerStore(store.database)
        wait_until(lambda: bool(workers.alive(timedelta(minutes=1))), "a heartbeat")
    finally:
        worker.kill()


@pytest.mark.rare
def test_two_workers_never_wait_for_each_others_turns(store: JobStore, on_postgresql: str) -> None:
    """Each client is the owner of the other's claims, so both lock the same two turns.

    The processes have sets of texts in two orders.
    """
    for number in range(100):
        who = ("A", "B") if number % 2 else ("B", "A")
        store.submit(f"Claim {number}.", "esoteric", who[0], client=who[1])
    program = (
        "import sys; from worker.database import Database; from worker.run_store import RunStore;"
        " runs = RunStore(Database(sys.argv[1])); started = 0; runs.state(''); print(flush=True);"
        " sys.stdin.readline()\n"
        "while runs.start_next('a worker') is not None: started += 1\n"
        "print(started)"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, on_postgresql],
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "3")
    ]
    for worker in workers:
        worker.stdout.readline()
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    assert sum(int(worker.communicate(timeout=60)[0]) for worker in workers) == 100
    assert [worker.returncode for worker in workers] == [0, 0]
