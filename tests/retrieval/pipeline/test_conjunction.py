"""The report on a claim of several statements, from reports written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.pipeline.conjunction import Checked, conjunction
from retrieval.text.statement_cutter import CutStatement, Piece
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    CorpusInfo,
    Evidence,
    Hop,
    Judgement,
    Label,
    Mutation,
    NotSettled,
    Proof,
    Report,
    Retrieved,
    SentenceKey,
    StanceOn,
    Usage,
    Verdict,
)
from tests.support.evidence import evidence, ranked

CLAIM = "The pier is old and was built by Ann."
FIRST = CutStatement("The pier is old.", 0, 15, (Piece(0, 0, 15),))
# "The pier " comes from the first statement.
SECOND = CutStatement("The pier was built by Ann.", 20, 36, (Piece(0, 0, 8), Piece(9, 20, 36)))
OLD = replace(evidence("Pier", "It is old.", 0.7), selected=True)
BUILT = replace(evidence("Pier", "Ann built it.", 0.9, sentence_id=1), selected=True)


def report(
    label: Label, confidence: float, found: tuple[Evidence, ...], judge: str = "verifier"
) -> Report:
    cites = tuple(range(1, len(found) + 1))
    own = Judgement("verifier", label, confidence, f"why {label}", cites)
    opinions = (own,) if judge == "verifier" else (replace(own, judge=judge), own)
    return Report(
        claim="",
        recipe="test",
        notices=("A notice.",),
        corpus=CorpusInfo(name="piers", documents=1, built_at="", text_date=None),
        verdict=Verdict(label, confidence, judge, f"why {label}", opinions),
        evidence=found,
        documents=(ranked("Pier", "It is old.", "Ann built it."),),
        questions=(),
        proof=Proof(
            (
                Mutation((0, 8), EQUIVALENCE, None),
                Mutation((9, 15), ALTERNATION if label == REFUTES else EQUIVALENCE, None),
            ),
            label,
        ),
        hops=(
            Hop(
                hop=1,
                sufficient=True,
                missing=((0, 8), (9, 15)),
                documents=1,
                sentences=1,
                label=label,
                best=(),
                stopped="decided",
            ),
        ),
        seconds={"total": 1.0},
        usage=None if judge == "verifier" else Usage(judge, 1, 10, 2),
    )


CUTOFF = 0.55


def both(first: Report, second: Report) -> Report:
    return conjunction(CLAIM, [Checked(FIRST, first), Checked(SECOND, second)], CUTOFF)


@pytest.mark.parametrize(
    ("first", "second", "label", "confidence", "decides"),
    [
        ((SUPPORTS, 0.9), (SUPPORTS, 0.8), SUPPORTS, 0.72, "Each of the 2 statements"),
        ((SUPPORTS, 0.9), (REFUTES, 0.6), REFUTES, 0.6, "“The pier was built by Ann.” is refuted"),
        ((REFUTES, 0.8), (REFUTES, 0.6), REFUTES, 0.8, "“The pier is old.” is refuted"),
        ((REFUTES, 0.6), (NOT_ENOUGH_INFO, 1.0), REFUTES, 0.6, "“The pier is old.” is refuted"),
        (
            (NOT_ENOUGH_INFO, 1.0),
            (SUPPORTS, 0.9),
            NOT_ENOUGH_INFO,
            0.9,
            "“The pier is old.” is not settled",
        ),
    ],
)
def test_a_claim_is_as_true_as_all_its_statements(
    first: tuple[Label, float],
    second: tuple[Label, float],
    label: Label,
    confidence: float,
    decides: str,
) -> None:
    verdict = both(report(*first, (OLD,)), report(*second, (BUILT,))).verdict
    assert (verdict.label, verdict.judge) == (label, "verifier")
    assert verdict.confidence == pytest.approx(confidence)
    assert decides in verdict.rationale


@pytest.mark.parametrize(
    ("first", "second", "leans"),
    [
        # 0.7 * 0.7 = 0.49 is less than the cutoff.
        ((SUPPORTS, 0.7, None), (SUPPORTS, 0.7, None), SUPPORTS),
        ((NOT_ENOUGH_INFO, 0.3, SUPPORTS), (SUPPORTS, 0.9, None), SUPPORTS),
        ((NOT_ENOUGH_INFO, 0.3, REFUTES), (SUPPORTS, 0.9, None), REFUTES),
        ((NOT_ENOUGH_INFO, 0.3, SUPPORTS), (NOT_ENOUGH_INFO, 0.9, None), None),
    ],
)
def test_an_undecided_claim_leans_as_its_statements_do_together(
    first: tuple[Label, float, Label | None],
    second: tuple[Label, float, Label | None],
    leans: Label | None,
) -> None:
    reports = [
        replace(one, verdict=replace(one.verdict, leans=lean))
        for (label, confidence, lean), sentence in ((first, OLD), (second, BUILT))
        for one in [report(label, confidence, (sentence,))]
    ]
    verdict = both(*reports).verdict
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, leans)


def test_disagreement_of_a_statement_is_that_of_the_claim() -> None:
    against = report(SUPPORTS, 0.9, (OLD,))
    against = replace(against, verdict=replace(against.verdict, disagreement=(1,)))
    merged = both(against, report(SUPPORTS, 0.8, (BUILT,)))
    assert [item.key for item in merged.evidence] == [BUILT.key, OLD.key]
    assert merged.verdict.disagreement == (2,)


def test_evidence_is_merged_and_what_cites_it_follows() -> None:
    merged = both(report(SUPPORTS, 0.9, (OLD,)), report(SUPPORTS, 0.8, (BUILT, OLD)))
    assert [item.key for item in merged.evidence] == [BUILT.key, OLD.key]
    assert [item.hop for item in merged.evidence] == [2, 1]
    assert [one.verdict.opinions[0].cites for one in merged.statements] == [(2,), (1, 2)]
    assert merged.verdict.opinions[0].cites == (1, 2)
    assert len(merged.documents) == 1


def test_a_sentence_that_one_statement_selected_is_shown_as_that_one_read_it() -> None:
    unselected = replace(evidence("Pier", "It is old.", 0.95, REFUTES), selected=False)
    merged = both(report(SUPPORTS, 0.9, (OLD,)), report(NOT_ENOUGH_INFO, 0.8, (unselected,)))
    assert [(item.stance, item.selected) for item in merged.evidence] == [(SUPPORTS, True)]
    assert merged.evidence[0].key == SentenceKey("Pier", 0)


def test_what_was_retrieved_for_the_statements_is_retrieved_for_the_claim() -> None:
    first = Retrieved((("Pier", ("title",)), ("Boat", ("text",))), (OLD.key,))
    second = Retrieved((("Pier", ("words",)),), (BUILT.key, OLD.key))
    found = both(
        replace(report(SUPPORTS, 0.9, (OLD,)), retrieved=first),
        replace(report(SUPPORTS, 0.8, (BUILT,)), retrieved=second),
    ).retrieved
    assert found.documents == (("Pier", ("title",)), ("Boat", ("text",)))
    assert found.passages == (OLD.key, BUILT.key)


def test_hops_are_numbered_through_and_offsets_are_those_of_the_claim() -> None:
    merged = both(report(SUPPORTS, 0.9, (OLD,)), report(REFUTES, 0.8, (BUILT,)))
    assert [hop.hop for hop in merged.hops] == [1, 2]
    # "The pier" of the second statement has no place in its part of the claim.
    assert [hop.missing for hop in merged.hops] == [((0, 8), (9, 15)), ((20, 26),)]
    assert merged.proof is not None
    assert merged.proof.label == REFUTES
    assert [step.claim_span for step in merged.proof.mutations] == [
        (0, 8),
        (9, 15),
        (20, 26),
    ]
    assert [(one.start, one.end) for one in merged.statements] == [(0, 15), (20, 36)]


def test_a_language_model_that_was_asked_for_one_statement_decides_the_claim() -> None:
    first, second = report(SUPPORTS, 0.9, (OLD,), "model"), report(NOT_ENOUGH_INFO, 1.0, ())
    merged = both(first, second)
    assert merged.verdict.judge == "model"
    said = [(one.judge, one.label, one.cites) for one in merged.verdict.opinions]
    assert said == [("model", NOT_ENOUGH_INFO, (1,)), ("verifier", NOT_ENOUGH_INFO, (1,))]
    assert merged.usage == Usage("model", 1, 10, 2)
    assert merged.notices == ("A notice.",)


def test_a_single_statement_keeps_its_report() -> None:
    alone = report(SUPPORTS, 0.9, (OLD,))
    assert conjunction(CLAIM, [Checked(FIRST, alone)], CUTOFF) is alone


def test_a_sentence_keeps_what_it_says_about_each_statement() -> None:
    against = replace(OLD, opinion=(0.0, 0.875, 0.125))
    made = both(report(SUPPORTS, 0.9, (OLD,)), report(REFUTES, 0.8, (against, BUILT)))
    numbers = {item.key: number for number, item in enumerate(made.evidence, 1)}
    old, built = numbers[OLD.key], numbers[BUILT.key]
    first, second = (one.evidence for one in made.statements)
    assert first == (StanceOn(old, OLD.stance, OLD.stance_confidence),)
    assert second == (
        StanceOn(old, REFUTES, 0.875),
        StanceOn(built, BUILT.stance, BUILT.stance_confidence),
    )


def test_why_a_statement_is_not_settled_is_said_in_words_of_the_claim() -> None:
    # "was built" and "by Ann" of the second statement; "The pier" is not a part of it in the claim.
    why = NotSettled(absent=((22, 25),), open=((0, 8), (9, 18)), about=("Pier",))
    open_one = replace(report(NOT_ENOUGH_INFO, 1.0, (BUILT,)), not_settled=why)
    made = both(report(SUPPORTS, 0.9, (OLD,)), open_one).not_settled
    assert made is not None
    assert [CLAIM[start:end] for start, end in made.absent] == ["Ann"]
    assert [CLAIM[start:end] for start, end in made.open] == ["was built"]
    assert made.about == ("Pier",)
    assert both(report(REFUTES, 0.9, (OLD,)), open_one).not_settled is None
