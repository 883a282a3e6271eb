"""The statements of a claim that makes several, with their verdicts."""

from __future__ import annotations

from app.contexts import StatementItem
from app.wording import VERDICTS, confidence
from retrieval.result import ClaimResult, Verdict


def statement_items(result: ClaimResult) -> tuple[StatementItem, ...]:
    """Return the statements in the order of the claim; none if it makes only one."""
    return tuple(_item(one.text, one.verdict) for one in result.statements)


def _item(text: str, verdict: Verdict) -> StatementItem:
    shown = confidence(verdict.confidence) if verdict.rests_on_evidence else None
    return StatementItem(text, VERDICTS[verdict.label], shown)
