"""Workers are woken whatever happened to messages, and messages that nobody needs are removed."""

from __future__ import annotations

import time
from threading import Event

import pytest
from redis import Redis

from settings import EMBEDDED_BROKER
from tests.support.waiting import wait_until
from tests.worker.conftest import House, RedisServer
from worker import reaper as reaper_module
from worker.feeder import Feeder
from worker.jobs import Job
from worker.reaper import Reaper
from worker.run_store import RunStore


def messages(house: House) -> int:
    url = house.settings.broker_url
    if url == EMBEDDED_BROKER:
        return len(list((house.home / "queue" / "messages").glob("*.msg")))
    with Redis.from_url(url) as redis:
        return int(redis.llen("esoteric.claims"))


def submit(house: House, number: int) -> list[Job]:
    return [
        house.queue.submit(f"Kettle {kettle} is made of copper.", "esoteric")
        for kettle in range(number)
    ]


def feeder(house: House, idle: bool) -> Feeder:
    return Feeder(house.store.database, house.queue, Event(), lambda: idle)


def test_an_idle_worker_is_woken_while_a_claim_waits_although_its_message_was_lost(
    any_house: House,
) -> None:
    (job,) = submit(any_house, 1)
    any_house.queue.empty()
    feeder(any_house, idle=True).look()
    assert messages(any_house) == 1
    any_house.queue.empty()
    any_house.store.cancel(job.id)
    feeder(any_house, idle=True).look()
    assert messages(any_house) == 0


def test_a_busy_worker_removes_messages_as_it_looks_for_the_next_claim_itself(
    any_house: House,
) -> None:
    submit(any_house, 20)
    assert messages(any_house) == 40
    feeder(any_house, idle=False).look()
    assert messages(any_house) == 0
    assert any_house.store.counts()["queued"] == 20


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


def test_the_claim_of_a_lost_worker_is_queued_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper_module, "LEASE_SECONDS", 1.0)
    (job,) = submit(house, 1)
    assert RunStore(house.store.database).start(job.id, "lost") is not None
    reaper = Reaper(house.store.database, Event())

    def taken_back() -> bool:
        reaper.look()
        return house.store.get(job.id).state == "queued"

    wait_until(taken_back, "the end of the lease")


@pytest.mark.redis
def test_a_redis_that_is_away_is_said_once_and_waited_for(
    redis_house: House, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    submit(redis_house, 1)
    feeding = feeder(redis_house, idle=True)
    redis_server.stop()
    for _ in range(2):
        feeding.look()
    assert caplog.text.count("does not answer") == 1
    redis_server.start()
    feeding.look()
    assert messages(redis_house) == 1
