"""The task of a worker when its database fails, or the server of its index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from retrieval.errors import IndexAway
from retrieval.types import Progress, ProgressListener, Report
from tests.support.waiting import wait_until
from tests.worker.conftest import House
from tests.worker.fake_retriever import STAGES, FakeRetriever, open_retriever
from worker.database import Database, StoreUnavailable
from worker.heartbeat import Heartbeat
from worker.jobs import Job
from worker.retriever import RetrieverSlot
from worker.tasks import ClaimChecker


def test_a_claim_is_checked_once_the_database_can_be_used_again(house: House) -> None:
    stopping, database = Event(), Database(house.settings.database_url)
    slot = RetrieverSlot(open_retriever, house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    database.reach()
    file = take_away(house)
    checking = Thread(target=checker.check, args=[job.id])
    checking.start()
    checking.join(0.3)
    assert checking.is_alive()
    file.with_name("aside").replace(file)
    wait_until(lambda: house.store.get(job.id).state == "done", "the result")
    checking.join()
    database.close()


def test_a_worker_that_stops_does_not_wait_for_the_database(house: House) -> None:
    stopping, database = Event(), Database(house.settings.database_url)
    slot = RetrieverSlot(open_retriever, house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    database.reach()
    take_away(house)
    stopping.set()
    with pytest.raises(StoreUnavailable):
        checker.check(job.id)
    database.close()


def test_a_damaged_database_is_not_waited_for(house: House) -> None:
    stopping, database = Event(), Database(house.settings.database_url)
    slot = RetrieverSlot(open_retriever, house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    (house.home / "esoteric.db").write_bytes(b"not a database at all " * 400)
    said: list[StoreUnavailable] = []

    def check() -> None:
        try:
            checker.check("0")
        except StoreUnavailable as error:
            said.append(error)

    checking = Thread(target=check, daemon=True)
    checking.start()
    checking.join(5)
    stopping.set()
    assert [error.code for error in said] == ["store_damaged"]
    assert "esoteric restore" in said[0].hint
    database.close()


class BreakingRetriever(FakeRetriever):
    """Something breaks once while it reads sentences."""

    def __init__(self, index: Path, break_it: Callable[[], None]) -> None:
        super().__init__(index)
        self._break: Callable[[], None] | None = break_it

    def check(
        self,
        claim: str,
        recipe: str,
        listen: ProgressListener,
        corpora: tuple[str, ...] | None,
    ) -> Report:
        def heard(progress: Progress) -> None:
            if progress.stage == "sentences" and self._break is not None:
                break_it, self._break = self._break, None
                break_it()
            listen(progress)

        return super().check(claim, recipe, heard, corpora)


def check_while_the_database_breaks(house: House, seconds: float) -> Job:
    """Submit and check a claim whose database cannot be used for so long in the middle."""

    def break_it() -> None:
        file = take_away(house)
        Timer(seconds, lambda: file.with_name("aside").replace(file)).start()

    stopping, database = Event(), Database(house.settings.database_url)
    retriever = BreakingRetriever(house.home / "index", break_it)
    slot = RetrieverSlot(lambda _: retriever, house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    checker.check(job.id)
    database.close()
    return house.store.get(job.id)


def test_a_claim_in_work_waits_for_the_database_and_goes_on(house: House) -> None:
    checked = check_while_the_database_breaks(house, seconds=1)
    assert (checked.state, checked.attempts) == ("done", 1)
    stages = [event.stage for event in house.store.events(checked.id, 0)]
    assert stages == ["start", *STAGES]  # the models are loaded first


class AwayRetriever(FakeRetriever):
    """Its index is on a server that is away while the file ``away`` is there."""

    def __init__(self, index: Path) -> None:
        super().__init__(index)
        self._away = index / "away"

    def check(
        self,
        claim: str,
        recipe: str,
        listen: ProgressListener,
        corpora: tuple[str, ...] | None,
    ) -> Report:
        if self._away.exists():
            raise IndexAway("store_unreachable", "The server does not answer.", "Start it.")
        return super().check(claim, recipe, listen, corpora)


def test_a_claim_waits_for_the_server_of_the_index(house: House) -> None:
    stopping, database = Event(), Database(house.settings.database_url)
    index = house.home / "index"
    slot = RetrieverSlot(lambda _: AwayRetriever(index), house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    (index / "away").touch()
    checking = Thread(target=checker.check, args=[job.id])
    checking.start()
    waits = "The server of the index does not answer; the claim waits for it."
    wait_until(
        lambda: waits in [event.message for event in house.store.events(job.id, 0)], "the waiting"
    )
    (index / "away").unlink()
    wait_until(lambda: house.store.get(job.id).state == "done", "the result")
    checking.join()
    database.close()


def take_away(house: House) -> Path:
    """Give the file of the database another name, ``aside``; return its path."""
    house.store.database.close()
    file = house.home / "esoteric.db"
    file.rename(file.with_name("aside"))
    return file
