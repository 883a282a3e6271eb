"""The statements of a claim that makes several, with their verdicts."""

from __future__ import annotations

from app.contexts import StatementItem
from app.wording import confidence_in, verdict_badge
from retrieval.result import ClaimResult, Verdict


def statement_items(result: ClaimResult) -> tuple[StatementItem, ...]:
    """Return the statements in the order of the claim; none if it makes only one."""
    return tuple(_item(one.text, one.verdict) for one in result.statements)


def _item(text: str, verdict: Verdict) -> StatementItem:
    badge = verdict_badge(verdict.label, verdict.confidence, verdict.leans)
    return StatementItem(text, badge, confidence_in(verdict.label, verdict.confidence))
