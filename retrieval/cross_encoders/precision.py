"""Which arithmetic a model computes in, found out on the processor at hand.

bfloat16 takes half the time of float32 where the processor multiplies it and
many times as long where it is emulated, so neither can be hoped for.
"""

from __future__ import annotations

import copy
import time

import torch
from transformers import DistilBertForSequenceClassification

FASTER = 1.2  # what bfloat16 must win: near a tie, noise must not choose
AGREES = 0.02  # most that a probability may differ
_READINGS, _TOKENS, _ROUNDS = 8, 48, 3


def in_fastest_precision(
    model: DistilBertForSequenceClassification,
) -> DistilBertForSequenceClassification:
    """Return the model in bfloat16 if that is faster here and says the same, else as it is."""
    rounded = copy.deepcopy(model).to(torch.bfloat16)  # type: ignore[arg-type]
    tokens = torch.arange(_READINGS * _TOKENS).reshape(_READINGS, _TOKENS)
    said, seconds = _measured(model, tokens % model.config.vocab_size)
    rounded_said, rounded_seconds = _measured(rounded, tokens % model.config.vocab_size)
    agrees = bool((said - rounded_said).abs().max() <= AGREES)
    return rounded if agrees and seconds >= FASTER * rounded_seconds else model


def _measured(
    model: DistilBertForSequenceClassification, tokens: torch.Tensor
) -> tuple[torch.Tensor, float]:
    """Return the probabilities and the least seconds of a few rounds; the first warms up."""
    fastest = float("inf")
    for _ in range(1 + _ROUNDS):
        started = time.perf_counter()
        with torch.inference_mode():
            logits = model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits
        fastest = min(fastest, time.perf_counter() - started)
    return torch.softmax(logits.float(), dim=-1), fastest
