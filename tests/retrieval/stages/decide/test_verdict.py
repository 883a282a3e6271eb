from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.verdict import (
    CrossEncoderJudge,
    disagreement,
    opinion_of,
    pooled_opinion,
    rationale_of,
)
from retrieval.text.compared_things import compared_things
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
from tests.support.opinions import Says

RED = evidence("Harbour", "Its lighthouse is red.", 0.9, SUPPORTS)
ROCK = evidence("Lighthouse", "It stands on a rock.", 0.4, NOT_ENOUGH_INFO)
BUILT = evidence("Harbour", "It was built in 1901.", 0.8, REFUTES)
LIT = evidence("Lighthouse", "It is lit at night.", 0.8, SUPPORTS)
ROW = evidence("Ferries", "Town: Rowan, 1921: 4.", 0.9, NOT_ENOUGH_INFO)
HEAD = replace(evidence("Ferries", "It counts ferries.", 0.7, SUPPORTS, 1), path=(ROW.key,))


@pytest.mark.parametrize(
    ("label", "certain", "items", "quoted", "said"),
    # ``quoted``: the last sentence that is.
    [
        # The best sentence of the same stance is quoted, and others of that stance are counted.
        (REFUTES, True, [ROCK, BUILT], BUILT, "“Harbour” contradicts it: "),
        (REFUTES, False, [BUILT], BUILT, "“Harbour” seems to contradict it: "),
        (SUPPORTS, True, [RED, LIT], RED, "“Harbour”, with 1 more document, supports it: "),
        # What says something only beside another sentence is quoted with that one.
        (SUPPORTS, True, [ROW, HEAD], HEAD, f"support it: “{ROW.sentence.text}” (“Ferries”) and "),
        (SUPPORTS, True, [ROCK, ROW, HEAD], HEAD, f"support it: “{ROW.sentence.text}” (“Ferries”)"),
        (SUPPORTS, True, [ROCK], ROCK, "Read together, the sentences support it: "),
        # Without a decision it says how close the corpus came.
        (NOT_ENOUGH_INFO, True, [ROCK], ROCK, "“Lighthouse”, does not settle the claim: "),
        (NOT_ENOUGH_INFO, True, [RED], RED, "“Harbour”, seems to support it, but "),
    ],
)
def test_the_rationale_says_what_the_verdict_rests_on(
    label: Label, certain: bool, items: list[Evidence], quoted: Evidence, said: str
) -> None:
    rationale = rationale_of(label, certain, items)
    assert said in rationale
    assert rationale.removesuffix(f" (“{quoted.title}”)").endswith(f"“{quoted.sentence.text}”")


def test_a_scale_below_1_makes_a_verdict_less_confident_and_keeps_its_label() -> None:
    item = replace(evidence("Harbour", "It is old.", 0.5, SUPPORTS), opinion=(0.64, 0.0, 0.36))
    # Square roots: 0.8 and 0.6 of 1.4.
    assert opinion_of(item.opinion, [item], 0.25, 0.5) == pytest.approx([0.8 / 1.4, 0.0, 0.6 / 1.4])
    assert opinion_of(item.opinion, [item], 0.25, 1.0) == pytest.approx([0.64, 0.0, 0.36])


def test_what_is_read_together_counts_a_quarter_of_the_verdict() -> None:
    # 0.5 / 4, 0.25 / 4 + 0.75 * 3 / 4, 0.25
    assert pooled_opinion([0.5, 0.25, 0.25], [0.0, 0.75, 0.25], 0.25) == [0.125, 0.625, 0.25]


def of_one(opinion: Opinion, verdict_scale: float = 1.0) -> Says:
    """A model that says the same of every text."""
    return Says(lambda *_: opinion, verdict_scale)


def judged(model: Says, *items: Evidence) -> Verdict:
    judge = CrossEncoderJudge(model.model, "a judge", RetrievalConfig())
    verdict: Verdict = judge.judge("The pier is old.", list(items))
    return verdict


def item(title: str, opinion: Opinion) -> Evidence:
    return replace(evidence(title, f"Of the {title}."), opinion=opinion)


def test_the_verdict_of_one_sentence_is_its_stance_and_nothing_is_read_again() -> None:
    model = of_one((1.0, 0.0, 0.0))
    undecided = judged(model, item("Pier", (0.25, 0.0, 0.75)))
    refuted = judged(model, item("Pier", (0.0, 0.75, 0.25)))
    assert (undecided.label, undecided.confidence) == (NOT_ENOUGH_INFO, 0.75)
    assert (refuted.label, refuted.confidence) == (REFUTES, 0.75)
    assert model.asked == []


