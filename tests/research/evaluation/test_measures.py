"""The measures, on claims and answers that are worked out by hand (``answers.py``)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from research.evaluation.measures.scores import (
    COLUMNS,
    FIGURES,
    Bin,
    accuracy_of_most_confident,
    calibration_error,
    confidence_intervals,
    figures_of,
    mean_hops,
    paired_p_values,
    reliability,
    score_matrix,
    scores_of,
    sufficiency,
)
from research.evaluation.run import Answer, AnswerHop
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.evaluation.answers import ANSWERS, CLAIMS, answer, claim

CONFIDENCE = np.array([0.95, 0.97, 0.61, 0.63, 1.0])
RIGHT = np.array([True, True, True, False, False])


def test_the_reliability_curve_has_a_point_for_each_bin_with_answers() -> None:
    low, high = reliability(CONFIDENCE, RIGHT)
    assert low == Bin(0.6, 0.7, 2, pytest.approx(0.62), 0.5)
    assert high == Bin(0.9, 1.0, 3, pytest.approx(2.92 / 3), pytest.approx(2 / 3))


def test_calibration_error_is_the_gap_weighted_by_size() -> None:
    expected = (2 * 0.12 + 3 * (2.92 / 3 - 2 / 3)) / 5
    assert calibration_error(CONFIDENCE, RIGHT) == pytest.approx(expected)


def test_without_the_least_confident_the_most_confident_remain() -> None:
    # The least confident of five is 0.61, which is right.
    assert accuracy_of_most_confident(CONFIDENCE, RIGHT, 0.8) == 2 / 4
    assert accuracy_of_most_confident(CONFIDENCE, RIGHT, 0.2) == 0.0


FIGURE = dict(zip(FIGURES, figures_of(score_matrix(CLAIMS, ANSWERS)), strict=True))


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("label_accuracy", 3 / 4),
        # A whole set is asked for, unless the claim is undecided: claims 1 and 3.
        ("fever_score", 2 / 4),
        # Precision is a mean over decided claims; recall counts claims with a whole set, even if
        # the label is wrong: 1 and 4. F1 is of the two means.
        ("evidence_precision", (2 / 3 + 1 / 2 + 1) / 3),
        ("evidence_recall", 2 / 3),
        ("evidence_f1", 2 * 13 / 18 * 2 / 3 / (13 / 18 + 2 / 3)),
        # The pages of a whole set are asked for; undecided claims are taken as right.
        ("ofever", 1),
        # Claim 1 has A second, claim 2 has D sixth, claim 4 has E first.
        ("page_recall@1", 1 / 3),
        ("page_recall@5", 2 / 3),
        ("page_recall@10", 1),
    ],
)
def test_a_figure_is_that_counted_by_hand(figure: str, value: float) -> None:
    assert FIGURE[figure] == pytest.approx(value)


def test_only_the_first_five_pieces_of_evidence_count() -> None:
    known = claim(1, SUPPORTS, [("A", 5)])
    late = answer(SUPPORTS, [("A", number) for number in range(6)], ["A"])
    assert scores_of(known, late)[:4] == [1.0, 0.0, 0.0, 0.0]


def test_the_same_page_in_another_unicode_form_is_the_same_page() -> None:
    known = claim(1, SUPPORTS, [("Caf\u00e9", 0)])
    assert scores_of(known, answer(SUPPORTS, [("Cafe\u0301", 0)], ["Cafe\u0301"]))[1:5] == [
        1,
        1,
        1,
        1,
    ]


def test_a_figure_in_which_no_claim_has_a_part_is_no_number() -> None:
    figures = figures_of(score_matrix([claim(1, NOT_ENOUGH_INFO)], [answer(NOT_ENOUGH_INFO)]))
    assert dict(zip(FIGURES, figures, strict=True))["fever_score"] == 1.0
    assert math.isnan(dict(zip(FIGURES, figures, strict=True))["evidence_f1"])


def scores(first_column: list[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    matrix = np.zeros((len(first_column), len(COLUMNS)))
    matrix[:, 0] = first_column
    return matrix


def test_an_interval_contains_the_figure_and_narrows_with_more_claims() -> None:
    few = confidence_intervals(scores([0.0, 1.0] * 20), range(40))[0]
    many = confidence_intervals(scores([0.0, 1.0] * 500), range(1000))[0]
    assert few[0] < 0.5 < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    # Normal approximation: 1.96 * sqrt(0.25 / 1000) = 0.031 to either side.
    assert abs(many[1] - 0.531) < 0.005
    assert abs(many[0] - 0.469) < 0.005


def test_ten_claims_that_differ_in_one_direction_have_the_probability_of_ten_coins() -> None:
    # Ten pairs, all won: two-sided 2 / 2^10 = 0.00195.
    p = paired_p_values(scores([1.0] * 10), scores([0.0] * 10), range(10))[0]
    assert abs(p - 2 / 2**10) < 0.002
    assert p > 0


def test_ten_claims_about_two_pages_are_no_more_than_two_coins() -> None:
    # Two groups, both won: of four ways that the coins fall, two differ as much.
    p = paired_p_values(scores([1.0] * 10), scores([0.0] * 10), ["a"] * 5 + ["b"] * 5)[0]
    assert abs(p - 0.5) < 0.04


LEFT, ON_THE_RIGHT = ("L", 0), ("R", 0)


TWO_PAGES = [claim(number, SUPPORTS, [LEFT, ON_THE_RIGHT]) for number in range(4)]


def asked(*best: tuple[str, int], sufficient: bool, label: Label, hops: int = 1) -> Answer:
    first = AnswerHop(sufficient, label, best)
    return answer(SUPPORTS, hops=[first, *[AnswerHop(True, SUPPORTS, best)] * (hops - 1)])


HOPS = [
    # Both sentences are there and it stops, which is right.
    asked(LEFT, ON_THE_RIGHT, sufficient=True, label=SUPPORTS),
    # Both are there and it continues: called insufficient, but is not.
    asked(LEFT, ON_THE_RIGHT, sufficient=False, label=SUPPORTS, hops=3),
    # One is missing and it continues, although there was a verdict.
    asked(LEFT, sufficient=False, label=REFUTES, hops=2),
    # One is missing and it stops, although the verdict was NOT ENOUGH INFO.
    asked(ON_THE_RIGHT, ("X", 1), sufficient=True, label=NOT_ENOUGH_INFO),
]


def test_the_first_hop_of_claims_with_several_pages_is_counted_by_hand() -> None:
    found = sufficiency(TWO_PAGES, HOPS)
    assert found is not None
    assert (found.claims, found.insufficient) == (4, 2)
    assert (found.own.precision, found.own.recall) == (0.5, 0.5)
    assert (found.verdict.precision, found.verdict.recall) == (1.0, 0.5)
    assert (found.always.precision, found.always.recall) == (0.5, 1.0)
    assert (found.never.precision, found.never.recall) == (None, 0.0)


def test_systems_without_hops_are_left_out() -> None:
    assert sufficiency(TWO_PAGES[:1], [answer(SUPPORTS)]) is None
    assert mean_hops([answer(SUPPORTS)]) is None
