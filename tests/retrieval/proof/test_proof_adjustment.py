from __future__ import annotations

import pytest

from retrieval.proof.automaton import label_of
from retrieval.proof.proof_adjustment import adjusted_to_proof
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


def adjusted(claim: str, verdict: Verdict, proof: Proof) -> Verdict:
    return adjusted_to_proof(claim, verdict, proof, SETTINGS)


SAME = proof(EQUIVALENCE, EQUIVALENCE, EQUIVALENCE, EQUIVALENCE)
OTHER = proof(EQUIVALENCE, EQUIVALENCE, EQUIVALENCE, ALTERNATION)
ONE_OPEN = proof(EQUIVALENCE, EQUIVALENCE, EQUIVALENCE, INDEPENDENCE)


@pytest.mark.parametrize(("label", "agreeing"), [(SUPPORTS, SAME), (REFUTES, OTHER)])
def test_a_verdict_that_the_proof_confirms_is_not_changed(label: Label, agreeing: Proof) -> None:
    assert adjusted(CLAIM, verdict(label, 0.9), agreeing) == verdict(label, 0.9)


@pytest.mark.parametrize(("label", "opposite"), [(SUPPORTS, OTHER), (REFUTES, SAME)])
def test_the_opposite_result_lowers_confidence_most_and_the_rationale_says_so(
    label: Label, opposite: Proof
) -> None:
    result = adjusted(CLAIM, verdict(label, 0.9), opposite)
    assert result.label == label
    assert result.confidence == pytest.approx(1 / 3 + SETTINGS.opposed_share * (0.9 - 1 / 3))
    assert result.rationale == "“Runde” says so. The proof, part by part, has the opposite result."
    assert SETTINGS.opposed_share < min(SETTINGS.open_share, SETTINGS.proved_share) < 1


def test_a_decision_with_an_open_part_is_less_sure_and_names_the_part() -> None:
    result = adjusted(CLAIM, verdict(SUPPORTS, 0.9), ONE_OPEN)
    assert result.confidence == pytest.approx(1 / 3 + SETTINGS.open_share * (0.9 - 1 / 3))
    assert result.rationale.endswith("One part of the claim stays open: “born in 1973”.")


def test_of_many_open_parts_the_first_three_are_named() -> None:
    three = proof(INDEPENDENCE, EQUIVALENCE, INDEPENDENCE, INDEPENDENCE)
    assert adjusted(CLAIM, verdict(REFUTES, 0.9), three).rationale.endswith(
        "Parts of the claim stay open: “Ole Berg”, “a keeper”, “born in 1973”."
    )
    four = proof(INDEPENDENCE, INDEPENDENCE, INDEPENDENCE, INDEPENDENCE)
    assert adjusted(CLAIM, verdict(REFUTES, 0.9), four).rationale.endswith(
        "Parts of the claim stay open: “Ole Berg”, “was”, “a keeper” and 1 more."
    )


@pytest.mark.parametrize("label", [SUPPORTS, NOT_ENOUGH_INFO])
def test_the_rationale_does_not_interpret_two_contradictions(label: Label) -> None:
    # The automaton takes the first pair for open, the second for supported, the third for refuted.
    for operators in (
        (NEGATION, EQUIVALENCE, ALTERNATION, EQUIVALENCE),
        (NEGATION, EQUIVALENCE, NEGATION, EQUIVALENCE),
        (NEGATION, NEGATION, NEGATION, EQUIVALENCE),
    ):
        several = proof(*operators)
        result = adjusted(CLAIM, verdict(label, 0.9), several)
        if several.label == label:
            assert result.confidence == 0.9
            continue
        assert result.confidence == pytest.approx(1 / 3 + SETTINGS.open_share * (0.9 - 1 / 3))
        assert result.rationale.endswith(
            "More than one part is contradicted, so the proof does not decide the claim."
        )


@pytest.mark.parametrize(("proved", "says"), [(SAME, "supports"), (OTHER, "contradicts")])
def test_an_undecided_claim_that_is_proved_is_less_surely_undecided(
    proved: Proof, says: str
) -> None:
    result = adjusted(CLAIM, verdict(NOT_ENOUGH_INFO, 0.6), proved)
    assert result.label == NOT_ENOUGH_INFO
    assert result.confidence == pytest.approx(1 / 3 + SETTINGS.proved_share * (0.6 - 1 / 3))
    assert result.rationale.endswith(f"Taken part by part, the evidence {says} it.")


def test_an_undecided_claim_keeps_its_confidence_and_names_what_is_open() -> None:
    result = adjusted(CLAIM, verdict(NOT_ENOUGH_INFO, 0.6), ONE_OPEN)
    assert result.confidence == 0.6
    assert result.rationale.endswith("One part of the claim stays open: “born in 1973”.")


def test_an_undecided_verdict_without_any_proved_part_is_not_changed() -> None:
    nothing = proof(INDEPENDENCE, INDEPENDENCE, INDEPENDENCE, INDEPENDENCE)
    assert adjusted(CLAIM, verdict(NOT_ENOUGH_INFO, 1.0), nothing) == verdict(NOT_ENOUGH_INFO, 1.0)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("other", [SAME, OTHER, ONE_OPEN])
def test_the_confidence_stays_that_of_the_most_probable_label(label: Label, other: Proof) -> None:
    assert 1 / 3 < adjusted(CLAIM, verdict(label, 0.34), other).confidence <= 0.34


def test_markup_in_a_claim_is_quoted_as_it_is() -> None:
    hostile = "<b>Ole Berg</b> & co was born"
    spans = Proof(
        (Mutation((0, 20), INDEPENDENCE, None), Mutation((21, 29), NEGATION, None)), REFUTES
    )
    open_part = Proof(spans.mutations, NOT_ENOUGH_INFO)
    assert adjusted(hostile, verdict(SUPPORTS, 0.9), open_part).rationale.endswith(
        "One part of the claim stays open: “<b>Ole Berg</b> & co”."
    )
