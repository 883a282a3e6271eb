"""Submitting claims, the messages that wake workers, and brokers that are away."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path
from threading import Event

import pytest
from celery import Celery
from redis import Redis

from retrieval.errors import InvalidClaim, UnknownRecipe
from settings import EMBEDDED_BROKER, Settings
from tests.support.waiting import wait_until
from tests.worker.conftest import House, RedisServer, at_once
from worker import reaper as reaper_module
from worker.broker import QUEUE, BrokerUnavailable, make_celery, reach_broker
from worker.feeder import Feeder
from worker.jobs import Job
from worker.reaper import Reaper
from worker.run_store import RunStore


def messages(house: House) -> list[Path]:
    return list((house.home / "queue" / "messages").glob("*.msg"))


def submit(house: House, number: int) -> list[Job]:
    return [
        house.queue.submit(f"Kettle {kettle} is made of copper.", "esoteric")
        for kettle in range(number)
    ]


def test_a_claim_is_kept_and_a_message_names_it(house: House) -> None:
    job = house.queue.submit("  Tea is   a drink. ", "esoteric")
    assert (job.claim, job.recipe, job.state) == ("Tea is a drink.", "esoteric", "queued")
    sent = messages(house)  # one before it is stored, and one that names it
    assert [job.id in message.read_text() for message in sorted(sent)] == [False, True]
    assert not any("Tea" in message.read_text() for message in sent)
    assert house.queue.submit("Tea is a drink.", "esoteric").id == job.id
    assert messages(house) == sent
    with pytest.raises(InvalidClaim):
        house.queue.submit("   ", "esoteric")
    with pytest.raises(UnknownRecipe):
        house.queue.submit("Tea is a drink.", "no such recipe")
    assert len(house.store.recent(10)) == 1


def test_a_queue_that_cannot_be_written_refuses_new_claims_alone(house: House) -> None:
    job = house.queue.submit("Tea is a drink.", "esoteric")
    (house.home / "queue").rename(house.home / "moved")
    (house.home / "queue").write_text("in the way")
    assert house.queue.submit("Tea is a drink.", "esoteric").id == job.id
    with pytest.raises(BrokerUnavailable, match="ESOTERIC_HOME") as caught:
        house.queue.submit("Coffee is a drink.", "esoteric")
    assert str(house.home / "queue") in caught.value.message
    assert "New claims are refused" in caught.value.message
    assert [listed.id for listed in house.store.recent(10)] == [job.id]


@pytest.mark.redis
def test_a_redis_that_hangs_or_ends_is_given_up_after_seconds_and_keeps_no_claim(
    redis_house: House, redis_server: RedisServer, tmp_path: Path
) -> None:
    url = redis_server.url.replace("//", "//user:hush@")
    wrong = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_BROKER_URL": url}
    with pytest.raises(BrokerUnavailable) as caught:
        reach_broker(Settings.from_environment(wrong))
    assert "hush" not in str(caught.value)
    assert "redis://user:**@127.0.0.1" in caught.value.message
    redis_house.queue.submit("Tea is a drink.", "esoteric")
    for end, begin_again in (
        (redis_server.freeze, redis_server.thaw),
        (redis_server.stop, redis_server.start),
    ):
        end()
        asked = time.monotonic()
        with pytest.raises(BrokerUnavailable) as caught:
            redis_house.queue.submit("Coffee is a drink.", "esoteric")
        assert time.monotonic() - asked < 15
        assert redis_server.url in caught.value.message
        assert len(redis_house.store.recent(10)) == 1
        begin_again()
    # The connection that died unnoticed does not fail a submission.
    assert redis_house.queue.submit("Coffee is a drink.", "esoteric").state == "queued"


@pytest.mark.redis
@pytest.mark.rare
def test_a_redis_that_runs_out_of_memory_refuses_claims_of_many_threads_and_keeps_none(
    redis_house: House, redis_server: RedisServer
) -> None:
    redis, until = Redis.from_url(redis_server.url), time.monotonic() + 4
    accepted, refused = set[str](), set[str]()

    def act(thread: int) -> None:
        while thread == 0 and time.monotonic() < until:
            for most in ("1", "0"):
                redis.config_set("maxmemory", most)
                time.sleep(0.2)
        for number in takewhile(lambda _: time.monotonic() < until, count()):
            claim = f"Tea {thread} of {number} is a drink."
            try:
                redis_house.queue.submit(claim, "esoteric")
                accepted.add(claim)
            except BrokerUnavailable as error:
                refused.add(error.message.partition(". ")[0])

    at_once(7, act)  # no other error ends a thread
    assert f"The queue at {redis_server.url} is out of memory" in refused
    assert {listed.claim for listed in redis_house.store.recent(100_000)} == accepted


def how_many(house: House) -> int:
    """Return how many messages wait with either broker."""
    url = house.settings.broker_url
    if url == EMBEDDED_BROKER:
        return len(messages(house))
    with Redis.from_url(url) as redis:
        return int(redis.llen("esoteric.claims"))


def feeder(house: House, idle: bool) -> Feeder:
    return Feeder(house.store.database, house.queue, Event(), lambda: idle)


def test_an_idle_worker_is_woken_and_a_busy_one_is_not(any_house: House) -> None:
    (job,) = submit(any_house, 1)
    any_house.queue.empty()  # as if the message was lost
    feeder(any_house, idle=True).look()
    assert how_many(any_house) == 1
    any_house.queue.empty()
    any_house.store.cancel(job.id)
    feeder(any_house, idle=True).look()
    assert how_many(any_house) == 0
    submit(any_house, 20)
    assert how_many(any_house) == 40
    feeder(any_house, idle=False).look()  # it looks for the next claim itself
    assert how_many(any_house) == 0
    assert any_house.store.counts()["queued"] == 20


def test_a_claim_whose_worker_is_lost_is_queued_again_and_fails_when_that_is_lost_too(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper_module, "LEASE_SECONDS", 0.5)
    (job,) = submit(house, 1)
    reaper = Reaper(house.store.database, Event())
    for attempt, then in enumerate(("queued", "failed"), 1):
        run = RunStore(house.store.database).start(job.id, "lost")
        assert run.attempt == attempt

        def looked(state: str = then) -> bool:
            reaper.look()
            return house.store.get(job.id).state == state

        wait_until(looked, f"the end of lease {attempt}")
    failed = house.store.get(job.id)
    assert (failed.attempts, failed.result, failed.error.code) == (2, None, "worker_lost")
    assert failed.error.hint


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
    assert how_many(redis_house) == 1


@pytest.fixture
def celery(tmp_path: Path) -> Iterator[Celery]:
    celery = make_celery(Settings.from_environment({"ESOTERIC_HOME": str(tmp_path / "home")}))
    yield celery
    celery.pool.force_close_all()


def send(celery: Celery, job_id: str) -> None:
    celery.send_task("check_claim", args=[job_id])


def take(celery: Celery) -> list[str]:
    """Take all messages, and return their ids."""
    ids = []
    with celery.connection_for_read() as connection:
        while message := connection.default_channel.basic_get(QUEUE, no_ack=True):
            ids.append(message.payload[0][0])
    return ids


def test_messages_are_private_and_absent_or_complete(celery: Celery, tmp_path: Path) -> None:
    before, queue = os.umask(0), tmp_path / "home" / "queue"
    try:
        send(celery, "torn")
    finally:
        os.umask(before)
    for folder in (tmp_path / "home", *queue.iterdir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (torn,) = (queue / "messages").iterdir()
    assert torn.name.endswith(f".{QUEUE}.msg")
    assert list(queue.rglob("*.partial")) == []
    torn.write_bytes(torn.read_bytes()[:100] + b"\xff")
    for number in range(20):
        send(celery, f"id{number}")
    # The damaged one is dropped, the others come once and oldest first.
    assert take(celery) == [f"id{number}" for number in range(20)]
    assert take(celery) == []
