from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.figures import DevClaims, read_claims, reading_figures, temperature_of
from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS

SENTENCES = [
    PoolSentence("Pier", 0, "Pier", "It is long."),
    PoolSentence("Pier", 1, "Pier", "It is made of wood."),
    PoolSentence("Lamp", 0, "Lamp", "It is red."),
]
CLAIMS = [
    AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),)),
    AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 1),),)),
    AnnotatedClaim("The lamp is bright.", NOT_ENOUGH_INFO, ()),
]
DEV = DevClaims(
    CLAIMS,
    [[0, 1], [0, 1], [2]],
    cast(SentencePool, SimpleNamespace(sentences=SENTENCES)),
)
# What a model might say: SUPPORTS, REFUTES, NOT ENOUGH INFO.
OPINIONS = {
    ("The pier is long.", "Pier : It is long."): (0.9, 0.0, 0.1),
    ("The pier is long.", "Pier : It is made of wood."): (0.1, 0.0, 0.9),
    ("The pier is made of iron.", "Pier : It is long."): (0.0, 0.1, 0.9),
    ("The pier is made of iron.", "Pier : It is made of wood."): (0.5, 0.3, 0.2),
    ("The lamp is bright.", "Lamp : It is red."): (0.35, 0.0, 0.65),
}


def read(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    return np.array([OPINIONS[pair] for pair in pairs], dtype=np.float32)


def test_a_model_that_is_right_half_as_often_as_it_thinks_is_cooled_down() -> None:
    sure = np.array([[0.98, 0.01, 0.01]] * 4, dtype=np.float32)
    assert temperature_of(sure, [0, 0, 1, 2]) > 1.5
    assert temperature_of(sure, [0, 0, 0, 0]) == 0.5


def test_the_best_sentence_is_read_alone_and_the_selected_ones_together() -> None:
    readings = read_claims(read, DEV)
    best = [items[0].sentence.text for items in readings.ranked]
    assert best == ["It is long.", "It is made of wood.", "It is red."]
    # In each claim one sentence stands out, so it is all that is read together.
    assert np.array_equal(readings.together, readings.alone)
    assert set(readings.gold) == {0, 1}


def test_figures_of_three_claims() -> None:
    figures = reading_figures(read_claims(read, DEV), CLAIMS)
    assert figures["gold_in_first_five"] == 100.0
    assert figures["stance_right"] == 50.0  # the wooden pier leans to SUPPORTS
    assert figures["alone"] == figures["pooled"] == pytest.approx(200 / 3)
    # Confidences 0.9 right, 0.5 wrong, 0.65 right: a third each of 0.1, 0.5 and 0.35. A probability
    # of 0 counts as 0.0001.
    assert figures["calibration_error"] == pytest.approx((0.1 + 0.5 + 0.35) / 3, abs=1e-3)
