"""The opinions in a claim document: what each judge says, and whether they agree."""

from __future__ import annotations

from typing import Any

from app.contexts import OpinionItem, Opinions
from app.wording import VERDICTS, confidence
from retrieval.wording import decider


def opinions(result: dict[str, Any]) -> Opinions | None:
    """Return the opinions of both judges, or ``None`` where the verifier alone was asked."""
    # Results that are kept from before have no opinions.
    given = result["verdict"].get("opinions", [])
    if len(given) < 2:
        return None
    model = result["usage"]["model"]
    first, second = (_opinion(opinion, model) for opinion in given)
    return Opinions(
        first=first,
        second=second,
        agree=first.badge == second.badge,
        decider=decider(result),
    )


def _opinion(opinion: dict[str, Any], model: str) -> OpinionItem:
    return OpinionItem(
        judge=opinion["judge"],
        badge=VERDICTS[opinion["label"]],
        confidence=None if opinion["judge"] == model else confidence(opinion["confidence"]),
        rationale=opinion["rationale"],
        cites=tuple(opinion["cites"]),
        missing=opinion["missing"],
    )
