"""The claim document: made from a report, written and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from retrieval.result import ClaimResult, claim_result, esoteric_version
from retrieval.types import RankedDocument, Report
from tests.app.claim_documents import claim_document, document_kept_from_before

CASES = Path(__file__).parents[1] / "cases"
REPORT = TypeAdapter(Report).validate_json((CASES / "report.json").read_text(encoding="utf-8"))
PIER = REPORT.documents[0].document
# Numbers have four decimal places; keys stand in this order, which is what scripts read.
DOCUMENT = (CASES / "claim_document.json").read_text(encoding="utf-8").strip()
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
