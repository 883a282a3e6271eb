from __future__ import annotations

import numpy as np
import pytest

from evaluation.measures.calibration import calibration_error
from training.figures import temperature_of, verdict_figures


def test_calibration_error_is_the_gap_between_confidence_and_accuracy_weighted_by_size() -> None:
    # Bin 0.9: three at 0.95, two right: gap |0.95 - 2/3| = 0.28333, weight 3/4.
    # Bin 0.5: one at 0.55, right: gap 0.45, weight 1/4.
    confidence = np.array([0.95, 0.95, 0.95, 0.55])
    right = np.array([True, True, False, True])
    assert calibration_error(confidence, right) == pytest.approx(
        0.28333 * 0.75 + 0.45 * 0.25, abs=1e-4
    )


def test_a_model_that_is_right_half_as_often_as_it_thinks_is_cooled_down() -> None:
    sure = np.array([[0.98, 0.01, 0.01]] * 4, dtype=np.float32)
    assert temperature_of(sure, [0, 0, 1, 2]) > 1.5
    assert temperature_of(sure, [0, 0, 0, 0]) == 0.5


def test_verdict_figures_of_four_claims() -> None:
    # Supported, refuted, undecided, supported; the last is called refuted.
    probability = np.array(
        [[0.8, 0.1, 0.1], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8], [0.3, 0.6, 0.1]], dtype=np.float32
    )
    figures = verdict_figures(probability, [0, 1, 2, 0], temperature=1.0)
    assert figures["label_accuracy"] == 50.0  # the first and the third
    assert figures["stance_right"] == pytest.approx(200 / 3)  # the first and the second of three
