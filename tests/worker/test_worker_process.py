"""A worker: its task while a database or index is away, and its real process with each broker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread, Timer

import pytest
from redis import Redis

from retrieval.errors import IndexAway, Problem
from settings import EMBEDDED_BROKER
from tests.ops.up_process import family
from tests.support.waiting import wait_until
from tests.worker.conftest import House, RedisServer
from tests.worker.fake_retriever import BUILT_AT, STAGES, FakeRetriever, open_retriever
from worker.broker import BrokerUnavailable
from worker.database import Database, StoreUnavailable
from worker.health import WorkerHealth, worker_health
from worker.heartbeat import Heartbeat
from worker.jobs import Job
from worker.reports import SearchedCorpus
from worker.retriever import RetrieverSlot
from worker.tasks import ClaimChecker
from worker.worker_store import WorkerStore


def checker_of(
    house: House, stopping: Event, retriever: FakeRetriever | None = None
) -> ClaimChecker:
    """Return the task of a worker with its own connections to the database of the house."""
    database = Database(house.settings.database_url)
    made = retriever or open_retriever(house.settings)
    slot = RetrieverSlot(lambda _: made, house.settings)
    return ClaimChecker(database, slot, Heartbeat("one", database, slot, stopping), stopping)


def test_one_message_lets_a_worker_check_all_that_waits_and_one_of_elsewhere_is_said(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = [house.store.submit(f"Tea {number} is a drink.", "esoteric")[0] for number in range(3)]
    checker_of(house, Event()).check("0" * 32)
    assert [house.store.get(job.id).state for job in jobs] == ["done"] * 3
    assert "ESOTERIC_DATABASE_URL" not in caplog.text  # what waits here was checked
    for named in (jobs[0].id, ""):
        checker_of(house, Event()).check(named)
    assert "ESOTERIC_DATABASE_URL" not in caplog.text
    checker_of(house, Event()).check("0" * 32)
    assert "set the same ESOTERIC_DATABASE_URL" in caplog.text


def test_a_claim_waits_for_the_database_unless_the_worker_stops(house: House) -> None:
    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    stopping = Event()
    stopped, checker = checker_of(house, stopping), checker_of(house, Event())
    for one in (stopped, checker):
        one._runs.state(job.id)  # the file is open
    file = take_away(house)
    Timer(0.3, stopping.set).start()
    with pytest.raises(StoreUnavailable):
        stopped.check(job.id)
    checking = Thread(target=checker.check, args=[job.id], daemon=True)
    checking.start()
    checking.join(0.3)
    assert checking.is_alive()
    file.with_name("aside").replace(file)
    wait_until(lambda: house.store.get(job.id).state == "done", "the result")
    checking.join()


def test_a_damaged_database_is_not_waited_for(house: House) -> None:
    (house.home / "esoteric.db").write_bytes(b"not a database at all " * 400)
    stopping = Event()
    Timer(5, stopping.set).start()
    with pytest.raises(StoreUnavailable, match="esoteric restore") as caught:
        checker_of(house, stopping).check("0")
    assert caught.value.code == "store_damaged"
    assert not stopping.is_set()


def test_a_claim_in_work_waits_for_the_database_and_the_server_of_the_index(house: House) -> None:
    retriever = FakeRetriever(house.home / "index")

    def no_server() -> None:
        retriever.before.pop("start")
        raise IndexAway("store_unreachable", "The server does not answer.", "Start it.")

    def no_database() -> None:
        retriever.before.clear()
        file = take_away(house)
        Timer(1, lambda: file.with_name("aside").replace(file)).start()

    job, _ = house.store.submit("Tea is a drink.", "esoteric")
    retriever.before |= {"start": no_server, "sentences": no_database}
    checker_of(house, Event(), retriever).check(job.id)
    checked = house.store.get(job.id)
    assert (checked.state, checked.attempts) == ("done", 1)
    events = house.store.events(checked.id, 0)
    assert "The server of the index does not answer; the claim waits for it." in [
        event.message for event in events
    ]
    assert [event.stage for event in events][-len(STAGES) :] == list(STAGES)


def take_away(house: House) -> Path:
    """Give the file of the database another name, ``aside``; return its path."""
    house.store.database.close()
    file = house.home / "esoteric.db"
    file.rename(file.with_name("aside"))
    return file


def stages(house: House, job: Job) -> list[str]:
    events = house.store.events(job.id, 0)
    assert [event.n for event in events] == list(range(1, len(events) + 1))
    return [event.stage for event in events]


def all_logs(house: House) -> str:
    return "".join(worker.log.read_text() for worker in house.workers)


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A home with one worker for all tests that leave it as they found it."""
    house = House(tmp_path_factory.mktemp("working"), EMBEDDED_BROKER)
    house.start_worker()
    house.wait_until_ready()
    yield house
    house.close()


def health_of(house: House) -> WorkerHealth:
    return worker_health(WorkerStore(house.store.database))


