"""The confidence of a verdict if two judges were asked."""

from __future__ import annotations

from retrieval.recipes.config import LANGUAGE_MODEL
from retrieval.types import LABELS, Label


def confidence_of(label: Label, verifier: Label, confidence: float) -> float:
    """Return the probability of the language model's label, given the verifier's label.

    The verifier's ``confidence`` is calibrated; the rest is spread equally over the other labels.
    Raised to the power ``independence``, these are the prior probabilities. The model's label is
    evidence that is right with the probability ``reliability`` (Bayes' rule). A confidence stated
    by the model is not used.
    """
    reliability, independence = LANGUAGE_MODEL.reliability, LANGUAGE_MODEL.independence
    others = len(LABELS) - 1
    of_verifier: float = confidence**independence
    of_each_other: float = ((1 - confidence) / others) ** independence
    prior = (of_verifier if label == verifier else of_each_other) / (
        of_verifier + others * of_each_other
    )
    right = reliability * prior
    wrong = (1 - reliability) / others * (1 - prior)
    return right / (right + wrong)
