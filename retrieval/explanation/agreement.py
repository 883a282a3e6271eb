"""How sure a verdict is that two judges were asked for."""

from __future__ import annotations

from retrieval.types import LABELS, Label

# How often a language model's label is taken to be right; its errors fall on the other labels
# alike. An assumption: `esoteric evaluate --llm` shows what holds for a model.
RELIABILITY = 0.8


def confidence_of(label: Label, verifier: Label, confidence: float) -> float:
    """Return the probability of the language model's label, given what the verifier says.

    The verifier's ``confidence`` is calibrated; what is left of it falls on the other labels alike.
    The model is a witness that is right with the probability ``RELIABILITY``, independently (Bayes'
    rule). Its own number, if it gave one, would count for nothing.
    """
    others = len(LABELS) - 1
    before = confidence if label == verifier else (1 - confidence) / others
    right = RELIABILITY * before
    wrong = (1 - RELIABILITY) / others * (1 - before)
    return right / (right + wrong)
