"""The reaper keeps one or two messages for each queued claim, on both brokers."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from threading import Event

import pytest
from redis import Redis

from settings import EMBEDDED_BROKER
from tests.support.waiting import wait_until
from tests.worker.conftest import House, RedisServer
from tests.worker.fake_retriever import open_retriever
from worker import reaper as reaper_module
from worker.heartbeat import Heartbeat
from worker.jobs import Job
from worker.reaper import MOST_SENT_AT_ONCE, Reaper
from worker.retriever import RetrieverSlot
from worker.run_store import RunStore
from worker.upkeep_store import UpkeepStore


def messages(house: House) -> int:
    url = house.settings.broker_url
    if url == EMBEDDED_BROKER:
        return len(list((house.home / "queue" / "messages").glob("*.msg")))
    with Redis.from_url(url) as redis:
        return int(redis.llen("esoteric.claims"))


def lose_messages(house: House) -> None:
    url = house.settings.broker_url
    if url != EMBEDDED_BROKER:
        with Redis.from_url(url) as redis:
            redis.flushdb()
        return
    for message in (house.home / "queue" / "messages").glob("*.msg"):
        message.unlink()


def let_an_hour_pass(house: House, times: int = 1) -> None:
    """Make every queued claim look as if it was submitted and sent an hour ago.

    ``times``: -1 for an hour from now, as if the clock was set back.
    """
    moved = f"{-times} hour"
    with closing(sqlite3.connect(house.home / "esoteric.db", timeout=10)) as database, database:
        database.execute(
            "UPDATE claims SET created_at = datetime(created_at, ?) || '.000000',"
            " dispatched_at = datetime(dispatched_at, ?) || '.000000'",
            (moved, moved),
        )


def submit(house: House, number: int) -> list[Job]:
    return [
        house.queue.submit(f"Kettle {kettle} is made of copper.", "esoteric")
        for kettle in range(number)
    ]


@pytest.fixture
def heartbeat(any_house: House) -> Heartbeat:
    slot = RetrieverSlot(open_retriever, any_house.settings)
    return Heartbeat("by-hand", any_house.store.database, slot, Event())


@pytest.fixture
def reaper(any_house: House, heartbeat: Heartbeat) -> Reaper:
    return Reaper(any_house.store.database, any_house.queue, heartbeat, Event())


def test_claims_that_wait_for_a_busy_worker_get_no_second_message(
    any_house: House, heartbeat: Heartbeat, reaper: Reaper
) -> None:
    first, *_ = submit(any_house, 20)
    run = RunStore(any_house.store.database).start(first.id, "by-hand")
    assert run is not None
    with heartbeat.keeping(run):
        for _ in range(5):
            let_an_hour_pass(any_house)
            reaper.look()
    assert any_house.store.counts()["queued"] == 19
    assert messages(any_house) == 20  # with that of the first, which nobody has read here


def test_lost_messages_are_sent_again_once_and_the_oldest_first(
    any_house: House, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PATIENCE_WHEN_IDLE", "PATIENCE_WHEN_BUSY"):
        monkeypatch.setattr(reaper_module, name, timedelta(minutes=10))
    jobs = submit(any_house, MOST_SENT_AT_ONCE + 5)
    lose_messages(any_house)
    reaper.look()
    assert messages(any_house) == 0  # another worker may have taken them just now
    let_an_hour_pass(any_house)
    reaper.look()
    assert messages(any_house) == MOST_SENT_AT_ONCE
    assert UpkeepStore(any_house.store.database).take_unsent(timedelta(minutes=10), 10) == [
        job.id for job in jobs[-5:]
    ]
    let_an_hour_pass(any_house)
    for _ in range(3):
        reaper.look()
    assert messages(any_house) == MOST_SENT_AT_ONCE + 5


def test_lost_messages_are_sent_again_after_the_clock_was_set_back(
    any_house: House, reaper: Reaper
) -> None:
    submit(any_house, 3)
    lose_messages(any_house)
    let_an_hour_pass(any_house, -1)
    reaper.look()
    assert messages(any_house) == 3


def test_messages_of_cancelled_claims_are_removed_and_the_others_are_sent_again(
    any_house: House, reaper: Reaper
) -> None:
    jobs = submit(any_house, 30)
    for job in jobs[:14]:
        any_house.queue.cancel(job.id)
    let_an_hour_pass(any_house)
    reaper.look()
    assert messages(any_house) == 30  # for 16 claims
    for job in jobs[14:20]:
        any_house.queue.cancel(job.id)
    reaper.look()
    assert messages(any_house) == 10
    for job in jobs[20:]:
        any_house.queue.cancel(job.id)
    reaper.look()
    assert messages(any_house) == 0


@pytest.mark.server
def test_after_300_queued_claims_are_cancelled_a_new_claim_starts_within_seconds(
    any_house: House,
) -> None:
    any_house.hold("texts", "The kettle is full.")
    any_house.start_worker()
    slow = any_house.queue.submit("The kettle is full.", "esoteric")
    any_house.wait_for_event(slow, "texts")
    for job in submit(any_house, 300):
        any_house.store.cancel(job.id)
    any_house.queue.cancel(slow.id)
    began = time.monotonic()
    new = any_house.queue.submit("The kettle is empty.", "esoteric")
    any_house.wait_for_state(new, "done")
    assert time.monotonic() - began < 8


@pytest.mark.redis
def test_a_redis_that_is_away_keeps_no_reaper_from_its_other_work(
    redis_house: House, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper_module, "LEASE_SECONDS", 2.0)
    job = redis_house.queue.submit("The kettle is made of tin.", "esoteric")
    assert RunStore(redis_house.store.database).start(job.id, "lost") is not None
    slot = RetrieverSlot(open_retriever, redis_house.settings)
    heartbeat = Heartbeat("by-hand", redis_house.store.database, slot, Event())
    reaper = Reaper(redis_house.store.database, redis_house.queue, heartbeat, Event())
    redis_server.stop()

    def taken_back() -> bool:
        reaper.look()
        return redis_house.store.get(job.id).state == "queued"

    wait_until(taken_back, "the end of the lease")
    redis_server.start()
    let_an_hour_pass(redis_house)
    reaper.look()
    assert messages(redis_house) == 1
