"""A real worker process, with each broker, and what happens to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from redis import Redis

from retrieval.errors import Problem
from settings import EMBEDDED_BROKER
from tests.ops.up_process import family
from tests.support.waiting import wait_until
from tests.worker.conftest import House, RedisServer
from tests.worker.fake_retriever import BUILT_AT, STAGES
from worker.broker import BrokerUnavailable
from worker.health import worker_health
from worker.jobs import Job
from worker.reports import SearchedCorpus
from worker.worker_store import WorkerStore

pytestmark = pytest.mark.server


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


def test_a_claim_goes_through_every_stage_to_its_result_and_an_idle_worker_stops_in_time(
    any_house: House,
) -> None:
    health = worker_health(WorkerStore(any_house.store.database))
    assert not health.ready
    assert health.problem is not None
    assert health.problem.code == "no_worker"
    worker = any_house.start_worker()
    any_house.wait_until_ready()
    assert worker_health(WorkerStore(any_house.store.database)).workers == 1
    job = any_house.queue.submit("The kettle is made of copper.", "esoteric")
    done = any_house.wait_for_state(job, "done")
    assert stages(any_house, job) == list(STAGES)
    assert done.attempts == 1
    assert done.result is not None
    assert done.result.verdict.rationale == "Almanac says: The kettle is made of copper."
    assert done.result.claim == done.claim
    assert worker.stop() < 10
    assert worker.process.returncode == 0
    assert not worker_health(WorkerStore(any_house.store.database)).ready


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


def test_a_claim_that_loses_its_worker_twice_fails(house: House) -> None:
    house.environment["LEASE_SECONDS"] = "3"
    claim = "The kettle is cursed."
    house.hold("verdict", claim)
    worker = house.start_worker()
    job = house.queue.submit(claim, "esoteric")
    for attempt in (1, 2):
        wait_until(
            lambda attempt=attempt: house.store.get(job.id).attempts == attempt,  # type: ignore[misc]
            f"attempt {attempt}",
        )
        house.wait_for_event(job, "verdict")
        worker.kill()
        worker = house.start_worker()
    failed = house.wait_for_state(job, "failed")
    assert failed.attempts == 2
    assert failed.result is None
    assert failed.error is not None
    assert failed.error.code == "worker_lost"
    assert failed.error.hint
    house.let_go()
    other = house.queue.submit("The kettle is fine.", "esoteric")
    house.wait_for_state(other, "done")


def test_a_worker_that_was_wrongly_taken_as_lost_does_not_overwrite_the_second_attempt(
    house: House,
) -> None:
    house.environment["LEASE_SECONDS"] = "4"
    claim = "The kettle sings."
    house.hold("ranking", claim)
    slow = house.start_worker()
    job = house.queue.submit(claim, "esoteric")
    house.wait_for_event(job, "ranking")
    slow.signal(signal.SIGSTOP)  # a machine that sleeps
    house.let_go()
    house.start_worker()
    done = house.wait_for_state(job, "done")
    slow.signal(signal.SIGCONT)  # it wakes up and continues
    other = house.queue.submit("The kettle hums.", "esoteric")
    house.wait_for_state(other, "done")
    wait_until(lambda: f"Claim {job.id} was" in slow.log.read_text(), "the end of the slow one")
    assert house.store.get(job.id) == done
    assert done.attempts == 2
    assert stages(house, job)[-1] == "done"


@pytest.mark.parametrize(
    ("how", "seconds"), [("one thread waits", 6), ("no thread runs", 3), ("amid a write", 3)]
)
def test_a_check_that_hangs_is_ended_says_so_and_the_next_claim_is_checked(
    house: House, how: str, seconds: int
) -> None:
    house.environment["ESOTERIC_STALL_SECONDS"] = str(seconds)
    claim = f"The kettle hangs and {how}."
    house.hang("relevance", claim)
    worker = house.start_worker()
    house.wait_until_ready()
    began = time.monotonic()  # a moment before the check hangs
    job = house.queue.submit(claim, "esoteric")
    other = house.queue.submit("The kettle is made of copper.", "esoteric")
    house.wait_for_event(job, "relevance")
    if how == "one thread waits":
        wait_until(lambda: problem_of(house) == "check_hangs", "a word that it hangs")
        assert house.store.get(job.id).state == "running"
    failed = house.wait_for_state(job, "failed")
    assert seconds - 1 < time.monotonic() - began < seconds + 20
    assert failed.error is not None
    assert failed.error.code == "check_stalled"
    assert failed.error.message == (
        f"The check made no progress for {seconds} seconds, so it was ended."
    )
    assert house.wait_for_state(other, "done").attempts == 1
    house.wait_until_ready()
    assert worker_health(WorkerStore(house.store.database)).workers == 1
    assert worker.process.poll() is None
    assert "fake_retriever.py" in worker.log.read_text()  # where it hung
    worker.stop()
    assert worker.process.returncode == 0


def problem_of(house: House) -> str:
    problem = worker_health(WorkerStore(house.store.database)).problem
    return "" if problem is None else problem.code


def test_a_worker_and_the_process_that_keeps_it_end_together(house: House) -> None:
    worker = house.start_worker()
    house.wait_until_ready()
    worker.process.kill()
    worker.process.wait()
    wait_until(lambda: worker_health(WorkerStore(house.store.database)).workers == 0, "its end")
    worker = house.start_worker()
    house.wait_until_ready()
    _, child = family(worker.process.pid)
    os.kill(child, signal.SIGKILL)
    assert worker.process.wait(20) == -signal.SIGKILL


def test_a_worker_stops_in_time_after_sigterm_and_queues_its_claim_again(
    any_house: House,
) -> None:
    claim = "The kettle takes its time."
    any_house.hold("questions", claim)
    worker = any_house.start_worker()
    job = any_house.queue.submit(claim, "esoteric")
    any_house.wait_for_event(job, "questions")
    assert worker.stop() < 10
    assert worker.process.returncode == 0
    queued = any_house.store.get(job.id)
    assert (queued.state, queued.attempts) == ("queued", 0)
    assert worker_health(WorkerStore(any_house.store.database)).workers == 0
    any_house.let_go()
    any_house.start_worker()
    done = any_house.wait_for_state(job, "done")
    assert done.attempts == 1
    assert stages(any_house, job)[-len(STAGES) - 1 :] == ["start", *STAGES]


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


@pytest.mark.redis
def test_a_worker_outlives_a_redis_that_is_out_of_memory(
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


def test_a_cancelled_claim_stops_within_seconds(working: House) -> None:
    claim = "The kettle never boils."
    working.hold("relevance", claim)
    job = working.queue.submit(claim, "esoteric")
    working.wait_for_event(job, "relevance")
    cancelled = time.monotonic()
    assert working.queue.cancel(job.id).state == "cancelled"
    wait_until(lambda: f"Claim {job.id} was cancelled" in all_logs(working), "the stop")
    assert time.monotonic() - cancelled < 5
    working.let_go()
    events = len(working.store.events(job.id, 0))
    other = working.queue.submit("The kettle boils.", "esoteric")
    working.wait_for_state(other, "done")
    assert working.store.get(job.id).state == "cancelled"
    assert len(working.store.events(job.id, 0)) == events


def test_a_worker_without_an_index_fails_claims_with_how_to_fix_it_and_recovers(
    house: House,
) -> None:
    (house.settings.store / "name").unlink()
    house.start_worker()
    job = house.queue.submit("The kettle is made of copper.", "esoteric")
    failed = house.wait_for_state(job, "failed")
    assert failed.error == Problem(
        "no_index",
        "There is no index.",
        "Build one: esoteric index build --source vital",
    )
    # With its next heartbeat, at most two seconds later.
    wait_until(
        lambda: worker_health(WorkerStore(house.store.database)).problem == failed.error,
        "the notice",
    )
    health = worker_health(WorkerStore(house.store.database))
    assert (health.ready, health.workers) == (False, 1)
    house.give_index("Gazetteer")
    house.wait_until_ready()
    again = house.wait_for_state(house.queue.submit(job.claim, "esoteric"), "done")
    assert again.result is not None
    assert again.result.corpus.name == "Gazetteer"
    corpus = worker_health(WorkerStore(house.store.database)).corpus
    assert corpus is not None
    assert replace(corpus, recipes=None) == SearchedCorpus("Gazetteer", "vital", 1, BUILT_AT)


def test_a_new_index_is_used_for_the_next_claim(working: House) -> None:
    for name in ("Gazetteer", "Almanac"):
        working.give_index(name)
        done = working.wait_for_state(working.queue.submit(f"{name}.", "esoteric"), "done")
        assert done.result is not None
        assert done.result.corpus.name == name


def test_a_worker_whose_index_server_does_not_answer_reports_it_and_keeps_its_retriever(
    working: House,
) -> None:
    loaded = all_logs(working).count("Models and index are loaded")
    working.cut_off()
    wait_until(lambda: not worker_health(WorkerStore(working.store.database)).ready, "the notice")
    job = working.wait_for_state(working.queue.submit("One kettle.", "esoteric"), "failed")
    assert job.error == Problem("index_unreachable", "The index is cut off.", "Wait.")
    assert worker_health(WorkerStore(working.store.database)).problem == job.error
    working.reconnect()
    working.wait_until_ready()
    working.wait_for_state(working.queue.submit("Two kettles.", "esoteric"), "done")
    assert all_logs(working).count("Models and index are loaded") == loaded > 0


def test_a_slow_check_that_reports_progress_is_not_ended(house: House) -> None:
    house.environment["ESOTERIC_STALL_SECONDS"] = "2"
    claim = "The kettle is slow."
    house.hold("relevance", claim)
    house.start_worker()
    job = house.queue.submit(claim, "esoteric")
    house.wait_for_event(job, "relevance")
    time.sleep(4)
    house.let_go()
    assert house.wait_for_state(job, "done").attempts == 1


def test_workers_whose_clocks_differ_leave_each_other_their_claims(house: House) -> None:
    for seconds in ("20", "-20"):
        house.environment["CLOCK_AHEAD"] = seconds
        house.start_worker()
    jobs = []
    for name in ("first", "second"):
        claim = f"The {name} kettle takes its time."
        house.hold("relevance", claim)
        jobs.append(house.queue.submit(claim, "esoteric"))
        house.wait_for_event(jobs[-1], "relevance")
        time.sleep(2)  # several looks of both
    house.let_go()
    assert [house.wait_for_state(job, "done").attempts for job in jobs] == [1, 1]
    assert "lost its worker" not in all_logs(house)
