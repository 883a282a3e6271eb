"""Events as the lines of a trail, for recipes with other stages than today's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.result.trail import Group, drawn, stances, steps_of, trail
from retrieval.recipes.recipes import Recipe
from retrieval.types import Findings, FoundDocument, FoundSentence, Span
from worker.jobs import Event

BEGAN = datetime(2026, 11, 27, 12, tzinfo=UTC)
Lines = list[tuple[str, str]]


def recipe(most: int) -> Recipe:
    first = ("spans", "titles", "questions", "dense")
    hop = ("sentences", "paths", "proof", "verdict")
    return Recipe("own", "", first, hop, ("mentions",), "decided", most)


def event(
    n: int, stage: str, found: Findings | None = None, done: int = 1, message: str = ""
) -> Event:
    """Return event ``n``, that many seconds after the beginning."""
    at = BEGAN + timedelta(seconds=n)
    return Event(n=n, at=at, stage=stage, message=message or stage, done=done, of=20, found=found)


def groups(
    *stages: str, running: bool = True, most: int = 3, asks: bool = False
) -> tuple[Group, ...]:
    """Return the lines after events of these stages, a second apart."""
    events = [event(0, "start", done=0), *(event(n, one) for n, one in enumerate(stages, 1))]
    return trail(events, recipe(most), running=running, asks=asks)


def lines(found: tuple[Group, ...]) -> Lines:
    return [(group.kind, group.state) for group in found]


def states(group: Group) -> Lines:
    return [(stage.name, stage.state) for stage in group.stages]


HOP = ("sentences", "proof", "verdict", "next")


def test_the_first_hop_is_four_lines_and_paths_come_with_the_second() -> None:
    first = groups(running=False)
    assert lines(first) == [
        ("looked", "waiting"),
        ("asked", "waiting"),
        ("opened", "waiting"),
        ("read", "waiting"),
    ]
    assert [name for name, _ in states(first[3])] == ["proof", "verdict", "next"]


def test_a_stage_that_was_not_needed_is_skipped_with_its_line() -> None:
    found = groups("spans", "dense")
    assert lines(found) == [("looked", "done"), ("opened", "running"), ("read", "waiting")]
    assert states(found[0]) == [("spans", "done"), ("titles", "skipped")]
    assert states(found[1]) == [("dense", "done"), ("sentences", "running")]


def test_a_later_hop_is_one_line_that_begins_with_its_first_event() -> None:
    *first, second = groups("spans", *HOP, "sentences")
    assert {group.state for group in first} == {"done"}
    assert (second.kind, second.hop, second.state) == ("hop", 2, "running")
    assert states(second) == [
        ("sentences", "done"),
        ("paths", "running"),
        ("proof", "waiting"),
        ("verdict", "waiting"),
        ("next", "waiting"),
    ]
    assert steps_of((*first, second)) == (2, 1, 5)


def test_a_search_that_finds_nothing_more_begins_no_hop() -> None:
    assert lines(groups("spans", *HOP, "done", running=False))[-1] == ("read", "done")


def test_the_last_hop_prepares_no_other() -> None:
    last = groups("spans", *HOP, "sentences", most=2)[-1]
    assert [name for name, _ in states(last)] == ["sentences", "paths", "proof", "verdict"]


def test_no_stage_of_a_finished_hop_is_running() -> None:
    found = groups("spans", "sentences", "next", "sentences", "verdict", "next", "sentences")
    assert [group.state for group in found] == ["done", "done", "done", "done", "running"]
    assert states(found[-2])[1:3] == [("paths", "skipped"), ("proof", "skipped")]


def test_a_stage_that_the_recipe_does_not_name_changes_no_line() -> None:
    assert lines(groups("spans", "brewing")) == lines(groups("spans"))


def test_the_language_model_is_asked_after_the_last_hop() -> None:
    done = ("spans", "sentences", "verdict")
    assert lines(groups(*done, asks=True))[-1] == ("model", "waiting")
    waits = groups(*done, "explain", "explain", asks=True)
    assert lines(waits)[-1] == ("model", "running")
    assert "running" not in {group.state for group in waits[:-1]}
    events = [event(n, one, done=n) for n, one in enumerate((*done, "explain"), 1)]
    answered = trail([*events, event(5, "explain", done=5)], recipe(1), running=True)
    assert lines(answered)[-1] == ("model", "done")
    assert lines(groups(*done))[-1] == ("read", "running")


def test_a_stage_took_the_time_since_the_event_before_it() -> None:
    looked = groups("spans", "titles")[0]
    assert [stage.seconds for stage in looked.stages] == [1, 1]
    assert looked.seconds == 2


def test_a_claim_that_starts_again_forgets_what_was_found_and_a_statement_does_not() -> None:
    spans = event(1, "spans")
    again = [event(0, "start", done=0), spans, event(2, "start", done=0), event(3, "titles")]
    assert states(trail(again, recipe(1), running=True)[0])[0] == ("spans", "skipped")
    statement = event(2, "start", done=9, message="Statement 2 of 2: It is old.")
    kinds = [group.kind for group in trail([spans, statement], recipe(1), running=True)]
    assert kinds == ["looked", "statement", "looked", "asked", "opened", "read"]


def test_a_line_has_what_its_stages_found_and_a_later_hop_what_is_new() -> None:
    built = FoundSentence("Varn", "It was built in 1874.", 0.4, "NOT ENOUGH INFO")
    holm = FoundSentence("Ida Holm", "She built it.", 0.9, "SUPPORTS")
    spans = (Span("the Lighthouse", 0, 14, "noun chunk"), Span("Lighthouse", 4, 14, "name"))
    close = FoundDocument("Pier", 0.2, ("dense",)), FoundDocument("Varn", 0.9, ("title",))
    led = FoundDocument("Ida Holm", 0.7, ("mention",), "Varn")
    found = trail(
        [
            event(1, "spans", Findings(1, spans=spans)),
            event(2, "questions", Findings(1, questions=("Who built it?",))),
            event(3, "sentences", Findings(1, documents=close)),
            event(4, "verdict", Findings(1, sentences=(built,))),
            event(5, "next", Findings(1, open=("by Ida Holm",))),
            event(6, "sentences", Findings(2, documents=(led,))),
            event(7, "verdict", Findings(2, sentences=(holm, built))),
        ],
        recipe(2),
        running=True,
    )
    looked, asked, opened, read, hop = found
    assert looked.spans == ("the Lighthouse",)
    assert asked.questions == ("Who built it?",)
    assert [one.title for one in opened.documents] == ["Varn", "Pier"]
    assert read.sentences == (built,)
    assert hop.open == ("by Ida Holm",)
    assert hop.leads == (led,)
    assert hop.sentences == (holm,)
    assert stances(found) == {"SUPPORTS": 1}
    marks = [(piece.text, piece.look) for piece in drawn("Is the Lighthouse old?", found)]
    assert marks == [("Is ", None), ("the Lighthouse", "pending"), (" old?", None)]
