from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.reranking.cross_encoder_reranker import CrossEncoderReranker
from retrieval.types import REFUTES, SUPPORTS
from tests.evidence import evidence

CLAIM = "The pier is made of iron."
OPINIONS = {
    "Pier : It is long.": (0.0, 0.1, 0.9),
    "Pier : It is made of wood.": (0.1, 0.9, 0.0),
}


class Second:
    """What a second model might say of two sentences; others it must not be asked for."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.array([OPINIONS[text] for _, text in pairs], dtype=np.float32).reshape(-1, 3)


RERANKER = CrossEncoderReranker(cast(CrossEncoder, Second()), limit=2)


FOUND = [
    evidence("Pier", "It is long.", 0.8, SUPPORTS),
    evidence("Pier", "It is made of wood.", 0.6, REFUTES),
    evidence("Quay", "It is made of stone.", 0.5, REFUTES),
]


def test_both_readings_count_the_same_and_what_was_read_once_stays_behind() -> None:
    reranked = RERANKER.run(CLAIM, FOUND, keep_order=False)["evidence"]
    assert [item.sentence.text for item in reranked] == [
        "It is made of wood.",
        "It is long.",
        "It is made of stone.",
    ]
    # (0 + 0.1) / 2, (0.6 + 0.9) / 2, (0.4 + 0) / 2
    assert reranked[0].opinion == pytest.approx((0.05, 0.75, 0.2))
    # (0.8 + 0) / 2, (0 + 0.1) / 2, (0.2 + 0.9) / 2
    assert reranked[1].opinion == pytest.approx((0.4, 0.05, 0.55))
    assert reranked[2].opinion == (0.0, 0.5, 0.5)


def test_an_order_that_owes_to_paths_is_kept() -> None:
    reranked = RERANKER.run(CLAIM, FOUND, keep_order=True)["evidence"]
    assert [item.key for item in reranked] == [item.key for item in FOUND]
    assert reranked[1].opinion == pytest.approx((0.05, 0.75, 0.2))


def test_without_evidence_nothing_is_read() -> None:
    assert RERANKER.run(CLAIM, [], keep_order=False) == {"evidence": []}
