"""Texts that the pages and the command line share."""

from __future__ import annotations

from retrieval.config import RetrievalConfig
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Stopped

VERDICTS: dict[Label, str] = {
    SUPPORTS: "Supported",
    REFUTES: "Refuted",
    NOT_ENOUGH_INFO: "Not enough information",
}

STOPPED: dict[Stopped, str] = {
    "proved": "every part of the claim is covered",
    "decided": "the evidence was enough to decide",
    "unchanged": "the best sentences no longer changed",
    "nothing new": "nothing new was found",
    "hops": "the limit of hops was reached",
    "time": "the time allowed was used up",
}
PROOF_DIFFERS = "Read part by part, the evidence does not give the same verdict."
BY_OCR = "read by OCR"
"""The section of what was read from a picture."""
OCR_NOTE = (
    "OCR reads letters from a picture and may misread them, numbers too; [?] is a word that it is"
    " less than 60% sure of."
)
WITH_QUANTITIES = " + quantities"
"""Follows the verifier's name in a verdict that the stage ``quantities`` had a part in."""


def verdict_words(label: Label, confidence: float | None, leans: Label | None) -> str:
    """Return a verdict in words that are as sure as it is.

    ``confidence``: ``None`` where it is not known; it is never said of NOT ENOUGH INFO.
    """
    if leans is not None:
        return f"Not settled, leans towards {VERDICTS[leans].lower()}"
    unsure = confidence is not None and confidence < RetrievalConfig().firm_confidence
    if label != NOT_ENOUGH_INFO and unsure:
        return f"Probably {VERDICTS[label].lower()}"
    return VERDICTS[label]


def against_words(number: int) -> str:
    """Return how many sentences are against a verdict; there is at least one."""
    return "1 sentence says the opposite" if number == 1 else f"{number} sentences say the opposite"
