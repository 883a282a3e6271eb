from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.stages.read.fusion import PathFusion, hybrid_scores
from retrieval.types import Evidence, SentenceKey
from tests.support.evidence import evidence
from tests.support.states import state_of


def after(title: str, score: float, *path: Evidence) -> Evidence:
    return replace(evidence(title, "text", score), path=tuple(item.key for item in path))


A, B, C = (evidence(t, "text", s) for t, s in (("A", 0.8), ("B", 0.5), ("C", 0.2)))


def ranked(found: list[Evidence], paths: list[Evidence], threshold: float = 0.1) -> list[Evidence]:
    return PathFusion(threshold, hybrid_weight=1.0).rank(found, paths)


def test_without_paths_the_order_is_that_of_the_sentences_alone() -> None:
    assert [item.title for item in ranked([A, B, C], [])] == ["A", "B", "C"]


def test_a_strong_path_lifts_its_sentences() -> None:
    # Alone A, B, C are 1, 0.5, 0 of the range from 0.2 to 0.8. Of the paths, A with D has
    # 0.8 * 0.9 and C with E 0.2 * 0.6: 1 and 0 of their range.
    found = ranked([A, B, C], [after("D", 0.9, A), after("E", 0.6, C)])
    assert [item.title for item in found] == ["A", "D", "B", "E", "C"]
    assert found[1].path == (A.key,)


def test_a_weak_path_is_left_out() -> None:
    assert [item.title for item in ranked([A, B], [after("D", 0.1, A)], 0.1)] == ["A", "B"]


def test_a_path_that_reaches_the_threshold_counts() -> None:
    # 0.8 * 0.5 = 0.4
    assert "D" in [item.title for item in ranked([A, B], [after("D", 0.5, A)], 0.4)]
    assert "D" not in [item.title for item in ranked([A, B], [after("D", 0.5, A)], 0.41)]


def test_ties_are_broken_by_the_higher_score_of_both_readings() -> None:
    # Z is the only sentence read alone: 0 of its range. Of the paths Z with B is 1, Z with C 0.
    z = evidence("Z", "text", 0.95)
    found = ranked([z], [after("B", 0.5, z), after("C", 0.2, z)])
    assert [item.title for item in found] == ["Z", "B", "C"]


def test_a_sentence_keeps_the_reading_with_the_higher_score() -> None:
    surer = after("C", 0.9, A)
    found = {item.title: item for item in ranked([A, B, C], [surer, after("B", 0.3, A)])}
    assert found["C"] == surer
    assert found["B"] == B


def test_a_later_sentence_has_its_score_when_read_after_the_first() -> None:
    second = after("D", 0.9, A)
    third = after("E", 0.9, A, second)
    # 0.8 * 0.9 * 0.9 = 0.648
    assert "E" in [item.title for item in ranked([A, B], [second, third], 0.64)]
    assert "E" not in [item.title for item in ranked([A, B], [second, third], 0.65)]


def test_a_path_through_a_sentence_that_says_nothing_alone_does_not_count() -> None:
    stranger = SentenceKey("Nowhere", 0)
    lost = replace(evidence("D", "text", 0.9), path=(stranger,))
    assert [item.title for item in ranked([A], [lost])] == ["A"]


def test_scaled_paths_are_ranked_below_sentences_that_they_would_outdo() -> None:
    # The path's score of 0.9 counts as 0.45: less than B's 0.5, more than C's 0.2.
    paths = [after("D", 0.9, A), after("C", 0.9, A), after("B", 0.9, A)]
    found = PathFusion(0.0, hybrid_weight=None, scale=0.5).rank([A, B, C], paths)
    assert [(item.title, item.score) for item in found] == [
        ("A", 0.8),
        ("B", 0.5),
        ("C", 0.9),
        ("D", 0.9),
    ]


def test_passages_keep_what_earlier_hops_ranked_and_the_verifier_dropped() -> None:
    state = state_of(
        "A claim.",
        ranked=(A,),
        paths=(after("B", 0.9, A),),
        evidence=(B, C),
        passages=(B.key, C.key),
    )
    found = PathFusion(0.1, hybrid_weight=None).run(replace(state, evidence=(B,))).state
    assert found.passages == (B.key, A.key, C.key)
    assert [item.title for item in found.evidence] == ["B", "A"]


PIER, LAMP, ISLE, BELL, WELL = (
    SentenceKey(page, 0) for page in ("Pier", "Lamp", "Isle", "Bell", "Well")
)


@pytest.mark.parametrize(
    ("single", "paths", "weight", "scores"),
    [
        (  # Scores alone are 1, 0.5 and 0 of their range; the paths have 0.72 and 0.2: 1 and 0.
            {PIER: 0.9, LAMP: 0.5, ISLE: 0.1},
            [[(PIER, 0.9), (BELL, 0.8)], [(LAMP, 0.5), (ISLE, 0.4)]],
            0.5,
            {PIER: 1.5, BELL: 0.5, LAMP: 0.5, ISLE: 0},
        ),
        (  # A sentence counts with the best of its paths: 0.2, 0.6 and 0.4, so 0, 1 and 0.5.
            {},
            [[(PIER, 1), (LAMP, 0.2)], [(PIER, 1), (ISLE, 0.6)], [(PIER, 1), (BELL, 0.4)]],
            0.8,
            {ISLE: 0.8, PIER: 0.8, BELL: 0.4, LAMP: 0},
        ),
        (  # Three steps are multiplied: 0.125, 0.1 and 0.15.
            {},
            [[(PIER, 0.5), (LAMP, 0.5), (ISLE, 0.5)], [(PIER, 0.5), (BELL, 0.2)], [(WELL, 0.15)]],
            1,
            {PIER: 0.5, LAMP: 0.5, ISLE: 0.5, BELL: 0, WELL: 1},
        ),
        # Without paths the scores are those of the claim; one path alone changes no order.
        ({PIER: 0.2, LAMP: 0.6, ISLE: 0.4}, [], 0.5, {LAMP: 1, ISLE: 0.5, PIER: 0}),
        ({PIER: 0.2, LAMP: 0.6}, [[(PIER, 0.9), (BELL, 0.9)]], 0.5, {LAMP: 1, BELL: 0, PIER: 0}),
        ({PIER: 0.7}, [], 0.5, {PIER: 0}),
        ({}, [], 0.5, {}),
    ],
)
def test_hybrid_scores_are_those_of_m3s_algorithm_1(
    single: dict[SentenceKey, float],
    paths: list[list[tuple[SentenceKey, float]]],
    weight: float,
    scores: dict[SentenceKey, float],
) -> None:
    assert hybrid_scores(single, paths, weight) == pytest.approx(scores)
