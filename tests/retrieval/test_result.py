"""The claim document: made from a report, written and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from retrieval.result import ClaimResult, claim_result, esoteric_version
from retrieval.types import (
    CheckedStatement,
    CorpusInfo,
    Document,
    Evidence,
    EvidenceSpan,
    Hop,
    Judgement,
    Mutation,
    NotSettled,
    Proof,
    Question,
    RankedDocument,
    Report,
    Sentence,
    SentenceKey,
    StanceOn,
    Usage,
    Verdict,
)
from tests.app.claim_documents import claim_document, document_kept_from_before

KEY = SentenceKey("Pier", 0)
PIER = Document("Pier", "The pier", "https://a.example/pier", "It is o\u0142d.", ())
REPORT = Report(
    claim="The pier is o\u0142d.",
    recipe="combined",
    notices=("A notice.",),
    corpus=CorpusInfo(
        name="coast", documents=12, built_at="2026-11-20T09:30:00Z", text_date=None, parts=()
    ),
    verdict=Verdict(
        "SUPPORTS",
        2 / 3,
        "small",
        "It says so.",
        (
            Judgement("small", "SUPPORTS", 2 / 3, "It says so.", (1,), "its age"),
            Judgement("verifier", "REFUTES", 1.0, "It does not.", ()),
        ),
    ),
    evidence=(
        Evidence(
            Sentence("Pier", 0, "It is o\u0142d.", 0, 10),
            "The pier",
            None,
            (0.875, 0.0625, 0.0625),
            2,
            selected=True,
            path=(SentenceKey("Quay", 3),),
            context_before="Is it?",
        ),
    ),
    documents=(RankedDocument(PIER, 0.00004, ("title", "dense"), 2, SentenceKey("Quay", 3)),),
    questions=(
        Question("What is old?", "The pier", "wh"),
        Question("Is the pier old?", None, "polar"),
    ),
    proof=Proof(
        (
            Mutation((0, 8), "equivalence", EvidenceSpan(*KEY, 0, 2)),
            Mutation((9, 15), "independence", None),
        ),
        "NOT ENOUGH INFO",
    ),
    hops=(
        Hop(
            hop=1,
            sufficient=False,
            missing=((9, 15),),
            documents=1,
            sentences=2,
            label="SUPPORTS",
            best=(KEY,),
            stopped="hops",
        ),
    ),
    seconds={"total": 1.23456, "explain": 1e-05},
    usage=Usage("small", 1, 400, 50),
    statements=(
        CheckedStatement(
            *("It is.", 0, 8, Verdict("SUPPORTS", 0.5, "verifier", "So.")),
            (StanceOn(1, "SUPPORTS", 2 / 3),),
        ),
    ),
    not_settled=NotSettled(((4, 8),), (), ("Pier",)),
    original="Claim: the pier is o\u0142d.",
    recipe_digest="0123456789ab",
)
# Numbers have four decimal places; keys stand in this order, which is what scripts read.
DOCUMENT = Path(__file__).parents[1].joinpath("cases/claim_document.json").read_text().strip()
DOCUMENT = DOCUMENT.replace("VERSION", esoteric_version())


def written(result: ClaimResult) -> str:
    return json.dumps(result.document())


def test_a_report_becomes_this_document_byte_for_byte() -> None:
    assert written(claim_result(REPORT)) == DOCUMENT


def test_a_document_is_credited_to_its_file_or_its_site_or_the_corpus() -> None:
    file = replace(PIER, source="report.pdf, page 2, modified on 2024-03-05")
    nowhere = replace(PIER, url="https://[::1")
    documents = tuple(RankedDocument(one, 1, ("title",), 1) for one in (file, PIER, nowhere))
    result = claim_result(replace(REPORT, documents=documents))
    assert [document.source for document in result.documents] == [
        "report.pdf, page 2, modified on 2024-03-05",
        "a.example",
        "coast",
    ]


def test_a_document_that_is_read_is_written_as_it_was() -> None:
    assert written(ClaimResult.model_validate_json(DOCUMENT)) == DOCUMENT


def test_a_document_of_an_older_version_has_defaults_and_is_written_as_it_was() -> None:
    older = document_kept_from_before("The pier is old.")
    del older["notices"]
    result = ClaimResult.model_validate(older)
    assert (result.notices, result.verdict.opinions, result.usage) == ((), (), None)
    assert (result.claim_as_written, result.statements) == (None, ())
    assert result.not_settled is None
    assert {item.path for item in result.evidence} == {()}
    assert {(hop.label, hop.best, hop.stopped) for hop in result.hops} == {(None, (), None)}
    assert written(result) == json.dumps(older)


def test_unknown_keys_of_another_version_are_ignored() -> None:
    document = claim_document("The pier is old.")
    other: dict[str, Any] = {**document, "mood": "calm"}
    other["verdict"] = {**document["verdict"], "mood": ["calm"]}
    assert ClaimResult.model_validate(other) == ClaimResult.model_validate(document)


def test_a_number_that_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValidationError):
        ClaimResult.model_validate({**json.loads(DOCUMENT), "seconds": {"total": "nan"}})
