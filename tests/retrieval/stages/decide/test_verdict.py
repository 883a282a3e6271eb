from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.models.cross_encoders.cross_encoder import CrossEncoder
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.verdict import (
    CrossEncoderJudge,
    disagreement,
    opinion_of,
    pooled_opinion,
    rationale_of,
)
from retrieval.text.english import EnglishParser
from retrieval.text.subject import subject_of
from retrieval.types import (
    EQUIVALENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Evidence,
    Label,
    Mutation,
    Opinion,
    Proof,
    Verdict,
)
from tests.support.evidence import evidence


def test_the_rationale_quotes_the_best_sentence_of_the_same_stance() -> None:
    items = [
        evidence("Lighthouse", "It stands on a rock.", 0.4, NOT_ENOUGH_INFO),
        evidence("Harbour", "The lighthouse was built in 1901.", 0.8, REFUTES),
    ]
    assert rationale_of(REFUTES, True, items) == (
        "“Harbour” contradicts it: “The lighthouse was built in 1901.”"
    )


def test_a_verdict_that_is_little_better_than_a_guess_is_not_stated_as_a_fact() -> None:
    items = [evidence("Harbour", "The lighthouse was built in 1901.", 0.55, REFUTES)]
    assert rationale_of(REFUTES, False, items) == (
        "“Harbour” seems to contradict it: “The lighthouse was built in 1901.”"
    )


def test_the_rationale_counts_other_documents_of_the_same_stance() -> None:
    items = [
        evidence("Harbour", "Its lighthouse is red.", 0.9, SUPPORTS),
        evidence("Lighthouse", "The lighthouse is red.", 0.8, SUPPORTS),
    ]
    assert rationale_of(SUPPORTS, True, items) == (
        "“Harbour”, with 1 more document, supports it: “Its lighthouse is red.”"
    )


def test_a_sentence_that_says_something_only_beside_the_best_one_is_not_quoted() -> None:
    row = evidence("Ferries", "Town: Rowan, 1921: 4.", 0.9, NOT_ENOUGH_INFO)
    head = evidence("Ferries", "The table counts ferries.", 0.7, SUPPORTS, 1)
    items = [row, replace(head, path=(row.key,))]
    assert rationale_of(SUPPORTS, True, items) == (
        "Read together, the sentences support it; the most relevant, in “Ferries”:"
        " “Town: Rowan, 1921: 4.”"
    )


def test_a_verdict_that_no_sentence_gives_alone_says_that_they_were_read_together() -> None:
    items = [
        evidence("Harbour", "The mole was built by Ida Holm.", 0.6, NOT_ENOUGH_INFO),
        evidence("Ida Holm", "She was a Dane.", 0.5, NOT_ENOUGH_INFO),
    ]
    assert rationale_of(SUPPORTS, True, items) == (
        "Read together, the sentences support it; the most relevant, in “Harbour”:"
        " “The mole was built by Ida Holm.”"
    )


def test_without_a_decision_the_rationale_shows_how_close_the_corpus_came() -> None:
    items = [evidence("Harbour", "It has a pier.", 0.2, NOT_ENOUGH_INFO)]
    assert rationale_of(NOT_ENOUGH_INFO, True, items) == (
        "The closest sentence, in “Harbour”, does not settle the claim: “It has a pier.”"
    )


def test_the_rationale_says_that_a_closest_sentence_with_a_stance_is_too_little() -> None:
    items = [evidence("Harbour", "Its pier is long.", 0.6, SUPPORTS)]
    assert rationale_of(NOT_ENOUGH_INFO, True, items) == (
        "The closest sentence, in “Harbour”, seems to support it, but with too little confidence:"
        " “Its pier is long.”"
    )


