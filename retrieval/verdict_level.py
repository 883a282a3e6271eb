"""How sure a verdict is: one of four levels.

``stages/decide/verdict.py`` decides: below ``decided_cutoff`` of the recipe a verdict only leans to
its label. What is decided is "probably" below ``FIRM_CONFIDENCE``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from retrieval.types import NOT_ENOUGH_INFO, Label

Level: TypeAlias = Literal["settled", "probably", "leans", "unsettled"]
"""How sure a verdict is, surest first."""

# Below this confidence a verdict is worded as "probably", and its rationale says only what the
# evidence seems to do.
FIRM_CONFIDENCE = 0.7


def is_firm(confidence: float) -> bool:
    """Return whether a decided verdict needs no "probably"."""
    return confidence >= FIRM_CONFIDENCE


def level_of(label: Label, confidence: float | None, leans: Label | None) -> Level:
    """Return how sure a verdict is; ``confidence``: ``None`` where it is not known."""
    if label == NOT_ENOUGH_INFO:
        return "leans" if leans else "unsettled"
    return "settled" if confidence is None or is_firm(confidence) else "probably"
