from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.proof.automaton import label_of
from retrieval.proof.proof_adjustment import adjusted_to_proof, saying_why_less_sure
from retrieval.recipes.config import RetrievalConfig
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    LABELS,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    EvidenceSpan,
    Label,
    Mutation,
    Operator,
    Proof,
    SentenceKey,
    Verdict,
)
from retrieval.words import LESS_SURE

CLAIM = "Ole Berg was a keeper born in 1973"
SPANS = [(0, 8), (9, 12), (13, 21), (22, 34)]


def proof(*operators: Operator) -> Proof:
    """The proof of the claim above with these operators."""
    where = EvidenceSpan(*SentenceKey("Runde", 0), 0, 5)
    mutations = tuple(
        Mutation((start, end), operator, None if operator == INDEPENDENCE else where)
        for (start, end), operator in zip(SPANS, operators, strict=True)
    )
    return Proof(mutations, label_of(operators))


def verdict(label: Label, confidence: float) -> Verdict:
    return Verdict(label, confidence, "judge 1", "“Runde” says so.")


SETTINGS = RetrievalConfig()
VERDICT_56 = verdict(SUPPORTS, 0.56)


def adjusted(verdict: Verdict, proof: Proof) -> Verdict:
    return adjusted_to_proof(verdict, proof, SETTINGS)


SAME = proof(EQUIVALENCE, EQUIVALENCE, EQUIVALENCE, EQUIVALENCE)
OTHER = proof(EQUIVALENCE, EQUIVALENCE, EQUIVALENCE, ALTERNATION)
ONE_OPEN = proof(EQUIVALENCE, EQUIVALENCE, EQUIVALENCE, INDEPENDENCE)


@pytest.mark.parametrize(("label", "agreeing"), [(SUPPORTS, SAME), (REFUTES, OTHER)])
def test_a_verdict_that_the_proof_confirms_is_not_changed(label: Label, agreeing: Proof) -> None:
    assert adjusted(verdict(label, 0.9), agreeing) == verdict(label, 0.9)


@pytest.mark.parametrize(("label", "opposite"), [(SUPPORTS, OTHER), (REFUTES, SAME)])
def test_the_opposite_result_lowers_confidence_most(label: Label, opposite: Proof) -> None:
    result = adjusted(verdict(label, 0.9), opposite)
    assert result.label == label
    assert result.confidence == pytest.approx(1 / 3 + SETTINGS.opposed_share * (0.9 - 1 / 3))
    assert SETTINGS.opposed_share < min(SETTINGS.open_share, SETTINGS.proved_share) < 1


def test_a_decision_with_an_open_part_is_less_sure() -> None:
    result = adjusted(verdict(SUPPORTS, 0.9), ONE_OPEN)
    assert result.confidence == pytest.approx(1 / 3 + SETTINGS.open_share * (0.9 - 1 / 3))


@pytest.mark.parametrize("label", [SUPPORTS, NOT_ENOUGH_INFO])
def test_two_contradictions_leave_the_claim_open(label: Label) -> None:
    # The automaton takes the first pair for open, the second for supported, the third for refuted.
    for operators in (
        (NEGATION, EQUIVALENCE, ALTERNATION, EQUIVALENCE),
        (NEGATION, EQUIVALENCE, NEGATION, EQUIVALENCE),
        (NEGATION, NEGATION, NEGATION, EQUIVALENCE),
    ):
        several = proof(*operators)
        share = 1 if several.label == label else SETTINGS.open_share
        result = adjusted(verdict(label, 0.9), several)
        assert result.confidence == pytest.approx(1 / 3 + share * (0.9 - 1 / 3))


@pytest.mark.parametrize("proved", [SAME, OTHER])
def test_an_undecided_claim_that_is_proved_is_less_surely_undecided(proved: Proof) -> None:
    result = adjusted(verdict(NOT_ENOUGH_INFO, 0.6), proved)
    assert result.label == NOT_ENOUGH_INFO
    assert result.confidence == pytest.approx(1 / 3 + SETTINGS.proved_share * (0.6 - 1 / 3))


def test_an_undecided_claim_with_open_parts_keeps_its_confidence() -> None:
    assert adjusted(verdict(NOT_ENOUGH_INFO, 0.6), ONE_OPEN).confidence == 0.6


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("other", [SAME, OTHER, ONE_OPEN])
def test_the_confidence_stays_that_of_the_most_probable_label(label: Label, other: Proof) -> None:
    assert 1 / 3 < adjusted(verdict(label, 0.34), other).confidence <= 0.34


def test_no_rationale_mentions_a_proof_that_leaves_the_level_as_it_is() -> None:
    for before, after in ((0.95, 0.8), (0.65, 0.6)):
        said = saying_why_less_sure(verdict(SUPPORTS, after), verdict(SUPPORTS, before))
        assert said == verdict(SUPPORTS, after)


def test_the_rationale_says_why_a_verdict_is_only_probable_or_leans() -> None:
    leans = replace(verdict(NOT_ENOUGH_INFO, 0.4), leans=SUPPORTS)
    for before, after in ((verdict(SUPPORTS, 0.75), verdict(SUPPORTS, 0.65)), (VERDICT_56, leans)):
        said = saying_why_less_sure(after, before)
        assert said == replace(after, rationale=f"“Runde” says so. {LESS_SURE}")
