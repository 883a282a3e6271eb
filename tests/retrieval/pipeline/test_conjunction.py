"""The report on a claim of several statements, and what is said about one that is not settled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from retrieval.corpora.corpus import Page
from retrieval.pipeline.conjunction import Checked, conjunction
from retrieval.stages.ending import why_not_settled
from retrieval.stages.stage import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.text.statement_cutter import CutStatement, Piece
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
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
    Span,
    StanceOn,
    Usage,
    Verdict,
)
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases, rules
from tests.support.evidence import evidence, ranked

CLAIM = "The pier is old and was built by Ann."
FIRST = CutStatement("The pier is old.", 0, 15, (Piece(0, 0, 15),))
# "The pier " comes from the first statement.
SECOND = CutStatement("The pier was built by Ann.", 20, 36, (Piece(0, 0, 8), Piece(9, 20, 36)))
OLD = replace(evidence("Pier", "It is old.", 0.7), selected=True)
BUILT = replace(evidence("Pier", "Ann built it.", 0.9, sentence_id=1), selected=True)


def report(
    label: Label,
    confidence: float,
    *found: Evidence,
    judge: str = "verifier",
    leans: Label | None = None,
    **changed: Any,
) -> Report:
    cites = tuple(range(1, len(found) + 1))
    own = Judgement("verifier", label, confidence, f"why {label}", cites)
    opinions = (own,) if judge == "verifier" else (replace(own, judge=judge), own)
    operator = ALTERNATION if label == REFUTES else EQUIVALENCE
    steps = (Mutation((0, 8), EQUIVALENCE, None), Mutation((9, 15), operator, None))
    missing = ((0, 8), (9, 15))
    made = Report(
        claim="",
        recipe="test",
        notices=("A notice.",),
        corpus=CorpusInfo(name="piers", documents=1, built_at="", text_date=None),
        verdict=Verdict(label, confidence, judge, f"why {label}", opinions, leans=leans),
        evidence=found,
        documents=(ranked("Pier", "It is old.", "Ann built it."),),
        questions=(),
        proof=Proof(steps, label),
        hops=(Hop(hop=1, sufficient=True, missing=missing, documents=1, sentences=1),),
        seconds={"total": 1.0},
        usage=None if judge == "verifier" else Usage(judge, 1, 10, 2),
    )
    return replace(made, **changed)


def both(first: Report, second: Report) -> Report:
    checked = [Checked(FIRST, first), Checked(SECOND, second)]
    return conjunction(CLAIM, checked, decided_cutoff=0.55)


def checked(first: list[Any], second: list[Any]) -> Verdict:
    """The verdict of both statements: label, confidence and what each leans to."""
    one, other = (
        report(said[0], said[1], sentence, leans=said[2] if len(said) > 2 else None)
        for said, sentence in ((first, OLD), (second, BUILT))
    )
    return both(one, other).verdict


@cases("conjunction", "first", "second", "label", "confidence", "decides")
def test_a_claim_is_as_true_as_all_its_statements(
    first: list[Any], second: list[Any], label: Label, confidence: float, decides: str
) -> None:
    verdict = checked(first, second)
    assert (verdict.label, verdict.judge) == (label, "verifier")
    assert verdict.confidence == pytest.approx(confidence)
    assert decides in verdict.rationale


@cases("conjunction", "first", "second", "leans")
def test_an_undecided_claim_leans_as_its_statements_do_together(
    first: list[Any], second: list[Any], leans: Label | None
) -> None:
    verdict = checked(first, second)
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, leans)


def test_evidence_is_merged_and_what_cites_it_follows() -> None:
    first = report(SUPPORTS, 0.9, OLD)
    first = replace(first, verdict=replace(first.verdict, disagreement=(1,)))
    merged = both(first, report(SUPPORTS, 0.8, BUILT, OLD))
    assert [item.key for item in merged.evidence] == [BUILT.key, OLD.key]
    assert [item.hop for item in merged.evidence] == [2, 1]
    assert [one.verdict.opinions[0].cites for one in merged.statements] == [(2,), (1, 2)]
    assert merged.verdict.opinions[0].cites == (1, 2)
    assert merged.verdict.disagreement == (2,)
    assert len(merged.documents) == 1


def test_a_sentence_is_shown_as_the_statement_that_selected_it_read_it() -> None:
    unselected = replace(evidence("Pier", "It is old.", 0.95, REFUTES), selected=False)
    merged = both(report(SUPPORTS, 0.9, OLD), report(NOT_ENOUGH_INFO, 0.8, unselected))
    (item,) = merged.evidence
    assert (item.key, item.stance, item.selected) == (OLD.key, SUPPORTS, True)
    # What it says about each statement is kept.
    against = replace(OLD, opinion=(0.0, 0.875, 0.125))
    made = both(report(SUPPORTS, 0.9, OLD), report(REFUTES, 0.8, against, BUILT))
    numbers = {item.key: number for number, item in enumerate(made.evidence, 1)}
    old, built = numbers[OLD.key], numbers[BUILT.key]
    assert [one.evidence for one in made.statements] == [
        (StanceOn(old, SUPPORTS, OLD.stance_confidence),),
        (StanceOn(old, REFUTES, 0.875), StanceOn(built, SUPPORTS, BUILT.stance_confidence)),
    ]


def test_hops_are_numbered_through_and_offsets_are_those_of_the_claim() -> None:
    first = Retrieved((("Pier", ("title",)), ("Boat", ("text",))), (OLD.key,))
    second = Retrieved((("Pier", ("words",)),), (BUILT.key, OLD.key))
    one = report(SUPPORTS, 0.9, OLD, retrieved=first)
    merged = both(one, report(REFUTES, 0.8, BUILT, retrieved=second))
    assert merged.retrieved == Retrieved(first.documents, (OLD.key, BUILT.key))
    assert [hop.hop for hop in merged.hops] == [1, 2]
    # "The pier" of the second statement has no place in its part of the claim.
    assert [hop.missing for hop in merged.hops] == [((0, 8), (9, 15)), ((20, 26),)]
    assert merged.proof is not None
    assert merged.proof.label == REFUTES
    places = [step.claim_span for step in merged.proof.mutations]
    assert places == [(0, 8), (9, 15), (20, 26)]
    assert [(one.start, one.end) for one in merged.statements] == [(0, 15), (20, 36)]
    alone = [Checked(FIRST, one)]  # keeps its report
    assert conjunction(CLAIM, alone, 0.55) is one


def test_a_language_model_that_was_asked_for_one_statement_decides_the_claim() -> None:
    first = report(SUPPORTS, 0.9, OLD, judge="model")
    merged = both(first, report(NOT_ENOUGH_INFO, 1.0))
    assert merged.verdict.judge == "model"
    said = [(one.judge, one.label, one.cites) for one in merged.verdict.opinions]
    assert said == [("model", NOT_ENOUGH_INFO, (1,)), ("verifier", NOT_ENOUGH_INFO, (1,))]
    assert merged.usage == Usage("model", 1, 10, 2)
    assert merged.notices == ("A notice.",)


def test_why_a_statement_is_not_settled_is_said_in_words_of_the_claim() -> None:
    # "was built" and "by Ann" of the second statement; "The pier" is not a part of it in the claim.
    why = NotSettled(absent=((22, 25),), open=((0, 8), (9, 18)), about=("Pier",))
    open_one = report(NOT_ENOUGH_INFO, 1.0, BUILT, not_settled=why)
    made = both(report(SUPPORTS, 0.9, OLD), open_one).not_settled
    assert made is not None
    assert [CLAIM[start:end] for start, end in made.absent] == ["Ann"]
    assert [CLAIM[start:end] for start, end in made.open] == ["was built"]
    assert made.about == ("Pier",)
    assert both(report(REFUTES, 0.9, OLD), open_one).not_settled is None


# --- what a small corpus does not settle

TEXTS = {
    "Varnby": "Varnby is a town at a lake. Its mayor is Ida Holm.",
    "Ostrea": "Ostrea is a country. Its towns are old.",
    "Brodric Bay": "It lies in the north.",
}
STORE = InMemoryStore([Page(title, title, None, text) for title, text in TEXTS.items()], None)
MAYOR = replace(evidence("Varnby", "Its mayor is Ida Holm."), selected=True)


def why_open(
    parser: EnglishParser, claim: str, *found: Evidence, still_open: str = "", **state: Any
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """What is absent, what is open and what the claim is about after its search.

    ``still_open``: a part that the proof has left open.
    """
    start = claim.index(still_open)
    steps = (Mutation((start, start + len(still_open)), INDEPENDENCE, None),)
    proof = Proof(steps, NOT_ENOUGH_INFO) if still_open else None
    made = ClaimState(claim, parser.parse(claim), evidence=found, proof=proof, **state)
    why = why_not_settled(STORE, made)
    absent, still = ([claim[a:b] for a, b in spans] for spans in (why.absent, why.open))
    return absent, still, why.about


@rules(
    ("not_settled", "claim", "absent", lambda parser, claim: why_open(parser, claim)[0]),
    (
        *("not_settled", "claim still_open", "said"),
        lambda p, claim, part: why_open(p, claim, MAYOR, still_open=part)[1] == [part],
    ),
)
def test_a_name_that_no_document_contains_is_absent_and_a_part_with_such_a_word_is_open(
    parser: EnglishParser, rule: Any, given: list[str], expected: object
) -> None:
    assert rule(parser, *given) == expected


def test_what_the_claim_is_about_is_neither_absent_nor_open(parser: EnglishParser) -> None:
    # A longer form of a name is not absent if a sentence is about it.
    assert why_open(parser, "Ida Varnby Holm is a mayor.", MAYOR)[0] == []
    # Without a proof the words that no sentence has count.
    spans = (Span("Ida Holm", 0, 8, "entity"), Span("bees", 15, 19, "noun chunk"))
    assert why_open(parser, "Ida Holm keeps bees.", MAYOR, spans=spans)[1] == ["bees"]
    # What has a document of its own is not open.
    opened = (ranked("Ostrea", TEXTS["Ostrea"]), ranked("Varnby", TEXTS["Varnby"]))
    made = why_open(parser, "Varnby has nine towers.", still_open="Varnby", documents=opened)
    assert made[1:] == ([], ("Varnby",))
