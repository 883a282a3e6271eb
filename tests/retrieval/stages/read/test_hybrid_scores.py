"""M3's algorithm 1, worked out by hand."""

from __future__ import annotations

import pytest

from retrieval.stages.read.fusion import hybrid_scores
from retrieval.types import SentenceKey

PIER, LAMP, ISLE, BELL = (SentenceKey(page, 0) for page in ("Pier", "Lamp", "Isle", "Bell"))


def test_both_kinds_of_scores_are_spread_over_zero_to_one_and_added() -> None:
    single = {PIER: 0.9, LAMP: 0.5, ISLE: 0.1}  # spread: 1, 0.5, 0
    paths = [
        [(PIER, 0.9), (BELL, 0.8)],  # 0.72
        [(LAMP, 0.5), (ISLE, 0.4)],  # 0.2
    ]  # spread: Pier and Bell 1, Lamp and Isle 0
    scores = hybrid_scores(single, paths, weight=0.5)
    assert scores == pytest.approx({PIER: 1.5, BELL: 0.5, LAMP: 0.5, ISLE: 0.0})


def test_a_sentence_on_two_paths_counts_with_the_better_one() -> None:
    paths = [
        [(PIER, 1.0), (LAMP, 0.2)],  # 0.2
        [(PIER, 1.0), (ISLE, 0.6)],  # 0.6
        [(PIER, 1.0), (BELL, 0.4)],  # 0.4
    ]  # spread: Pier and Isle 1, Bell 0.5, Lamp 0
    scores = hybrid_scores({}, paths, weight=0.8)
    assert scores == pytest.approx({ISLE: 0.8, PIER: 0.8, BELL: 0.4, LAMP: 0.0})


def test_three_steps_are_multiplied() -> None:
    paths = [
        [(PIER, 0.5), (LAMP, 0.5), (ISLE, 0.5)],  # 0.125
        [(PIER, 0.5), (BELL, 0.2)],  # 0.1
        [(SentenceKey("Well", 3), 0.15)],  # 0.15
    ]
    scores = hybrid_scores({}, paths, weight=1.0)
    assert scores[SentenceKey("Well", 3)] == 1.0
    assert scores[ISLE] == pytest.approx(0.5)  # (0.125 - 0.1) / (0.15 - 0.1)
    assert scores[BELL] == 0.0


def test_without_paths_the_scores_are_those_of_the_claim() -> None:
    single = {PIER: 0.2, LAMP: 0.6, ISLE: 0.4}
    scores = hybrid_scores(single, [], weight=0.5)
    assert scores == pytest.approx({LAMP: 1.0, ISLE: 0.5, PIER: 0.0})


def test_one_path_alone_changes_no_order() -> None:
    single = {PIER: 0.2, LAMP: 0.6}
    scores = hybrid_scores(single, [[(PIER, 0.9), (BELL, 0.9)]], weight=0.5)
    assert scores == {LAMP: 1.0, BELL: 0.0, PIER: 0.0}


def test_a_single_sentence_scores_zero() -> None:
    assert hybrid_scores({PIER: 0.7}, [], weight=0.5) == {PIER: 0.0}


def test_nothing_found_has_no_scores() -> None:
    assert hybrid_scores({}, [], weight=0.5) == {}


def test_the_arguments_are_not_changed() -> None:
    single = {PIER: 0.9, LAMP: 0.5}
    hybrid_scores(single, [[(PIER, 0.9), (BELL, 0.8)]], weight=0.5)
    assert single == {PIER: 0.9, LAMP: 0.5}
