"""The contract of the job store, on every kind of database, also where many use it at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from retrieval.errors import EsotericError, Problem
from retrieval.result import ClaimResult
from retrieval.types import Label, Progress
from retrieval.words import Level, level_of
from tests.app.claim_documents import claim_document
from tests.support.cases import cases
from tests.worker.conftest import at_once
from worker.database import Database
from worker.job_store import ClaimFilter, JobStore
from worker.jobs import Job
from worker.reports import SearchedCorpus
from worker.run_store import Run, RunStore
from worker.turns import Places
from worker.worker_store import WorkerStore

MINUTE = timedelta(minutes=1)
PAST = timedelta(seconds=-1)
RESULT = ClaimResult.model_validate(claim_document("caf\u00e9 \U0001f600"))
ANOTHER_RESULT = ClaimResult.model_validate(claim_document("Late.", "REFUTES"))


@pytest.fixture
def runs(store: JobStore) -> RunStore:
    return RunStore(store.database)


@pytest.fixture
def workers(store: JobStore) -> WorkerStore:
    return WorkerStore(store.database)


def submit(store: JobStore, claim: str = "Tea is a drink.") -> Job:
    job, new = store.submit(claim, "esoteric")
    assert new
    return job


def start(store: JobStore, job: Job) -> Run:
    run = RunStore(store.database).start(job.id, "a worker")
    assert run is not None
    return run


def test_the_same_claim_and_recipe_is_one_pending_job(store: JobStore, runs: RunStore) -> None:
    job = submit(store)
    assert store.submit(job.claim, "esoteric") == (job, False)
    run = start(store, job)
    assert store.submit(job.claim, "esoteric") == (store.get(job.id), False)
    assert store.submit(job.claim, "another recipe")[1]
    assert store.submit(job.claim + "!", "esoteric")[1]
    runs.finish(run, RESULT)
    again, new = store.submit(job.claim, "esoteric")
    assert new
    assert again.id != job.id
    owned = store.submit(job.claim, "esoteric", "a")
    assert owned[1]  # two owners never share a job
    assert store.submit(job.claim, "esoteric", "a") == (owned[0], False)


def test_a_claim_that_a_command_has_checked_is_done_and_in_the_history(store: JobStore) -> None:
    store.keep(RESULT)
    store.keep(ANOTHER_RESULT)
    (newest, first), total = store.listed(ClaimFilter(), 5)
    assert total == 2
    assert (newest.claim, newest.state, newest.label) == ("Late.", "done", "REFUTES")
    job = store.get(first.id)
    assert (job.result, job.claim, job.recipe) == (RESULT, RESULT.claim, RESULT.recipe)
    assert job.finished_at is not None
    store.keep(RESULT.model_copy(update={"claim_as_written": "is tea hot"}))
    assert store.recent(1)[0].claim == "is tea hot"


def test_a_finished_job_keeps_its_result_from_late_changes(store: JobStore, runs: RunStore) -> None:
    job = submit(store)
    run = start(store, job)
    (running,) = runs.running()
    assert runs.finish(run, RESULT)
    done = store.get(job.id)
    assert (done.state, done.result, done.error) == ("done", RESULT, None)
    assert done.finished_at is not None
    assert not runs.finish(run, ANOTHER_RESULT)
    assert not runs.fail(run, EsotericError("x", "x", "x"))
    assert not runs.record(run, Progress("spans", "late", 1, 2))
    assert not runs.renew(run)
    assert not runs.give_back(run)
    assert not runs.take_back(running)
    assert runs.start(job.id, "another worker") is None
    assert store.cancel(job.id) == done
    assert store.get(job.id) == done


def test_a_cancelled_job_never_starts_or_goes_on(store: JobStore, runs: RunStore) -> None:
    job = submit(store)
    assert store.cancel(job.id).state == "cancelled"
    assert runs.start(job.id, "a worker") is None
    job = submit(store)
    run = start(store, job)
    assert runs.record(run, Progress("spans", "two spans", 1, 9))
    assert store.cancel(job.id).state == "cancelled"
    assert not runs.record(run, Progress("titles", "three titles", 2, 9))
    assert not runs.renew(run)
    assert not runs.finish(run, RESULT)
    assert [event.stage for event in store.events(job.id, 0)] == ["spans"]


def test_events_are_numbered_and_returned_after_any(store: JobStore, runs: RunStore) -> None:
    other = start(store, submit(store, "Coffee is a drink."))
    runs.record(other, Progress("spans", "of another claim", 1, 2))
    job = submit(store)
    run = start(store, job)
    for number in range(3):
        assert runs.record(run, Progress("spans", f"message {number}", number, 3))
    events = store.events(job.id, 0)
    assert [(e.n, e.stage, e.message, e.done, e.of) for e in events] == [
        (1, "spans", "message 0", 0, 3),
        (2, "spans", "message 1", 1, 3),
        (3, "spans", "message 2", 2, 3),
    ]
    assert store.events(job.id, 2) == events[2:]
    assert store.events(job.id, 3) == []


def test_a_stopping_worker_queues_its_job_uncounted(store: JobStore, runs: RunStore) -> None:
    job = submit(store)
    assert runs.give_back(start(store, job))
    queued = store.get(job.id)
    assert (queued.state, queued.attempts, queued.started_at) == ("queued", 0, None)
    assert store.submit(job.claim, job.recipe) == (queued, False)
    assert start(store, job).attempt == 1


def test_a_lost_job_is_queued_again_and_its_second_attempt_continues_the_event_numbers(
    store: JobStore, runs: RunStore
) -> None:
    job = submit(store)
    lost = start(store, job)
    runs.record(lost, Progress("spans", "two spans", 1, 9))
    (running,) = runs.running()
    assert (running.run, running.events) == (lost, 1)
    assert runs.running("another worker") == []
    assert runs.take_back(running)
    assert runs.running() == []
    run = start(store, job)
    assert run.attempt == 2
    assert not runs.finish(lost, ANOTHER_RESULT)
    runs.record(run, Progress("spans", "two spans", 1, 9))
    assert [(event.n, event.stage) for event in store.events(job.id, 0)] == [
        (1, "spans"),
        (2, "start"),
        (3, "spans"),
    ]
    assert "starts again" in store.events(job.id, 1)[0].message
    assert runs.finish(run, RESULT)
    assert store.get(job.id).result == RESULT


def test_a_renewed_job_is_not_queued_again(store: JobStore, runs: RunStore) -> None:
    job = submit(store)
    run = start(store, job)
    (seen,) = runs.running()
    assert runs.renew(run)
    assert not runs.take_back(seen)
    assert not runs.give_up(seen, EsotericError("worker_lost", "Lost.", "Try again."))
    assert store.get(job.id).state == "running"
    (seen,) = runs.running()
    assert runs.give_up(seen, EsotericError("worker_lost", "Lost.", "Try again."))
    assert store.get(job.id).state == "failed"
    assert not runs.finish(run, RESULT)


TEA, CAFE, LINE = "Tea is a drink.", "The caf\u00e9 is 100% open.", "A back\\slash leans."


def test_runs_of_one_claim_are_one_group_with_the_newest_first(store: JobStore) -> None:
    first, cafe, by_m3, shouted = (
        store.submit(claim, recipe)[0].id
        for claim, recipe in (
            *((TEA, "esoteric"), (CAFE, "esoteric")),
            *((TEA, "m3"), (TEA.upper(), "esoteric")),
        )
    )
    groups, total = store.grouped(ClaimFilter(), 10)
    found = [[run.id for run in group.runs] for group in groups]
    assert (found, total) == ([[shouted, by_m3, first], [cafe]], 2)
    assert [group.runs[0].id for group in store.grouped(ClaimFilter(), 1, 1)[0]] == [cafe]
    assert store.recipes() == ["esoteric", "m3"]


def test_filters_are_of_text_owner_recipe_and_state(store: JobStore) -> None:
    tea, by_m3, cafe, line = (
        store.submit(claim, recipe, owner)[0].id
        for claim, recipe, owner in (
            *((TEA, "esoteric", "a"), (TEA, "m3", "b")),
            *((CAFE, "esoteric", None), (LINE, "esoteric", None)),
        )
    )
    store.cancel(cafe)
    for wanted, ids in (
        (ClaimFilter(), [line, cafe, by_m3, tea]),
        (ClaimFilter("DRINK"), [by_m3, tea]),
        (ClaimFilter("CAF\u00c9"), [cafe]),
        (ClaimFilter("0% O"), [cafe]),
        (ClaimFilter("_ea"), []),
        (ClaimFilter("k\\s"), [line]),
        (ClaimFilter("'; DROP TABLE claims; --"), []),
        (ClaimFilter(owner="a"), [tea]),
        (ClaimFilter(recipe="m3"), [by_m3]),
        (ClaimFilter(state="cancelled"), [cafe]),
        (ClaimFilter("tea", owner="a", recipe="m3"), []),
    ):
        jobs, total = store.listed(wanted, 10)
        assert ([job.id for job in jobs], total) == (ids, len(ids))
        found = store.grouped(wanted, 10)[0]
        assert [run.id for group in found for run in group.runs] == ids
    assert store.ids_of("a") == [tea]
    page, total = store.listed(ClaimFilter(), 2, 1)
    assert ([job.id for job in page], total) == ([cafe, by_m3], 4)


def test_a_level_finds_the_verdicts_that_pages_call_so(store: JobStore, runs: RunStore) -> None:
    verdicts: list[tuple[Label, float, Label | None]] = [
        *(("SUPPORTS", 0.95, None), ("REFUTES", 0.8, None), ("REFUTES", 0.51, None)),
        ("NOT ENOUGH INFO", 0.4, "REFUTES"),
        ("NOT ENOUGH INFO", 0.9, None),
    ]
    expected: dict[Level, set[str]] = {}
    for number, (label, confidence, leans) in enumerate(verdicts):
        job = submit(store, f"Claim {number}.")
        verdict = {"label": label, "confidence": confidence, "leans": leans}
        result = claim_document(job.claim) | {"verdict": RESULT.verdict.model_dump() | verdict}
        runs.finish(start(store, job), ClaimResult.model_validate(result))
        expected.setdefault(level_of(label, confidence, leans), set()).add(job.id)
    submit(store, "A pending claim has no level.")
    assert set(expected) == {"settled", "probably", "leans", "unsettled"}
    for level, ids in expected.items():
        assert {job.id for job in store.listed(ClaimFilter(level=level), 10)[0]} == ids


def test_counts_has_every_state(store: JobStore, runs: RunStore) -> None:
    submit(store, "One.")
    submit(store, "Two.")
    runs.finish(start(store, submit(store, "Three.")), RESULT)
    store.cancel(submit(store, "Four.").id)
    assert store.counts() == {"queued": 2, "running": 0, "done": 1, "failed": 0, "cancelled": 1}


def test_workers_are_known_by_their_heartbeats(workers: WorkerStore) -> None:
    now = datetime.now(UTC)
    assert workers.alive(MINUTE) == []
    workers.beat("first", now, "loading")
    workers.beat("second", now, "broken", EsotericError("no_index", "No index.", "Build one."))
    corpus = SearchedCorpus("Almanac", "vital", 9842, "2026-11-20T09:30:00Z")
    workers.beat("first", now, "ready", corpus=corpus)
    first, second = workers.alive(MINUTE)
    assert (first.id, first.state, first.problem) == ("first", "ready", None)
    assert (first.corpus, second.corpus) == (corpus, None)
    assert second.problem == Problem("no_index", "No index.", "Build one.")
    assert workers.alive(PAST) == []
    workers.forget("first")
    assert [worker.id for worker in workers.alive(MINUTE)] == ["second"]
    workers.forget_silent(MINUTE)
    assert len(workers.alive(MINUTE)) == 1
    workers.forget_silent(PAST)
    assert workers.alive(MINUTE) == []


def test_a_worker_whose_clock_differs_is_known_once_its_heartbeat_changes(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, worker = WorkerStore(store.database), WorkerStore(store.database)
    started = real = datetime.now(UTC)
    for ahead in (timedelta(hours=1), timedelta(hours=-1)):
        for number in range(2):
            with monkeypatch.context() as patch:
                shown = real + ahead + timedelta(seconds=number)
                patch.setattr("worker.clock.shared", lambda _, shown=shown: shown)
                worker.beat(f"far {ahead}", started, "ready")
            known = [one.id for one in web.alive(MINUTE)]
            assert (f"far {ahead}" in known) is bool(number)


@pytest.fixture
def stores(url: str) -> Iterator[list[JobStore]]:
    """Eight that look at one database, which does not exist yet."""
    stores = [JobStore(Database(url)) for _ in range(8)]
    yield stores
    for store in stores:
        store.database.close()


def test_a_claim_that_many_submit_is_one_job_taken_back_once(stores: list[JobStore]) -> None:
    submitted = at_once(8, lambda which: stores[which].submit("Tea is a drink.", "esoteric"))
    assert len({job.id for job, _ in submitted}) == 1
    assert [new for _, new in submitted].count(True) == 1
    assert stores[0].counts()["queued"] == 1
    start(stores[0], submitted[0][0])
    (lost,) = RunStore(stores[0].database).running()
    taken = at_once(8, lambda which: RunStore(stores[which].database).take_back(lost))
    assert taken.count(True) == 1
    assert stores[0].get(lost.run.job_id).attempts == 1


def test_finishing_and_cancelling_at_once_has_one_outcome(stores: list[JobStore]) -> None:
    runs = RunStore(stores[0].database)
    for number in range(20):
        run = start(stores[0], submit(stores[0], f"Claim {number}."))
        ends = (
            lambda run=run: runs.finish(run, RESULT),
            lambda run=run: stores[1].cancel(run.job_id),
        )
        outcomes = at_once(2, lambda which, ends=ends: ends[which]())
        end = stores[0].get(run.job_id)
        assert (end.state == "done") == (True in outcomes)
        assert end.state in ("done", "cancelled")
        assert (end.result is not None) == (end.state == "done")


def queue(
    store: JobStore, names: str, client: str | None, owner: str = "", typed: bool = False
) -> None:
    for name in names.split():
        store.submit(name, "esoteric", owner or None, client=client, typed=typed)


def started(store: JobStore, how_many: int = 100) -> list[str]:
    """Start claims one after the other and return them, as far as there are any."""
    runs = RunStore(store.database)
    found = []
    while len(found) < how_many and (run := runs.start_next("a worker")) is not None:
        found.append(run.claim)
    return found


def in_places(store: JobStore) -> list[str]:
    """Return the queued claims by their places."""
    places = Places(store.database)
    placed = [
        (place, job.claim) for job in store.recent(100) if (place := places.of(job.id)) is not None
    ]
    assert [before for before, _ in sorted(placed)] == list(range(len(placed)))
    return [claim for _, claim in sorted(placed)]


@cases("turns", "submitted", "in_turn")
def test_clients_take_turns(store: JobStore, submitted: list[str], in_turn: str) -> None:
    for one in submitted:
        who, _, names = one.partition(": ")
        client, _, owner = who.removesuffix("!").partition("/")
        queue(store, names, client or None, owner, typed=who.endswith("!"))
    assert in_places(store) == in_turn.split()
    assert started(store) == in_turn.split()


def test_who_had_a_turn_lately_waits_for_who_had_none(store: JobStore) -> None:
    queue(store, "a1 a2 a3", "A")
    assert started(store, 2) == ["a1", "a2"]
    queue(store, "b1 b2", "B")
    assert in_places(store) == ["b1", "a3", "b2"]
    assert started(store) == ["b1", "a3", "b2"]
    queue(store, "b3", "B")
    queue(store, "a4", "A")
    assert started(store) == ["a4", "b3"]


def test_people_who_type_without_end_let_others_have_a_turn(store: JobStore) -> None:
    queue(store, "a1 a2", "A")
    queue(store, "t1 t2 t3 t4 t5 t6 t7 t8 t9", "T", typed=True)
    assert started(store) == ["t1", "t2", "t3", "t4", "a1", "t5", "t6", "t7", "t8", "a2", "t9"]


def test_the_address_is_forgotten_when_the_claim_has_ended(store: JobStore) -> None:
    queue(store, "a1 a2", "A")
    runs = RunStore(store.database)
    run = runs.start_next("a worker")
    assert runs.finish(run, RESULT)
    store.cancel(store.recent(1)[0].id)
    with store.database.reading() as session:
        assert session.scalars(text("SELECT client FROM claims")).all() == [None, None]
    queue(store, "b1", None, "ann")
    assert started(store) == ["b1"]
    store.delete_all_of("ann")
    with store.database.reading() as session:
        assert not session.scalars(text("SELECT who FROM turns WHERE who LIKE '%ann%'")).all()


def test_workers_at_once_start_each_claim_once(stores: list[JobStore]) -> None:
    queue(stores[0], " ".join(f"a{n}" for n in range(20)), "A")
    queue(stores[0], " ".join(f"b{n}" for n in range(20)), "B")
    found = at_once(4, lambda which: started(stores[which]))
    claims = [claim for of_one in found for claim in of_one]
    assert sorted(claims) == sorted(f"{client}{n}" for client in "ab" for n in range(20))
