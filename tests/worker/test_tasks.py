"""The task of a worker when its database fails, or the server of its index."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from retrieval.errors import IndexAway
from retrieval.types import ProgressListener, Report
from tests.worker.conftest import House, wait_until
from tests.worker.fake_retriever import FakeRetriever, open_retriever
from worker.database import Database, StoreUnavailable
from worker.heartbeat import Heartbeat
from worker.retriever import RetrieverSlot
from worker.tasks import ClaimChecker


def test_a_claim_is_checked_once_the_database_can_be_used_again(house: House) -> None:
    stopping, database = Event(), Database(house.settings.database_url)
    slot = RetrieverSlot(open_retriever, house.settings)
    checker = ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    file = damage(house)
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
    damage(house)
    stopping.set()
    with pytest.raises(StoreUnavailable):
        checker.check(job.id)
    database.close()


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


def damage(house: House) -> Path:
    """Put another file in the place of the database, which is ``aside``; return its path."""
    house.store.database.close()
    file = house.home / "esoteric.db"
    file.rename(file.with_name("aside"))
    file.write_bytes(b"not a database at all " * 400)
    return file