def test_a_scale_below_1_makes_a_verdict_less_confident_and_keeps_its_label() -> None:
    item = replace(evidence("Harbour", "It is old.", 0.5, SUPPORTS), opinion=(0.64, 0.0, 0.36))
    # Square roots: 0.8 and 0.6 of 1.4.
    assert opinion_of(item.opinion, [item], 0.25, 0.5) == pytest.approx([0.8 / 1.4, 0.0, 0.6 / 1.4])
    assert opinion_of(item.opinion, [item], 0.25, 1.0) == pytest.approx([0.64, 0.0, 0.36])


def test_what_is_read_together_counts_a_quarter_of_the_verdict() -> None:
    # 0.5 / 4, 0.25 / 4 + 0.75 * 3 / 4, 0.25
    assert pooled_opinion([0.5, 0.25, 0.25], [0.0, 0.75, 0.25], 0.25) == [0.125, 0.625, 0.25]


class OfOneOpinion:
    """Says the same of every text, and keeps what it was asked."""

    def __init__(self, opinion: Opinion, verdict_scale: float = 1.0) -> None:
        self._opinion = opinion
        self.verdict_scale = verdict_scale
        self.asked: list[tuple[str, str]] = []

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.array([self._opinion] * len(pairs), dtype=np.float32)


def judged(model: OfOneOpinion, *items: Evidence) -> Verdict:
    judge = CrossEncoderJudge(cast(CrossEncoder, model), "a judge", RetrievalConfig())
    verdict: Verdict = judge.judge("The pier is old.", list(items))
    return verdict


def item(title: str, opinion: Opinion) -> Evidence:
    return replace(evidence(title, f"Of the {title}."), opinion=opinion)


def test_the_verdict_of_one_sentence_is_its_stance_and_nothing_is_read_again() -> None:
    model = OfOneOpinion((1.0, 0.0, 0.0))
    undecided = judged(model, item("Pier", (0.25, 0.0, 0.75)))
    refuted = judged(model, item("Pier", (0.0, 0.75, 0.25)))
    assert (undecided.label, undecided.confidence) == (NOT_ENOUGH_INFO, 0.75)
    assert (refuted.label, refuted.confidence) == (REFUTES, 0.75)
    assert model.asked == []


def test_the_model_says_how_the_verdict_is_scaled() -> None:
    verdict = judged(OfOneOpinion((1.0, 0.0, 0.0), verdict_scale=0.5), item("Pier", (0.9, 0, 0.1)))
    # The square root of 0.9 is three times that of 0.1.
    assert (verdict.label, verdict.confidence) == (SUPPORTS, pytest.approx(0.75))


def test_the_verdict_of_several_sentences_is_of_the_most_decided_one_and_of_all_together() -> None:
    model = OfOneOpinion((0.5, 0.25, 0.25))
    weak, strong = item("Pier", (0.25, 0.125, 0.625)), item("Quay", (0.75, 0.125, 0.125))
    verdict = judged(model, weak, strong)
    assert model.asked == [("The pier is old.", "Pier : Of the Pier. [SEP] Quay : Of the Quay.")]
    assert verdict.label == SUPPORTS
    # 0.5 / 4 + 0.75 * 3 / 4
    assert verdict.confidence == pytest.approx(0.6875)


def test_below_a_confidence_of_seven_tenths_the_evidence_only_seems_to_decide() -> None:
    model = OfOneOpinion((1.0, 0.0, 0.0))
    firm = judged(model, item("Pier", (0.7, 0.0, 0.3)))
    weak = judged(model, item("Pier", (0.69, 0.0, 0.31)))
    assert firm.rationale == "“Pier” supports it: “Of the Pier.”"
    assert weak.rationale == "“Pier” seems to support it: “Of the Pier.”"


def test_without_evidence_the_claim_is_undecided_with_confidence_one() -> None:
    verdict = judged(OfOneOpinion((1.0, 0.0, 0.0)))
    assert (verdict.label, verdict.confidence, verdict.judge) == (NOT_ENOUGH_INFO, 1.0, "a judge")