@pytest.mark.server
def test_a_claim_goes_through_every_stage_or_back_into_the_queue(any_house: House) -> None:
    found = health_of(any_house)
    assert (found.ready, found.problem.code) == (False, "no_worker")
    worker = any_house.start_worker()
    any_house.wait_until_ready()
    assert health_of(any_house).workers == 1
    job = any_house.queue.submit("The kettle is made of copper.", "esoteric")
    done = any_house.wait_for_state(job, "done")
    assert stages(any_house, job) == list(STAGES)
    assert done.attempts == 1
    assert done.result.verdict.rationale == "Almanac says: The kettle is made of copper."
    assert done.result.claim == done.claim

    claim = "The kettle takes its time."
    any_house.hold("questions", claim)
    job = any_house.queue.submit(claim, "esoteric")
    any_house.wait_for_event(job, "questions")
    assert worker.stop() < 10
    assert worker.process.returncode == 0
    queued = any_house.store.get(job.id)
    assert (queued.state, queued.attempts) == ("queued", 0)
    assert (health_of(any_house).ready, health_of(any_house).workers) == (False, 0)
    any_house.let_go()
    idle = any_house.start_worker()
    assert any_house.wait_for_state(job, "done").attempts == 1
    assert stages(any_house, job)[-len(STAGES) - 1 :] == ["start", *STAGES]
    assert idle.stop() < 10


@pytest.mark.server
def test_a_worker_killed_in_any_stage_loses_and_doubles_no_claim(any_house: House) -> None:
    any_house.environment["LEASE_SECONDS"] = "4"
    jobs = []
    # The worker does the same in all stages between the first and the last.
    for stage in (STAGES[0], "ranking", STAGES[-1]):
        claim = f"A kettle boils in the stage {stage}."
        any_house.hold(stage, claim)
        worker = any_house.start_worker()
        job = any_house.queue.submit(claim, "esoteric")
        any_house.wait_for_event(job, stage)
        worker.kill()
        assert any_house.store.get(job.id).state == "running"
        jobs.append(job)
    any_house.let_go()
    any_house.start_worker()
    for job in jobs:
        done = any_house.wait_for_state(job, "done")
        assert done.attempts == 2
        assert done.result is not None
        assert done.result.verdict.rationale == f"Almanac says: {done.claim}"
        seen = stages(any_house, job)
        again = len(seen) - len(STAGES)
        assert seen[again:] == list(STAGES)
        assert seen[again - 1] == "start"
        assert "starts again" in any_house.store.events(job.id, again - 1)[0].message
    # A worker stores the result first and writes the line after it.
    wait_until(
        lambda: all(f"Claim {job.id} is done" in all_logs(any_house) for job in jobs),
        "a line for each claim",
    )
    logs = all_logs(any_house)
    assert [logs.count(f"Claim {job.id} is done") for job in jobs] == [1] * len(jobs)


@pytest.mark.server
@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        ("no thread runs", 3),
        pytest.param("one thread waits", 6, marks=pytest.mark.rare),
        pytest.param("amid a write", 3, marks=pytest.mark.rare),
    ],
)
def test_a_check_that_hangs_is_ended_and_says_so_but_not_a_slow_one_that_reports_progress(
    house: House, how: str, seconds: int
) -> None:
    house.environment["ESOTERIC_STALL_SECONDS"] = str(seconds)
    worker = house.start_worker()
    if how == "no thread runs":
        house.hold("relevance", "The kettle is slow.")
        slow = house.queue.submit("The kettle is slow.", "esoteric")
        house.wait_for_event(slow, "relevance")
        time.sleep(seconds + 1)
        house.let_go()
        assert house.wait_for_state(slow, "done").attempts == 1
    claim = f"The kettle hangs and {how}."
    house.hang("relevance", claim)
    house.wait_until_ready()
    began = time.monotonic()  # a moment before the check hangs
    job = house.queue.submit(claim, "esoteric")
    other = house.queue.submit("The kettle is made of copper.", "esoteric")
    house.wait_for_event(job, "relevance")
    if how == "one thread waits":
        wait_until(lambda: health_of(house).problem is not None, "a word that it hangs")
        assert health_of(house).problem.code == "check_hangs"
        assert house.store.get(job.id).state == "running"
    failed = house.wait_for_state(job, "failed")
    assert seconds - 1 < time.monotonic() - began < seconds + 20
    assert failed.error.code == "check_stalled"
    assert failed.error.message == (
        f"The check made no progress for {seconds} seconds, so it was ended."
    )
    assert house.wait_for_state(other, "done").attempts == 1
    house.wait_until_ready()
    assert health_of(house).workers == 1
    assert worker.process.poll() is None
    assert "fake_retriever.py" in worker.log.read_text()  # where it hung
    worker.stop()
    assert worker.process.returncode == 0


@pytest.mark.server
def test_a_worker_and_the_process_that_keeps_it_end_together(house: House) -> None:
    worker = house.start_worker()
    house.wait_until_ready()
    worker.process.kill()
    worker.process.wait()
    wait_until(lambda: health_of(house).workers == 0, "its end")
    worker = house.start_worker()
    house.wait_until_ready()
    _, child = family(worker.process.pid)
    os.kill(child, signal.SIGKILL)
    assert worker.process.wait(20) == -signal.SIGKILL


