"""The wordings that are tried: those of the product, and two that did worse."""

from __future__ import annotations

from retrieval.llm_judge.local_model import LETTERS, SYSTEM, YES_NO, YES_NO_QUESTION, Wording

_TRUE_FALSE = "{evidence}\nQuestion: {claim} True, False or Neither?"

WORDINGS = (
    Wording("yes-no", SYSTEM, YES_NO_QUESTION, YES_NO.answers, examples=False),
    YES_NO,
    Wording("true-false, examples", SYSTEM, _TRUE_FALSE, ("True", "False", "Neither"), True),
    LETTERS,
)
