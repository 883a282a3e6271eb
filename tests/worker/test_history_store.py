"""The claims so far: filters, groups, and what one visitor has."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from retrieval.words import Level, level_of
from worker.history_store import ClaimFilter, HistoryStore
from worker.job_store import JobStore
from worker.schema import ClaimRow

TEA, CAFE = "Tea is a drink.", "The caf\u00e9 is 100% open."


@pytest.fixture
def history(store: JobStore) -> HistoryStore:
    return HistoryStore(store.database)


def add(store: JobStore, claim: str, recipe: str = "esoteric", owner: str | None = None) -> str:
    return store.submit(claim, recipe, owner)[0].id


def decide(
    store: JobStore, job_id: str, label: Label, confidence: float | None, leans: Label | None = None
) -> None:
    with store.database.writing() as session:
        session.execute(
            update(ClaimRow)
            .where(ClaimRow.id == job_id)
            .values(state="done", pending=None, label=label, confidence=confidence, leans=leans)
        )


def test_runs_of_one_claim_are_one_group_with_the_newest_first(
    store: JobStore, history: HistoryStore
) -> None:
    first = add(store, TEA)
    cafe = add(store, CAFE)
    by_m3 = add(store, TEA, "m3")
    shouted = add(store, TEA.upper())
    groups, total = history.grouped(ClaimFilter(), 10)
    assert [[run.id for run in group.runs] for group in groups] == [
        [shouted, by_m3, first],
        [cafe],
    ]
    assert total == 2
    assert [group.runs[0].id for group in history.grouped(ClaimFilter(), 1, 1)[0]] == [cafe]
    assert history.recipes() == ["esoteric", "m3"]


def test_filters_are_of_text_owner_recipe_and_state(store: JobStore, history: HistoryStore) -> None:
    tea, by_m3 = add(store, TEA, owner="a"), add(store, TEA, "m3", "b")
    cafe = add(store, CAFE)
    store.cancel(cafe)
    for wanted, ids in (
        (ClaimFilter("DRINK"), [by_m3, tea]),
        (ClaimFilter("0% O"), [cafe]),
        (ClaimFilter("_ea"), []),
        (ClaimFilter(owner="a"), [tea]),
        (ClaimFilter(recipe="m3"), [by_m3]),
        (ClaimFilter(state="cancelled"), [cafe]),
        (ClaimFilter("tea", owner="a", recipe="m3"), []),
    ):
        assert [job.id for job in history.listed(wanted, 10)[0]] == ids
        found = history.grouped(wanted, 10)[0]
        assert [run.id for group in found for run in group.runs] == ids
    assert history.ids_of("a") == [tea]


def test_a_level_finds_the_verdicts_that_pages_call_so(
    store: JobStore, history: HistoryStore
) -> None:
    verdicts: list[tuple[Label, float | None, Label | None]] = [
        (SUPPORTS, 0.95, None),
        (REFUTES, 0.8, None),
        (REFUTES, 0.51, None),
        (SUPPORTS, None, None),
        (NOT_ENOUGH_INFO, 0.4, REFUTES),
        (NOT_ENOUGH_INFO, 0.9, None),
    ]
    expected: dict[Level, set[str]] = {
        "settled": set(),
        "probably": set(),
        "leans": set(),
        "unsettled": set(),
    }
    for number, verdict in enumerate(verdicts):
        job_id = add(store, f"Claim {number}.")
        decide(store, job_id, *verdict)
        expected[level_of(*verdict)].add(job_id)
    add(store, "A pending claim has no level.")
    for level, ids in expected.items():
        assert ids
        assert {job.id for job in history.listed(ClaimFilter(level=level), 10)[0]} == ids
