"""Events as rows, for recipes with other stages than today's."""

from __future__ import annotations

from datetime import UTC, datetime

from app.progress import hops, progress_page
from retrieval.recipes.recipes import RECIPES
from worker.jobs import Event, Job, State
from worker.reports import AskedModel

FIRST = ("spans", "titles", "dense")
PER_HOP = ("sentences", "paths", "proof", "verdict", "next")
States = list[list[tuple[str, str]]]


def event(n: int, stage: str, message: str, done: int, of: int) -> Event:
    return Event(n=n, at=datetime.now(UTC), stage=stage, message=message, done=done, of=of)


def running_job(state: State = "running") -> Job:
    now = datetime.now(UTC)
    return Job(
        id="0" * 24,
        claim="It is.",
        recipe="fer",
        state=state,
        created_at=now,
        started_at=now,
        finished_at=None,
        attempts=1,
        result=None,
        error=None,
    )


def states(*stages: str, started: bool = True, most: int = 3) -> States:
    """Return the rows of each hop, at most ``most``, after events of these stages."""
    events = [event(n, stage, "", n, 20) for n, stage in enumerate(stages, 1)]
    return [
        [(row.name, row.state) for row in one.stages]
        for one in hops(FIRST, PER_HOP, most, events, started=started)
    ]


def test_the_rows_are_the_recipes_stages_and_paths_come_with_the_second_hop() -> None:
    assert states(started=False) == [
        [
            ("spans", "waiting"),
            ("titles", "waiting"),
            ("dense", "waiting"),
            ("sentences", "waiting"),
            ("proof", "waiting"),
            ("verdict", "waiting"),
            ("next", "waiting"),
        ]
    ]


def test_a_skipped_stage_is_not_shown_as_running() -> None:
    assert states("spans", "dense") == [
        [
            ("spans", "done"),
            ("titles", "skipped"),
            ("dense", "done"),
            ("sentences", "running"),
            ("proof", "waiting"),
            ("verdict", "waiting"),
            ("next", "waiting"),
        ]
    ]


HOP = ("sentences", "proof", "verdict", "next")


def test_a_hop_begins_with_its_first_event() -> None:
    first, second = states("spans", "titles", "dense", *HOP, "sentences")
    assert {state for _, state in first} == {"done"}
    assert second == [
        ("sentences", "done"),
        ("paths", "running"),
        ("proof", "waiting"),
        ("verdict", "waiting"),
        ("next", "waiting"),
    ]


def test_a_search_that_finds_nothing_more_begins_no_hop() -> None:
    (only,) = states("spans", *HOP, "done")
    assert only[-1] == ("next", "done")


def test_the_last_hop_has_no_stage_next() -> None:
    first, last = states("spans", *HOP, "sentences", most=2)
    assert [name for name, _ in first][-1] == "next"
    assert [name for name, _ in last] == ["sentences", "paths", "proof", "verdict"]


def test_no_stage_of_a_finished_hop_is_running() -> None:
    first, second, third = states(
        *("spans", "sentences", "verdict", "next"),
        *("sentences", "verdict", "next", "sentences"),
    )
    assert [name for name, state in first if state == "skipped"] == ["titles", "dense", "proof"]
    assert second == [
        ("sentences", "done"),
        ("paths", "skipped"),
        ("proof", "skipped"),
        ("verdict", "done"),
        ("next", "done"),
    ]
    assert [state for _, state in third].count("running") == 1


def test_a_stage_that_the_recipe_does_not_name_changes_no_row() -> None:
    assert states("spans", "brewing") == states("spans")


def closing(*steps: tuple[str, int], state: State = "running") -> tuple[str, list[str]]:
    """Return the state of the last stage, and of the rows of the hop before it."""
    job = running_job(state)
    events = [event(n, stage, stage, done, 12) for n, (stage, done) in enumerate(steps, 1)]
    page = progress_page(
        job,
        RECIPES[job.recipe],
        events,
        None,
        AskedModel("small", "localhost:80", decides=True, problem=None),
        follow=False,
    )
    assert page.closing is not None
    return page.closing.state, [row.state for row in page.hops[-1].stages if row.name != "spans"]


READ = (("start", 0), ("spans", 1), ("sentences", 2), ("verdict", 3))


def test_the_language_model_is_asked_after_the_last_hop() -> None:
    assert closing(*READ)[0] == "waiting"
    state, rows = closing(*READ, ("explain", 3))
    assert state == "running"
    assert "running" not in rows
    assert "waiting" not in rows
    assert closing(*READ, ("explain", 3), ("explain", 3))[0] == "running"
    assert closing(*READ, ("explain", 3), ("explain", 4))[0] == "done"


def test_without_a_language_model_nothing_follows_the_last_hop() -> None:
    assert (
        progress_page(running_job(), RECIPES["esoteric"], [], None, None, follow=False).closing
        is None
    )