def test_the_model_says_how_the_verdict_is_scaled() -> None:
    verdict = judged(of_one((1.0, 0.0, 0.0), verdict_scale=0.5), item("Pier", (0.9, 0, 0.1)))
    # The square root of 0.9 is three times that of 0.1.
    assert (verdict.label, verdict.confidence) == (SUPPORTS, pytest.approx(0.75))


def test_the_verdict_of_several_sentences_is_of_the_most_decided_one_and_of_all_together() -> None:
    model = of_one((0.5, 0.25, 0.25))
    weak, strong = item("Pier", (0.25, 0.125, 0.625)), item("Quay", (0.75, 0.125, 0.125))
    verdict = judged(model, weak, strong)
    assert model.asked == [("The pier is old.", "Pier : Of the Pier. [SEP] Quay : Of the Quay.")]
    assert verdict.label == SUPPORTS
    # 0.5 / 4 + 0.75 * 3 / 4
    assert verdict.confidence == pytest.approx(0.6875)


def test_below_a_confidence_of_seven_tenths_the_evidence_only_seems_to_decide() -> None:
    model = of_one((1.0, 0.0, 0.0))
    firm = judged(model, item("Pier", (0.7, 0.0, 0.3)))
    weak = judged(model, item("Pier", (0.69, 0.0, 0.31)))
    assert firm.rationale == "“Pier” supports it: “Of the Pier.”"
    assert weak.rationale == "“Pier” seems to support it: “Of the Pier.”"


def test_without_evidence_the_claim_is_undecided_with_confidence_one() -> None:
    verdict = judged(of_one((1.0, 0.0, 0.0)))
    assert (verdict.label, verdict.confidence, verdict.judge) == (NOT_ENOUGH_INFO, 1.0, "a judge")


UNSURE = of_one((0.45, 0.05, 0.5))


def test_a_label_that_is_too_uncertain_is_only_leant_to() -> None:
    verdict = judged(UNSURE, item("Pier", (0.0, 0.54, 0.46)))
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, REFUTES)
    # It is the probability of NOT ENOUGH INFO: nothing says how sure the lean is.
    assert verdict.confidence == pytest.approx(0.46)
    assert "leans towards refuting the claim" in verdict.rationale


def test_a_label_that_is_certain_enough_is_given() -> None:
    verdict = judged(UNSURE, item("Pier", (0.0, 0.55, 0.45)))
    assert (verdict.label, verdict.confidence, verdict.leans) == (REFUTES, 0.55, None)


@pytest.mark.parametrize(
    ("alone", "supports", "confidence"),
    [
        (NOT_ENOUGH_INFO, 0.8, 0.7),
        (NOT_ENOUGH_INFO, 0.6, 0.55),  # the least that is decided
        (SUPPORTS, 0.8, 0.8),
    ],
)
def test_what_no_sentence_says_alone_is_less_sure(
    alone: Label, supports: float, confidence: float
) -> None:
    last = replace(item("Pier", (supports, 0.0, 1 - supports)), path=(ROCK.key,), alone=alone)
    verdict = judged(UNSURE, last)
    assert (verdict.label, verdict.confidence) == (SUPPORTS, pytest.approx(confidence))


def test_there_is_no_lean_to_a_label_that_no_sentence_has() -> None:
    # Together 0.9 / 4 + 0.45 * 3 / 4 = 0.5625, but each of them alone is undecided.
    weak = item("Pier", (0.45, 0.05, 0.5))
    verdict = judged(of_one((0.9, 0.05, 0.05)), weak, weak)
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, None)
    assert "does not settle the claim" in verdict.rationale


def test_the_cutoff_applies_after_a_proof_that_disagrees() -> None:
    judge = CrossEncoderJudge(UNSURE.model, "a judge", RetrievalConfig())
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


def test_where_no_sentence_compares_both_things_the_rationale_says_what_is_missing() -> None:
    parser = EnglishParser()
    claim = "Harbour is larger than Lighthouse."
    compared = compared_things(parser.parse(claim))
    judge = CrossEncoderJudge(Says(lambda *_: (0, 0, 1)).model, "verifier 1", RetrievalConfig())
    verdict = judge.judge(claim, [ROCK], None, subject_of(parser.parse(claim)), compared)
    assert verdict.rationale.startswith(
        "No sentence that compares “Harbour” with “Lighthouse” was found, nor figures for each. "
    )