UNSURE = OfOneOpinion((0.45, 0.05, 0.5))


def test_a_label_that_is_too_uncertain_is_only_leant_to() -> None:
    verdict = judged(UNSURE, item("Pier", (0.0, 0.54, 0.46)))
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, REFUTES)
    # It is the probability of NOT ENOUGH INFO: nothing says how sure the lean is.
    assert verdict.confidence == pytest.approx(0.46)
    assert verdict.rationale == (
        "The best evidence leans towards refuting the claim, but not clearly enough to decide."
    )


def test_a_label_that_is_certain_enough_is_given() -> None:
    verdict = judged(UNSURE, item("Pier", (0.0, 0.55, 0.45)))
    assert (verdict.label, verdict.confidence, verdict.leans) == (REFUTES, 0.55, None)


def test_a_label_that_no_sentence_has_is_only_leant_to() -> None:
    # Together 0.9 / 4 + 0.45 * 3 / 4 = 0.5625, but each of them alone is undecided.
    weak = item("Pier", (0.45, 0.05, 0.5))
    verdict = judged(OfOneOpinion((0.9, 0.05, 0.05)), weak, weak)
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, SUPPORTS)
    assert verdict.rationale == (
        "What was found leans towards supporting the claim, but no sentence decides it."
    )


def test_the_cutoff_applies_after_a_proof_that_disagrees() -> None:
    judge = CrossEncoderJudge(cast(CrossEncoder, UNSURE), "a judge", RetrievalConfig())
    found = [item("Pier", (0.6, 0.0, 0.4))]
    opposed = Proof((Mutation((0, 8), NEGATION, None),), REFUTES)
    verdict = judge.judge("The pier is old.", found, opposed)
    # Three quarters of what is above a guess: 1/3 + 0.75 * (0.6 - 1/3) = 0.533, and for
    # NOT ENOUGH INFO 1/3 + 0.75 * (0.4 - 1/3) = 0.383.
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, SUPPORTS)
    assert verdict.confidence == pytest.approx(1 / 3 + 0.75 * (0.4 - 1 / 3))
    agreeing = Proof((Mutation((0, 8), EQUIVALENCE, None),), SUPPORTS)
    assert judge.judge("The pier is old.", found, agreeing).label == SUPPORTS


def test_an_undecided_verdict_leans_nowhere() -> None:
    assert judged(UNSURE, item("Pier", (0.2, 0.1, 0.7))).leans is None


@pytest.mark.parametrize(
    ("label", "leans", "numbers"),
    [
        (SUPPORTS, None, (3,)),
        (REFUTES, None, (1,)),
        (NOT_ENOUGH_INFO, SUPPORTS, (3,)),
        (NOT_ENOUGH_INFO, None, ()),
    ],
)
def test_selected_sentences_against_the_verdict_disagree(
    label: Label, leans: Label | None, numbers: tuple[int, ...]
) -> None:
    stances: list[Label] = [SUPPORTS, REFUTES, REFUTES]
    found = [evidence(f"Page {n}", "a pier", 0.9, stance) for n, stance in enumerate(stances)]
    found.append(evidence("Page 3", "a rock", 0.1, NOT_ENOUGH_INFO))
    # The second one is not selected.
    found = [replace(one, selected=n != 1) for n, one in enumerate(found)]
    verdict = Verdict(label, 0.9, "a judge", "", leans=leans)
    assert disagreement(verdict, found) == numbers


def test_where_no_sentence_is_about_the_subject_the_rationale_says_so() -> None:
    subject = subject_of(EnglishParser().parse("Varnby is the capital of Ostrea."))
    found = [evidence("Holmstead", "It is the capital of an island.", 0.1, NOT_ENOUGH_INFO)]
    assert rationale_of(NOT_ENOUGH_INFO, True, found, subject) == (
        "No sentence about “Varnby” was found that decides it."
    )
