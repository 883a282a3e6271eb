from __future__ import annotations

import numpy as np

from research.evaluation.measures.scores import COLUMNS
from research.evaluation.measures.significance import confidence_intervals, paired_p_values


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


def test_a_figure_that_never_varies_has_no_width() -> None:
    low, high = confidence_intervals(scores([1.0] * 30), range(30))[0]
    assert (low, high) == (1.0, 1.0)


def test_the_same_answers_differ_by_chance_alone() -> None:
    same = scores([0.0, 1.0] * 20)
    assert paired_p_values(same, same, range(40))[0] == 1.0


def test_ten_claims_that_differ_in_one_direction_have_the_probability_of_ten_coins() -> None:
    # Ten pairs, all won: two-sided 2 / 2^10 = 0.00195.
    p = paired_p_values(scores([1.0] * 10), scores([0.0] * 10), range(10))[0]
    assert abs(p - 2 / 2**10) < 0.002
    assert p > 0


def test_claims_that_are_right_and_wrong_together_count_as_one() -> None:
    # Each group is two equal claims: as wide as 500 claims, 1.96 * sqrt(0.25 / 500) = 0.044.
    pairs = scores([0.0, 0.0, 1.0, 1.0] * 250)
    low, high = confidence_intervals(pairs, [row // 2 for row in range(1000)])[0]
    assert abs(high - 0.544) < 0.006
    assert abs(low - 0.456) < 0.006


def test_ten_claims_about_two_pages_are_no_more_than_two_coins() -> None:
    # Two groups, both won: of four ways that the coins fall, two differ as much.
    p = paired_p_values(scores([1.0] * 10), scores([0.0] * 10), ["a"] * 5 + ["b"] * 5)[0]
    assert abs(p - 0.5) < 0.04
