"""The proof on the result page, with its sentences written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from app.result import proof
from app.result.proof import Excerpt, ProofItem
from retrieval.result import ClaimResult
from retrieval.stages.decide.proof import label_of
from retrieval.types import Label, Operator
from retrieval.words import Quoting
from tests.app.claim_documents import (
    PROVED_CLAIM,
    claim_document,
    document_with_proof,
)

Spans = list[tuple[int, int, Operator]]
CLAIM = "Varnby has a blue harbour and a theatre."
VARNBY, HAS, HARBOUR, THEATRE = (0, 6), (7, 10), (11, 25), (30, 39)


def proof_of(result: dict[str, Any]) -> ProofItem | None:
    return proof.proof_item(ClaimResult.model_validate(result))


def proved(spans: Spans, label: Label) -> ProofItem:
    """Return the proof of ``CLAIM`` with these spans, none of which has evidence."""
    result = claim_document(CLAIM, label)
    result["proof"] = [
        {"claim_span": [start, end], "operator": operator, "evidence": None}
        for start, end, operator in spans
    ]
    result["proof_label"] = label
    found = proof_of(result)
    assert found is not None
    return found


def text_of(sentence: Quoting) -> str:
    """Return the sentence, its quotations joined by slashes."""
    quoted = f" {' / '.join(sentence.quoted)}" if sentence.quoted else ""
    return f"{sentence.before}{quoted}{sentence.after}"


@pytest.mark.parametrize(
    ("spans", "label", "sentence"),
    [
        (
            [(*VARNBY, "equivalence"), (*HARBOUR, "equivalence")],
            "SUPPORTS",
            (
                "Every part of the claim is covered by the evidence, which says the same,"
                " so the claim is supported."
            ),
        ),
        (
            [(*VARNBY, "equivalence"), (*HARBOUR, "alternation")],
            "REFUTES",
            (
                "Every part of the claim is covered by the evidence, which contradicts"
                " a blue harbour, so the claim is refuted."
            ),
        ),
        (
            [(*VARNBY, "equivalence"), (*HARBOUR, "negation"), (*THEATRE, "independence")],
            "NOT ENOUGH INFO",
            "The evidence leaves open a theatre, so it is not sufficient.",
        ),
        (
            [(*HAS, "independence"), (*HARBOUR, "independence"), (*VARNBY, "equivalence")],
            "NOT ENOUGH INFO",
            "The evidence leaves open has a blue harbour, so it is not sufficient.",
        ),
        (
            [(*VARNBY, "independence"), (*HARBOUR, "equivalence"), (*THEATRE, "independence")],
            "NOT ENOUGH INFO",
            "The evidence leaves open Varnby / a theatre, so it is not sufficient.",
        ),
        (
            [(*VARNBY, "independence"), (*THEATRE, "independence")],
            "NOT ENOUGH INFO",
            "The evidence leaves open every part of the claim, so it is not sufficient.",
        ),
    ],
)
def test_the_summary_says_what_the_proof_shows(spans: Spans, label: Label, sentence: str) -> None:
    found = proved(spans, label)
    assert text_of(found.summary) == sentence


@pytest.mark.parametrize(
    ("operators", "label"),
    [
        (("alternation", "alternation"), "NOT ENOUGH INFO"),
        (("negation", "negation"), "SUPPORTS"),
    ],
)
def test_several_contradictions_have_no_result_of_the_proof(
    operators: tuple[Operator, Operator], label: Label
) -> None:
    assert label_of(operators) == label
    first, second = operators
    found = proved([(*HAS, first), (*HARBOUR, second)], label)
    # Neighbouring parts are not joined here: their number matters.
    assert text_of(found.summary) == (
        "Every part of the claim is covered by the evidence, which contradicts more than one:"
        " has / a blue harbour. The proof cannot combine several contradictions, so the verdict is"
        " that of the evidence read as a whole."
    )


def with_evidence(evidence: list[Any], span: tuple[int, int] = (4, 22)) -> ProofItem | None:
    result = document_with_proof()
    result["proof"] = [{"claim_span": list(span), "operator": "equivalence", "evidence": evidence}]
    return proof_of(result)


@pytest.mark.parametrize("offsets", [(900, 950), (-50, -10), (20, 10), (0, 0)])
def test_offsets_outside_their_sentence_are_no_words(offsets: tuple[int, int]) -> None:
    found = with_evidence(["Ida Holm", 0, *offsets])
    assert found is not None
    assert found.parts[0].excerpt == Excerpt("Ida Holm", 2, "")


def test_a_part_that_is_an_auxiliary_verb_alone_is_joined_to_the_next() -> None:
    said: Spans = [(*VARNBY, "equivalence"), (*HAS, "equivalence"), (*HARBOUR, "alternation")]
    found = proved(said, "REFUTES")
    assert [(part.words, part.operator) for part in found.parts] == [
        ("Varnby", "equivalence"),
        ("has a blue harbour", "alternation"),
    ]


def differing(claim: str, part: str, sentence: str, words: str) -> list[tuple[str, str]]:
    """Return the words that differ, where ``part`` is contradicted by ``words``."""
    result = claim_document(claim, "REFUTES")
    result["documents"][1]["text"] = sentence
    result["evidence"] = [result["evidence"][0] | {"sentence": sentence, "start": 0}]
    result["evidence"][0]["end"] = len(sentence)
    at, of = sentence.index(words), claim.index(part)
    result["proof"] = [
        {
            "claim_span": [of, of + len(part)],
            "operator": "alternation",
            "evidence": ["Lighthouse of Varn", 1, at, at + len(words)],
        }
    ]
    result["proof_label"] = "REFUTES"
    found = proof.differences(ClaimResult.model_validate(result))
    assert all(sentence[one.start : one.end] == one.words for one in found)
    return [(one.claim_words, one.words) for one in found]


@pytest.mark.parametrize(
    ("part", "sentence", "words", "differ"),
    [
        # A name is marked as a whole, words that both have are not.
        ("by the United Isles", "It was built by the North Union in 1874.", "North", True),
        ("by the United Isles", "It was built by the United Isles.", "United Isles", False),
        ("by the United Isles", "It was built by the United Isles.", "the", False),
    ],
)
def test_only_words_that_are_not_the_same_differ(
    part: str, sentence: str, words: str, differ: bool
) -> None:
    found = differing("The pier was built by the United Isles.", part, sentence, words)
    assert found == ([("United Isles", "North Union")] if differ else [])


@pytest.mark.parametrize("span", [(900, 950), (-9, -2), (20, 10), (4, 4)])
def test_a_span_outside_the_claim_is_not_shown(span: tuple[int, int]) -> None:
    assert with_evidence(["Ida Holm", 0, 0, 8], span) is None


def test_a_span_that_begins_before_the_claim_is_cut_to_it() -> None:
    found = with_evidence(["Ida Holm", 0, 0, 8], (-5, 3))
    assert found is not None
    assert found.parts[0].words == "The"
    assert "".join(piece.text for piece in found.drawn) == PROVED_CLAIM
