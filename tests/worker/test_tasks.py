"""The task of a worker when its database fails, or the server of its index."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from retrieval.errors import IndexAway
from tests.support.waiting import wait_until
from tests.worker.conftest import House
from tests.worker.fake_retriever import STAGES, FakeRetriever, open_retriever
from worker.database import Database, StoreUnavailable
from worker.heartbeat import Heartbeat
from worker.retriever import RetrieverSlot
from worker.tasks import ClaimChecker


@pytest.fixture
def stopping() -> Event:
    return Event()


def checker_of(
    house: House, stopping: Event, retriever: FakeRetriever | None = None
) -> ClaimChecker:
    """Return the task of a worker with its own connections to the database of the house."""
    database = Database(house.settings.database_url)
    made = retriever or open_retriever(house.settings)
    slot = RetrieverSlot(lambda _: made, house.settings)
    return ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)


def test_one_message_lets_a_worker_check_all_that_waits(house: House, stopping: Event) -> None:
    jobs = [house.store.submit(f"Tea {number} is a drink.", "esoteric")[0] for number in range(3)]
    checker_of(house, stopping).check(jobs[2].id)
    assert [house.store.get(job.id).state for job in jobs] == ["done"] * 3


def test_a_message_of_another_database_is_said(
    house: House, stopping: Event, caplog: pytest.LogCaptureFixture
) -> None:
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    checker_of(house, stopping).check("0" * 32)
    assert "ESOTERIC_DATABASE_URL" not in caplog.text  # what waits here was checked
    for named in (job.id, ""):
        checker_of(house, stopping).check(named)
    assert "ESOTERIC_DATABASE_URL" not in caplog.text
    checker_of(house, stopping).check("0" * 32)
    assert "set the same ESOTERIC_DATABASE_URL" in caplog.text


def test_a_claim_is_checked_once_the_database_can_be_used_again(
    house: House, stopping: Event
) -> None:
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    checker = checker_of(house, stopping)
    checker._runs.state(job.id)  # the file is open
    file = take_away(house)
    checking = Thread(target=checker.check, args=[job.id], daemon=True)
    checking.start()
    checking.join(0.3)
    assert checking.is_alive()
    file.with_name("aside").replace(file)
    wait_until(lambda: house.store.get(job.id).state == "done", "the result")
    checking.join()


def test_a_worker_that_stops_does_not_wait_for_the_database(house: House, stopping: Event) -> None:
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    checker = checker_of(house, stopping)
    checker._runs.state(job.id)
    take_away(house)
    Timer(0.3, stopping.set).start()
    with pytest.raises(StoreUnavailable):
        checker.check(job.id)


def test_a_damaged_database_is_not_waited_for(house: House, stopping: Event) -> None:
    (house.home / "esoteric.db").write_bytes(b"not a database at all " * 400)
    Timer(5, stopping.set).start()
    with pytest.raises(StoreUnavailable, match="esoteric restore") as caught:
        checker_of(house, stopping).check("0")
    assert caught.value.code == "store_damaged"
    assert not stopping.is_set()


def test_a_claim_in_work_waits_for_the_database_and_goes_on(house: House, stopping: Event) -> None:
    retriever = FakeRetriever(house.home / "index")

    def break_it() -> None:
        retriever.before.clear()
        file = take_away(house)
        Timer(1, lambda: file.with_name("aside").replace(file)).start()

    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    retriever.before["sentences"] = break_it
    checker_of(house, stopping, retriever).check(job.id)
    checked = house.store.get(job.id)
    assert (checked.state, checked.attempts) == ("done", 1)
    stages = [event.stage for event in house.store.events(checked.id, 0)]
    assert stages == ["start", *STAGES]  # the models are loaded first


def test_a_claim_waits_for_the_server_of_the_index(house: House, stopping: Event) -> None:
    retriever, away = FakeRetriever(house.home / "index"), Event()

    def ask() -> None:
        if away.is_set():
            raise IndexAway("store_unreachable", "The server does not answer.", "Start it.")

    retriever.before["start"] = ask
    away.set()
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    checker = checker_of(house, stopping, retriever)
    checking = Thread(target=checker.check, args=[job.id], daemon=True)
    checking.start()
    waits = "The server of the index does not answer; the claim waits for it."
    wait_until(
        lambda: waits in [event.message for event in house.store.events(job.id, 0)], "the waiting"
    )
    away.clear()
    wait_until(lambda: house.store.get(job.id).state == "done", "the result")
    checking.join()


def take_away(house: House) -> Path:
    """Give the file of the database another name, ``aside``; return its path."""
    house.store.database.close()
    file = house.home / "esoteric.db"
    file.rename(file.with_name("aside"))
    return file
