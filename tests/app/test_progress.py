"""Events as rows, for recipes with other stages than today's."""

from __future__ import annotations

from datetime import UTC, datetime

from app.progress import rounds
from worker.jobs import Event

FIRST = ("spans", "titles", "dense")
PER_HOP = ("sentences", "paths", "verdict", "proof", "next")
States = list[list[tuple[str, str]]]


def states(*stages: str, started: bool = True) -> States:
    """Return the rows of each round after these stages were reported."""
    now = datetime.now(UTC)
    events = [Event(n, now, stage, "", n, 20) for n, stage in enumerate(stages, 1)]
    return [
        [(row.name, row.state) for row in one.stages]
        for one in rounds(FIRST, PER_HOP, events, started=started)
    ]


def test_the_rows_are_the_recipes_stages_and_paths_come_with_the_second_round() -> None:
    assert states(started=False) == [
        [
            ("spans", "waiting"),
            ("titles", "waiting"),
            ("dense", "waiting"),
            ("sentences", "waiting"),
            ("verdict", "waiting"),
            ("proof", "waiting"),
            ("next", "waiting"),
        ]
    ]


def test_a_stage_that_is_passed_over_is_not_shown_at_work() -> None:
    assert states("spans", "dense") == [
        [
            ("spans", "done"),
            ("titles", "skipped"),
            ("dense", "done"),
            ("sentences", "running"),
            ("verdict", "waiting"),
            ("proof", "waiting"),
            ("next", "waiting"),
        ]
    ]


def test_what_is_followed_ends_a_round_and_opens_another() -> None:
    first, second = states("spans", "titles", "dense", "sentences", "verdict", "proof", "next")
    assert {state for _, state in first} == {"done"}
    assert second == [
        ("sentences", "running"),
        ("paths", "waiting"),
        ("verdict", "waiting"),
        ("proof", "waiting"),
        ("next", "waiting"),
    ]


def test_no_row_of_a_round_that_is_over_is_at_work() -> None:
    first, second, third = states("spans", "verdict", "next", "verdict", "next")
    assert [name for name, state in first if state == "skipped"] == [
        *("titles", "dense", "sentences", "proof")
    ]
    assert second == [
        ("sentences", "skipped"),
        ("paths", "skipped"),
        ("verdict", "done"),
        ("proof", "skipped"),
        ("next", "done"),
    ]
    assert [state for _, state in third].count("running") == 1


def test_a_stage_that_the_recipe_does_not_name_changes_no_row() -> None:
    assert states("spans", "brewing") == states("spans")
