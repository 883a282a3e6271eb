from __future__ import annotations

import numpy as np
import pytest

from research.evaluation.measures.calibration import (
    Bin,
    accuracy_of_most_confident,
    calibration_error,
    reliability,
)

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
