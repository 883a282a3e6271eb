"""How sure the verifier is of given evidence."""

from __future__ import annotations

import numpy as np
import pytest

from research.training.verifier.scaling import fitted_scaling
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS


def test_a_verifier_that_is_as_sure_as_it_is_right_stays_as_it_is() -> None:
    opinions = np.array([[0.8, 0.1, 0.1]] * 10, dtype=np.float32)
    labels = [SUPPORTS] * 8 + [REFUTES] + [NOT_ENOUGH_INFO]
    assert fitted_scaling(opinions, labels) == (pytest.approx(1.0), (0.0, 0.0, 0.0))


def test_a_verifier_that_leaves_too_much_undecided_gets_a_bias_against_it_and_no_other() -> None:
    # Of ten such opinions three are undecided, though each says that half of them are.
    opinions = np.array([[0.5, 0.0, 0.5]] * 10, dtype=np.float32)
    _, bias = fitted_scaling(opinions, [SUPPORTS] * 7 + [NOT_ENOUGH_INFO] * 3)
    assert str(bias) == "(0.0, 0.0, -0.85)"  # log(3 / 7) is -0.847


def test_a_verifier_that_is_too_sure_gets_a_temperature_above_1() -> None:
    sure = np.array([[0.9, 0.05, 0.05]] * 10 + [[0.05, 0.9, 0.05]] * 10, dtype=np.float32)
    labels = [SUPPORTS] * 6 + [REFUTES] * 4 + [REFUTES] * 6 + [SUPPORTS] * 4
    temperature, _ = fitted_scaling(sure, labels)
    assert temperature > 1.5
