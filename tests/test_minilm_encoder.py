from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from retrieval.encoders.minilm_encoder import MiniLMEncoder

pytestmark = pytest.mark.models

TEXTS = ["The pier is long.", "Ann Lee designed a lighthouse in Scotland.", "Cats sleep."]


def encoded(monkeypatch: pytest.MonkeyPatch, has_bfloat16: bool) -> NDArray[np.float32]:
    """Encode on a processor that has, or has not, instructions for bfloat16."""
    abilities = {"avx2": True, "avx512_bf16": has_bfloat16, "amx_bf16": False}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: abilities)
    encoder = MiniLMEncoder()
    vectors = encoder.encode(TEXTS)
    precision = torch.bfloat16 if has_bfloat16 else torch.float32
    assert next(encoder._model.parameters()).dtype == precision
    return vectors


def test_vectors_of_either_precision_fit_an_index_of_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounded, exact = encoded(monkeypatch, True), encoded(monkeypatch, False)
    assert np.linalg.norm(exact, axis=1) == pytest.approx(1, abs=1e-6)
    assert np.linalg.norm(rounded, axis=1) == pytest.approx(1, abs=1e-6)
    assert (rounded * exact).sum(axis=1).min() > 0.999
