"""How sure a verdict is that two judges were asked for."""

from __future__ import annotations

from retrieval.types import LABELS, Label

# How often a language model's label is taken to be right; its errors fall on the other labels
# alike. An assumption: `esoteric evaluate --llm` shows what holds for a model.
RELIABILITY = 2 / 3
# Both judges read the same sentences and err on the same claims, so the verifier's word counts for
# half of what that of an independent witness would (a power of its probabilities).
INDEPENDENCE = 0.5


def confidence_of(label: Label, verifier: Label, confidence: float) -> float:
    """Return the probability of the language model's label, given what the verifier says.

    The verifier's ``confidence`` is calibrated; what is left of it falls on the other labels alike.
    Tempered by ``INDEPENDENCE``, it is what is believed before; the model is a witness that is
    right with the probability ``RELIABILITY`` (Bayes' rule). Its own number, if it gave one, would
    count for nothing.
    """
    others = len(LABELS) - 1
    theirs: float = confidence**INDEPENDENCE
    each: float = ((1 - confidence) / others) ** INDEPENDENCE
    before = (theirs if label == verifier else each) / (theirs + others * each)
    right = RELIABILITY * before
    wrong = (1 - RELIABILITY) / others * (1 - before)
    return right / (right + wrong)