@pytest.mark.server
@pytest.mark.redis
def test_claims_whose_messages_redis_lost_are_checked_and_refused_ones_are_not(
    redis_house: House, redis_server: RedisServer
) -> None:
    redis_house.start_worker()
    redis_house.hold("texts", "Warm up.")
    first = redis_house.queue.submit("Warm up.", "esoteric")
    redis_house.wait_for_event(first, "texts")
    job = redis_house.queue.submit("The kettle is made of copper.", "esoteric")
    redis_server.stop()
    with pytest.raises(BrokerUnavailable):
        redis_house.queue.submit("The kettle is made of tin.", "esoteric")
    redis_house.let_go()
    redis_server.start()
    assert redis_house.wait_for_state(job, "done").attempts == 1
    assert redis_house.store.get(first.id).attempts == 1  # it was running when Redis stopped
    assert {listed.id for listed in redis_house.store.recent(10)} == {first.id, job.id}


@pytest.mark.server
@pytest.mark.redis
@pytest.mark.rare
def test_workers_outlive_a_redis_without_memory(
    redis_house: House, redis_server: RedisServer
) -> None:
    redis = Redis.from_url(redis_server.url)
    redis_house.hold("texts", "Warm up.")
    worker = redis_house.start_worker()
    first = redis_house.queue.submit("Warm up.", "esoteric")
    redis_house.wait_for_event(first, "texts")
    redis.config_set("maxmemory", "1")
    redis_house.let_go()
    redis_house.wait_for_state(first, "done")
    wait_until(lambda: "OutOfMemory" in worker.log.read_text(), "a refused command")
    redis.config_set("maxmemory", "0")
    job = redis_house.queue.submit("The kettle is made of copper.", "esoteric")
    assert redis_house.wait_for_state(job, "done").attempts == 1
    assert worker.process.poll() is None


@pytest.mark.server
@pytest.mark.parametrize("how", ["cancelled", "deleted"])
def test_a_claim_that_is_cancelled_or_deleted_stops_within_seconds_and_the_next_is_checked(
    working: House, how: str
) -> None:
    claim = f"The kettle never boils and is {how}."
    working.hold("relevance", claim)
    job = working.queue.submit(claim, "esoteric")
    working.wait_for_event(job, "relevance")
    asked = time.monotonic()
    if how == "cancelled":
        assert working.queue.cancel(job.id).state == "cancelled"
    else:
        working.store.delete(job.id)
    wait_until(lambda: f"Claim {job.id} was {how}" in all_logs(working), "the stop")
    assert time.monotonic() - asked < 5
    working.let_go()
    events = len(working.store.events(job.id, 0))
    other = working.queue.submit(f"The kettle boils when it is {how}.", "esoteric")
    working.wait_for_state(other, "done")
    assert len(working.store.events(job.id, 0)) == events
    if how == "cancelled":
        assert working.store.get(job.id).state == "cancelled"
    else:
        assert events == 0
        assert job.id not in [listed.id for listed in working.store.recent(100)]
    assert "Traceback" not in all_logs(working)


@pytest.mark.server
def test_a_worker_without_an_index_fails_claims_and_recovers(house: House) -> None:
    (house.settings.store / "name").unlink()
    house.start_worker()
    job = house.queue.submit("The kettle is made of copper.", "esoteric")
    failed = house.wait_for_state(job, "failed")
    assert failed.error == Problem(
        "no_index", "There is no index.", "Build one: esoteric index build --source vital"
    )
    # With its next heartbeat, at most two seconds later.
    wait_until(
        lambda: health_of(house).problem == failed.error,
        "the notice",
    )
    health = health_of(house)
    assert (health.ready, health.workers) == (False, 1)
    house.give_index("Gazetteer")
    house.wait_until_ready()
    again = house.wait_for_state(house.queue.submit(job.claim, "esoteric"), "done")
    assert again.result is not None
    assert again.result.corpus.name == "Gazetteer"
    corpus = health_of(house).corpus
    assert replace(corpus, recipes=None) == SearchedCorpus("Gazetteer", "vital", 1, BUILT_AT)


@pytest.mark.server
def test_a_new_index_is_used_for_the_next_claim(working: House) -> None:
    for name in ("Gazetteer", "Almanac"):
        working.give_index(name)
        done = working.wait_for_state(working.queue.submit(f"{name}.", "esoteric"), "done")
        assert done.result is not None
        assert done.result.corpus.name == name


@pytest.mark.server
def test_a_worker_whose_index_server_is_away_keeps_its_retriever(working: House) -> None:
    loaded = all_logs(working).count("Models and index are loaded")
    working.cut_off()
    wait_until(lambda: not health_of(working).ready, "the notice")
    job = working.wait_for_state(working.queue.submit("One kettle.", "esoteric"), "failed")
    assert job.error == Problem("index_unreachable", "The index is cut off.", "Wait.")
    assert health_of(working).problem == job.error
    working.reconnect()
    working.wait_until_ready()
    working.wait_for_state(working.queue.submit("Two kettles.", "esoteric"), "done")
    assert all_logs(working).count("Models and index are loaded") == loaded > 0
