from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from retrieval.models.cross_encoders import VerdictFit
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.verdict import (
    CrossEncoderJudge,
    disagreement,
    rationale_of,
)
from retrieval.text.english import EnglishParser
from retrieval.text.subject import subject_of
from retrieval.types import (
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Evidence,
    Label,
    Opinion,
    Verdict,
)
from tests.support.evidence import evidence
from tests.support.opinions import Says


def near(value: float) -> Any:
    """A probability, but for rounding and for readings of 0, which count as 0.0001."""
    return pytest.approx(value, abs=2e-3)


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


def of_one(opinion: Opinion, verdict_fit: VerdictFit | None = None) -> Says:
    """A model that says the same of every text."""
    return Says(lambda *_: opinion, verdict_fit)


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
    assert (undecided.label, undecided.confidence) == (NOT_ENOUGH_INFO, near(0.75))
    assert (refuted.label, refuted.confidence) == (REFUTES, near(0.75))
    assert model.asked == []


def test_the_verdict_of_several_sentences_is_of_the_most_decided_one_and_of_all_together() -> None:
    model = of_one((0.5, 0.25, 0.25), VerdictFit(together=0.5, alone=1.0))
    weak, strong = item("Pier", (0.25, 0.125, 0.625)), item("Quay", (0.6, 0.3, 0.1))
    verdict = judged(model, weak, strong)
    assert model.asked == [("The pier is old.", "Pier : Of the Pier. [SEP] Quay : Of the Quay.")]
    # 0.6 * sqrt(0.5), 0.3 * sqrt(0.25), 0.1 * sqrt(0.25): 0.424, 0.15, 0.05 of 0.624
    assert (verdict.label, verdict.confidence) == (SUPPORTS, near(0.68))


ODDS = {  # each makes NOT ENOUGH INFO e times as probable as it would be
    "always": VerdictFit(undecided=1.0),
    "several": VerdictFit(undecided_of_several=1.0),
    "path": VerdictFit(undecided_of_path=1.0),
    "value": VerdictFit(undecided_of_value=1.0),
}


@pytest.mark.parametrize("when", ODDS)
@pytest.mark.parametrize("how", ["alone", "several", "path", "value"])
def test_the_fit_knows_how_the_best_sentence_was_read(when: str, how: str) -> None:
    opinion = (0.6, 0.0, 0.4)
    best = item("Pier", opinion)
    found = [best, item("Quay", (0.0, 0.0, 1.0))] if how == "several" else [best]
    if how == "path":
        found = [replace(best, path=(ROCK.key,))]
    judge = CrossEncoderJudge(of_one(opinion, ODDS[when]).model, "a judge", RetrievalConfig())
    verdict = judge.judge("A pier.", found, ruled={best.key} if how == "value" else ())
    supports, _, undecided = verdict.probabilities
    # 0.4 / 0.6 as the readings have it, or e times that.
    assert undecided / supports == near(0.667 * (2.718 if when in ("always", how) else 1))


def test_below_a_confidence_of_seven_tenths_the_evidence_only_seems_to_decide() -> None:
    model = of_one((1.0, 0.0, 0.0))
    firm = judged(model, item("Pier", (0.71, 0.0, 0.29)))
    weak = judged(model, item("Pier", (0.69, 0.0, 0.31)))
    assert firm.rationale == "“Pier” supports it: “Of the Pier.”"
    assert weak.rationale == "“Pier” seems to support it: “Of the Pier.”"


def test_without_evidence_the_claim_is_undecided_with_confidence_one() -> None:
    verdict = judged(of_one((1.0, 0.0, 0.0)))
    assert (verdict.label, verdict.confidence, verdict.judge) == (NOT_ENOUGH_INFO, 1.0, "a judge")


UNSURE = of_one((0.45, 0.05, 0.5))


def test_a_label_that_is_too_uncertain_is_only_leant_to() -> None:
    # The pair refutes it, but the two readings together are less sure than a half.
    pair, alone = item("Pier", (0.1, 0.51, 0.39)), item("Quay", (0.4, 0.2, 0.4))
    verdict = judged(of_one((0.38, 0.36, 0.26)), pair, alone)
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, REFUTES)
    # sqrt(0.26 * 0.39) of that, sqrt(0.38 * 0.1) and sqrt(0.36 * 0.51). It is the probability of
    # NOT ENOUGH INFO: nothing says how sure the lean is.
    assert verdict.confidence == near(0.337)
    assert "leans towards refuting the claim" in verdict.rationale


def test_a_label_that_is_certain_enough_is_given() -> None:
    verdict = judged(UNSURE, item("Pier", (0.0, 0.51, 0.49)))
    assert (verdict.label, verdict.confidence, verdict.leans) == (REFUTES, near(0.51), None)


def test_there_is_no_lean_to_a_label_that_no_sentence_has() -> None:
    # Both readings together are for it, but each sentence alone is undecided.
    weak = item("Pier", (0.45, 0.05, 0.5))
    verdict = judged(of_one((0.9, 0.05, 0.05)), weak, weak)
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, None)
    assert "does not settle the claim" in verdict.rationale


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
