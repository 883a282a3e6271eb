"""Clients take turns, and everybody can see the place of a claim in the queue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from tests.support.cases import cases
from tests.worker.conftest import House
from tests.worker.test_job_store_races import RESULT
from worker.database import Database
from worker.job_store import JobStore
from worker.run_store import RunStore
from worker.turns import Places


def submit(
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


def expected(store: JobStore) -> list[str]:
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
        submit(store, names, client or None, owner, typed=who.endswith("!"))
    assert expected(store) == in_turn.split()
    assert started(store) == in_turn.split()


def test_who_had_a_turn_lately_waits_for_who_had_none(store: JobStore) -> None:
    submit(store, "a1 a2 a3", "A")
    assert started(store, 2) == ["a1", "a2"]
    submit(store, "b1 b2", "B")
    assert expected(store) == ["b1", "a3", "b2"]
    assert started(store) == ["b1", "a3", "b2"]
    submit(store, "b3", "B")
    submit(store, "a4", "A")
    assert started(store) == ["a4", "b3"]


def test_people_who_type_without_end_let_others_have_a_turn(store: JobStore) -> None:
    submit(store, "a1 a2", "A")
    submit(store, "t1 t2 t3 t4 t5 t6 t7 t8 t9", "T", typed=True)
    assert started(store) == ["t1", "t2", "t3", "t4", "a1", "t5", "t6", "t7", "t8", "a2", "t9"]


def test_the_address_is_forgotten_when_the_claim_has_ended(store: JobStore) -> None:
    submit(store, "a1 a2", "A")
    runs = RunStore(store.database)
    run = runs.start_next("a worker")
    assert run is not None
    assert runs.finish(run, RESULT)
    store.cancel(store.recent(1)[0].id)
    with store.database.reading() as session:
        assert session.scalars(text("SELECT client FROM claims")).all() == [None, None]


def test_a_queued_claim_has_a_place(store: JobStore) -> None:
    submit(store, "a1 a2 a3", "A")
    last = store.recent(1)[0].id
    assert Places(store.database).of(last) == 2
    run = RunStore(store.database).start_next("a worker")
    assert run is not None
    assert Places(store.database).of(last) == 1
    assert Places(store.database).of(run.job_id) is None


def test_workers_at_once_start_each_claim_once(store: JobStore, url: str) -> None:
    submit(store, " ".join(f"a{n}" for n in range(20)), "A")
    submit(store, " ".join(f"b{n}" for n in range(20)), "B")

    def work(number: int) -> list[str]:
        own = JobStore(Database(url))
        try:
            return started(own)
        finally:
            own.database.close()

    with ThreadPoolExecutor(4) as threads:
        found = [claim for claims in threads.map(work, range(4)) for claim in claims]
    assert sorted(found) == sorted(f"{client}{n}" for client in "ab" for n in range(20))


@pytest.mark.server
def test_one_claim_waits_for_one_other_although_a_client_has_queued_200(any_house: House) -> None:
    """On both queues: a worker has begun with the 200 when the one comes."""
    many = [
        any_house.queue.submit(f"Tea {n} is a drink.", "esoteric", client="A").id
        for n in range(200)
    ]
    any_house.start_worker()
    any_house.wait_until_ready()
    one = any_house.queue.submit("Coffee is a drink.", "esoteric", client="B", typed=True)
    assert any_house.store.standing(one.id)[1] == 0
    any_house.wait_for_state(one, "done")
    began = any_house.store.get(one.id).started_at
    assert began is not None
    later = [
        job
        for job in map(any_house.store.get, many)
        if job.started_at is not None and one.created_at < job.started_at < began
    ]
    assert len(later) <= 1
    for job_id in many:
        any_house.store.cancel(job_id)
