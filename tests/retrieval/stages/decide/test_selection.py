from __future__ import annotations

from dataclasses import replace

from retrieval.stages.decide.selection import RelativeSelector
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, Evidence
from tests.support.cases import cases
from tests.support.evidence import evidence


@cases("selected_scores", "limit", "scores", "selected")
def test_what_comes_near_the_best_sentence_is_selected(
    limit: int, scores: list[float], selected: list[bool]
) -> None:
    items = [evidence(f"Page {n}", "a pier", score) for n, score in enumerate(scores)]
    assert [item.selected for item in RelativeSelector(0.5, limit).select(items)] == selected


def test_a_later_hop_selects_anew() -> None:
    selector = RelativeSelector(0.5, 5)
    first = selector.select([evidence("A", "a pier", 0.3)])
    second = selector.select([evidence("B", "a rock", 0.9), *first])
    assert [(item.title, item.selected) for item in second] == [("B", True), ("A", False)]


def test_what_led_to_a_selected_sentence_is_selected_with_it() -> None:
    lead = evidence("Lead", "a pier", 0.1)
    found = [replace(evidence("End", "a rock", 0.9), path=(lead.key,)), lead]
    assert [item.selected for item in RelativeSelector(0.5, 5).select(found)] == [
        True,
        True,
    ]


def test_a_sentence_whose_path_finds_no_room_is_left_out() -> None:
    leads = [evidence(f"Lead {n}", "a pier", 0.1) for n in range(3)]
    ends = [
        replace(evidence(f"End {n}", "a rock", 0.9), path=(lead.key,))
        for n, lead in enumerate(leads)
    ]
    found = RelativeSelector(0.5, 5).select([*ends, *leads])
    assert [item.title for item in found if item.selected] == ["End 0", "End 1", "Lead 0", "Lead 1"]


def supporting(count: int) -> list[Evidence]:
    return [evidence(f"For {n}", "a pier", 0.9) for n in range(count)]


def titles(found: list[Evidence]) -> list[str]:
    return [item.title for item in found if item.selected]


def test_the_best_sentence_of_the_other_side_is_selected_too() -> None:
    # 0.55 is less than seven tenths of 0.9, and would not be selected for its score.
    found = [*supporting(2), evidence("Against", "a rock", 0.55, REFUTES)]
    assert titles(RelativeSelector(0.7, 5).select(found)) == ["For 0", "For 1", "Against"]


def test_the_other_side_takes_the_last_place_of_the_first_side() -> None:
    found = [*supporting(7), evidence("Against", "a rock", 0.8, REFUTES)]
    chosen = titles(RelativeSelector(0.5, 5).select(found))
    assert chosen == ["For 0", "For 1", "For 2", "For 3", "Against"]


def test_a_sentence_that_is_not_more_probably_against_than_not_is_not_selected_for_that() -> None:
    weak = replace(evidence("Against", "a rock"), opinion=(0.15, 0.45, 0.4))
    assert (weak.stance, weak.stance_confidence) == (NOT_ENOUGH_INFO, 0.4)
    assert titles(RelativeSelector(0.7, 5).select([*supporting(1), weak])) == ["For 0"]


def test_where_no_sentence_has_a_side_none_is_against_it() -> None:
    undecided = evidence("Undecided", "a pier", 0.4, NOT_ENOUGH_INFO)
    against = evidence("Against", "a rock", 0.1, REFUTES)
    assert titles(RelativeSelector(0.5, 5).select([undecided, against])) == ["Undecided"]
