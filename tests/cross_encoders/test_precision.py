from __future__ import annotations

import pytest
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification

from retrieval.cross_encoders import precision
from retrieval.cross_encoders.precision import in_fastest_precision

CONFIG = DistilBertConfig(
    vocab_size=50, max_position_embeddings=64, dim=8, hidden_dim=16, n_layers=1, n_heads=2
)


@pytest.fixture
def model() -> DistilBertForSequenceClassification:
    torch.manual_seed(0)
    return DistilBertForSequenceClassification(CONFIG).eval()


@pytest.fixture
def stopwatch(monkeypatch: pytest.MonkeyPatch) -> dict[torch.dtype, float]:
    """Seconds that a reading takes in each precision, for the test to set."""
    seconds = {torch.float32: 1.0, torch.bfloat16: 1.0}
    now = 0.0
    monkeypatch.setattr(precision.time, "perf_counter", lambda: now)
    forward = DistilBertForSequenceClassification.forward

    def timed(self: DistilBertForSequenceClassification, **inputs: torch.Tensor) -> object:
        nonlocal now
        now += seconds[self.dtype]
        return forward(self, **inputs)

    monkeypatch.setattr(DistilBertForSequenceClassification, "forward", timed)
    return seconds


def test_bfloat16_is_taken_where_it_is_faster(
    model: DistilBertForSequenceClassification, stopwatch: dict[torch.dtype, float]
) -> None:
    stopwatch[torch.bfloat16] = 0.5
    assert in_fastest_precision(model).dtype == torch.bfloat16
    assert model.dtype == torch.float32


@pytest.mark.parametrize("seconds", [0.9, 20.0])
def test_float32_stays_near_a_tie_and_where_bfloat16_is_emulated(
    model: DistilBertForSequenceClassification,
    stopwatch: dict[torch.dtype, float],
    seconds: float,
) -> None:
    stopwatch[torch.bfloat16] = seconds
    assert in_fastest_precision(model) is model


def test_float32_stays_where_bfloat16_says_something_else(
    model: DistilBertForSequenceClassification,
    stopwatch: dict[torch.dtype, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def damaged(model: DistilBertForSequenceClassification) -> DistilBertForSequenceClassification:
        other = type(model)(CONFIG).eval()
        with torch.no_grad():
            other.classifier.bias.fill_(0)[0] = 9.0
        return other

    stopwatch[torch.bfloat16] = 0.5
    monkeypatch.setattr(precision.copy, "deepcopy", damaged)
    assert in_fastest_precision(model) is model
