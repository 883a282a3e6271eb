"""The confidence of a verdict where two judges were asked."""

from __future__ import annotations

from retrieval.types import LABELS, Label

# Assumed probability that a language model's label is right; its errors are spread equally over the
# other labels. `esoteric evaluate --llm` measures the real value for a model.
RELIABILITY = 2 / 3
# Both judges read the same sentences and make the same errors, so the verifier counts for half of
# what an independent judge would (this is a power of its probabilities).
INDEPENDENCE = 0.5


def confidence_of(label: Label, verifier: Label, confidence: float) -> float:
    """Return the probability of the language model's label, given what the verifier says.

    The verifier's ``confidence`` is calibrated; the rest is spread equally over the other labels.
    Raised to the power ``INDEPENDENCE``, these are the prior probabilities. The model's label is
    evidence that is right with the probability ``RELIABILITY`` (Bayes' rule). A confidence stated
    by the model is not used.
    """
    others = len(LABELS) - 1
    theirs: float = confidence**INDEPENDENCE
    each: float = ((1 - confidence) / others) ** INDEPENDENCE
    before = (theirs if label == verifier else each) / (theirs + others * each)
    right = RELIABILITY * before
    wrong = (1 - RELIABILITY) / others * (1 - before)
    return right / (right + wrong)
