"""The opinions in a claim document: what each judge says, and whether they agree."""

from __future__ import annotations

from app.contexts import OpinionItem, Opinions
from app.wording import confidence_in, verdict_badge
from retrieval.result import ClaimResult, Judgement


def opinions(result: ClaimResult) -> Opinions | None:
    """Return the opinions of both judges, or ``None`` where only the verifier was asked."""
    given = result.verdict.opinions
    if len(given) < 2:
        return None
    first, second = (_opinion(one, by_model=result.by_model(one.judge)) for one in given)
    return Opinions(
        first=first,
        second=second,
        agree=first.badge == second.badge,
        decider=result.decider,
    )


def _opinion(opinion: Judgement, *, by_model: bool) -> OpinionItem:
    return OpinionItem(
        judge=opinion.judge,
        badge=verdict_badge(opinion.label),
        confidence=None if by_model else confidence_in(opinion.label, opinion.confidence),
        rationale=opinion.rationale,
        cites=opinion.cites,
        missing=opinion.missing,
    )
