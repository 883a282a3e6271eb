"""Submitting claims, also without a broker."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis

from retrieval.errors import InvalidClaim, UnknownRecipe
from settings import Settings
from tests.worker.conftest import House, RedisServer
from worker.broker import BrokerUnavailable, reach_broker


def messages(house: House) -> list[Path]:
    return list((house.home / "queue" / "messages").glob("*"))


def test_a_claim_is_kept_and_a_message_names_it(house: House) -> None:
    job = house.queue.submit("  Tea is   a drink. ", "esoteric")
    assert (job.claim, job.recipe, job.state) == ("Tea is a drink.", "esoteric", "queued")
    sent = messages(house)  # one before it is stored, and one that names it
    assert [job.id in message.read_text() for message in sorted(sent)] == [False, True]
    assert not any("Tea" in message.read_text() for message in sent)
    assert house.queue.submit("Tea is a drink.", "esoteric").id == job.id
    assert messages(house) == sent


def test_a_text_that_cannot_be_checked_is_refused_and_not_stored(house: House) -> None:
    with pytest.raises(InvalidClaim):
        house.queue.submit("   ", "esoteric")
    with pytest.raises(UnknownRecipe):
        house.queue.submit("Tea is a drink.", "no such recipe")
    assert house.store.recent(10) == []


def test_an_embedded_queue_that_cannot_be_written_refuses_the_claim(house: House) -> None:
    (house.home / "queue").write_text("in the way")
    with pytest.raises(BrokerUnavailable, match="ESOTERIC_HOME") as caught:
        house.queue.submit("Tea is a drink.", "esoteric")
    assert str(house.home / "queue") in caught.value.message
    assert "New claims are refused" in caught.value.message
    assert house.store.recent(10) == []


def test_a_claim_that_was_accepted_stays_while_the_queue_cannot_be_written(house: House) -> None:
    job = house.queue.submit("Tea is a drink.", "esoteric")
    (house.home / "queue").rename(house.home / "moved")
    (house.home / "queue").write_text("in the way")
    assert house.queue.submit("Tea is a drink.", "esoteric").id == job.id
    assert house.store.counts()["queued"] == 1


@pytest.mark.redis
def test_a_password_is_not_shown(redis_server: RedisServer, tmp_path: Path) -> None:
    url = redis_server.url.replace("//", "//user:hush@")
    settings = Settings.from_environment(
        {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_BROKER_URL": url}
    )
    with pytest.raises(BrokerUnavailable) as caught:
        reach_broker(settings)
    assert "hush" not in str(caught.value)
    assert "redis://user:**@127.0.0.1" in caught.value.message


@pytest.mark.redis
def test_a_redis_that_hangs_or_ends_is_given_up_after_seconds_and_keeps_no_claim(
    redis_house: House, redis_server: RedisServer
) -> None:
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
def test_a_redis_that_runs_out_of_memory_refuses_claims_of_many_threads_and_keeps_none(
    redis_house: House, redis_server: RedisServer
) -> None:
    redis, until = Redis.from_url(redis_server.url), time.monotonic() + 4
    accepted, refused, others = set[str](), set[str](), list[Exception]()

    def submit(thread: int) -> None:
        for number in count():
            if time.monotonic() > until:
                return
            claim = f"Tea {thread} of {number} is a drink."
            try:
                redis_house.queue.submit(claim, "esoteric")
                accepted.add(claim)
            except BrokerUnavailable as error:
                refused.add(error.message.partition(". ")[0])
            except Exception as error:
                others.append(error)

    threads = [Thread(target=submit, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        for most in ("1", "0"):
            redis.config_set("maxmemory", most)
            time.sleep(0.2)
    for thread in threads:
        thread.join()
    assert others == []
    assert f"The queue at {redis_server.url} is out of memory" in refused
    assert {listed.claim for listed in redis_house.store.recent(100_000)} == accepted
