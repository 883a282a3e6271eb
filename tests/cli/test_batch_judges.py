"""Which verdicts an interrupted batch keeps: those of the judges in the current settings."""

from __future__ import annotations

from typing import Any

import pytest

from cli.batch import Made
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.result import ClaimResult
from retrieval.types import CorpusInfo
from tests.app.claim_documents import (
    claim_document,
    document_with_a_model,
    document_without_evidence,
)

CLAIM = "The Lighthouse of Varn was built in 1874."
VERIFIER = "cross-encoder-1"
CORPUS = CorpusInfo(name="vital", documents=9842, built_at="2026-11-20T09:30:00Z")


def made(*, model: bool, decides: bool = True) -> Made:
    choice = LanguageModelChoice("small", "http://models.example:8080/v1", "", decides)
    return Made("esoteric", VERIFIER, choice if model else None, CORPUS)


def unanswered() -> dict[str, Any]:
    """Return a document whose language model was asked and gave no answer."""
    document = claim_document(CLAIM)
    document["seconds"]["explain"] = 20.0
    return document


def judged(judge: str) -> dict[str, Any]:
    document = claim_document(CLAIM)
    document["verdict"]["judge"] = judge
    for opinion in document["verdict"]["opinions"]:
        opinion["judge"] = judge
    return document


@pytest.mark.parametrize(
    ("document", "settings", "kept"),
    [
        (claim_document(CLAIM), made(model=False), True),
        (claim_document(CLAIM), made(model=True), False),
        (judged("other"), made(model=False), False),
        (judged(f"{VERIFIER} + quantities"), made(model=False), True),  # arithmetic had a part in
        (unanswered(), made(model=True), True),
        (document_without_evidence(CLAIM), made(model=True), True),
        (document_with_a_model(CLAIM, "REFUTES"), made(model=True), True),
        (document_with_a_model(CLAIM, "REFUTES"), made(model=False), False),
        (document_with_a_model(CLAIM, "REFUTES"), made(model=True, decides=False), False),
        (
            document_with_a_model(CLAIM, "REFUTES", decides=False),
            made(model=True, decides=False),
            True,
        ),
    ],
)
def test_a_verdict_is_kept_if_the_same_judges_were_asked(
    document: dict[str, Any], settings: Made, kept: bool
) -> None:
    assert settings.judged(ClaimResult.model_validate(document)) is kept
