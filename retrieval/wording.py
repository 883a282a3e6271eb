"""Texts that the pages and the command line share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias

from retrieval.recipes.config import RetrievalConfig
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Stopped

Level: TypeAlias = Literal["settled", "probably", "leans", "unsettled"]
"""How sure a verdict is, surest first."""
VERDICTS: dict[Label, str] = {
    SUPPORTS: "Supported",
    REFUTES: "Refuted",
    NOT_ENOUGH_INFO: "Not settled",
}

_STANCES: dict[Label, tuple[str, str]] = {
    SUPPORTS: ("supports", "support"),
    REFUTES: ("refutes", "refute"),
    NOT_ENOUGH_INFO: ("settles nothing", "settle nothing"),
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
NOT_SETTLED = "This corpus does not settle it."
NOTHING_SETTLES = "Nothing that was found settles"
"""Stands before the words of the claim that are open."""
VITAL = "Wikipedia introductions"
"""What people call the corpus ``vital``."""
LOWERED = "This has lowered the confidence."
BY_OCR = "read by OCR"
"""The section of what was read from a picture."""
OCR_NOTE = (
    "OCR reads letters from a picture and may misread them, numbers too; [?] is a word that it is"
    " less than 60% sure of."
)
WITH_QUANTITIES = " + quantities"
"""Follows the verifier's name in a verdict that the stage ``quantities`` had a part in."""


def level_of(label: Label, confidence: float | None, leans: Label | None) -> Level:
    """Return how sure a verdict is; ``confidence``: ``None`` where it is not known."""
    if label == NOT_ENOUGH_INFO:
        return "leans" if leans else "unsettled"
    unsure = confidence is not None and confidence < RetrievalConfig().firm_confidence
    return "probably" if unsure else "settled"


def verdict_words(label: Label, confidence: float | None, leans: Label | None) -> str:
    """Return a verdict in words that are as sure as it is: "Probably refuted"."""
    said = VERDICTS[leans or label]
    level = level_of(label, confidence, leans)
    return f"{level.capitalize()} {said.lower()}" if level in ("probably", "leans") else said


def in_percent(value: float) -> int:
    """Return a probability in whole percent; 100 only if it is 1."""
    percent = round(100 * value)
    return 99 if percent == 100 and value < 1 else percent


def certainty_words(percent: int, *, calibrated: bool) -> str:
    """Return how sure a decided verdict is; if ``calibrated``, as what can be counted."""
    return f"about {percent} of 100 such verdicts are right" if calibrated else f"{percent}% sure"


def balance_of(verdict: Label, stances: Iterable[Label]) -> dict[Label, int]:
    """Return how many sentences have each stance, those with that of the verdict first."""
    counts = Counter(stances)
    order = sorted(counts, key=lambda stance: (stance == NOT_ENOUGH_INFO, stance != verdict))
    return {stance: counts[stance] for stance in order}


def balance_words(balance: dict[Label, int]) -> str:
    """Return the balance of the evidence in a line: "2 refute · 1 supports"."""
    return " · ".join(
        f"{number} {_STANCES[stance][number > 1]}" for stance, number in balance.items()
    )
