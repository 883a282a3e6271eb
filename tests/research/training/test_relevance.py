from __future__ import annotations

import numpy as np
import pytest

from research.training.loop import labelled
from research.training.relevance import distilled
from retrieval.types import REFUTES


def test_a_target_is_seven_tenths_opinion_and_three_tenths_label() -> None:
    example = labelled("The pier is made of iron.", "Pier : It is made of wood.", REFUTES)
    (taught,) = distilled([example], np.array([[0.2, 0.5, 0.3]], dtype=np.float32))
    assert (taught.claim, taught.evidence) == (example.claim, example.evidence)
    # 0.7 * 0.2, 0.7 * 0.5 + 0.3, 0.7 * 0.3
    assert taught.target == pytest.approx((0.14, 0.65, 0.21))
