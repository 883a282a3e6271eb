"""What arithmetic does to the evidence that a verifier has labelled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.quantities import QuantityRuler
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS, Evidence
from tests.support.evidence import evidence
from tests.support.opinions import Says

BECAUSE = "80 kilometres is 49.71 mi, which does not fit “80 miles”."
ROAD = evidence("Arl", "The road from Arl to Benn is 80 kilometres long.", 0.9, SUPPORTS)
INN = evidence("Benn", "Benn has an inn on the road from Arl.", 0.95, SUPPORTS)


def state_of(parser: EnglishParser, claim: str, **found: Any) -> ClaimState:
    return ClaimState(claim, parser.parse(claim), **found)


def test_a_sentence_that_arithmetic_decides_gets_its_label_and_comes_first(
    parser: EnglishParser,
) -> None:
    before = state_of(parser, "The road from Arl to Benn is 80 miles long.", evidence=(INN, ROAD))
    state, message = QuantityRuler(parser).run(before)
    first, second = state.evidence
    assert (first.key, first.stance, second) == (ROAD.key, REFUTES, INN)
    assert first.stance_confidence > 0.95
    (decided,) = state.rulings.values()
    assert (decided.label, decided.because) == (REFUTES, BECAUSE)
    assert message == "1 reading decided by arithmetic"


def test_evidence_without_quantities_is_left_as_it_is(parser: EnglishParser) -> None:
    before = state_of(parser, "The road from Arl to Benn is long.", evidence=(INN, ROAD))
    assert QuantityRuler(parser).run(before) == (before, "")


def test_a_sentence_that_its_neighbour_may_turn_is_left_to_the_verifier(
    parser: EnglishParser,
) -> None:
    corrected = replace(ROAD, context_after="That is wrong.")
    claim = "The road from Arl to Benn is 80 kilometres long."
    before = state_of(parser, claim, evidence=(corrected,))
    assert QuantityRuler(parser).run(before) == (before, "")
    alone = QuantityRuler(parser).run(replace(before, evidence=(ROAD,))).state
    assert len(alone.rulings) == 1


def test_rulings_of_the_hop_before_do_not_stay(parser: EnglishParser) -> None:
    claim = "The road from Arl to Benn is 80 miles long."
    ruled = QuantityRuler(parser).run(state_of(parser, claim, evidence=(ROAD,))).state
    assert ruled.rulings
    later = QuantityRuler(parser).run(replace(ruled, evidence=(INN,))).state
    assert (later.evidence, later.rulings) == ((INN,), {})


def test_the_verdict_says_the_arithmetic_and_names_it_beside_the_verifier(
    parser: EnglishParser,
) -> None:
    road: Evidence = replace(ROAD, selected=True)
    before = state_of(parser, "The road from Arl to Benn is 80 miles long.", evidence=(road,))
    unasked = Says(lambda *_: (0, 0, 1))
    judge = CrossEncoderJudge(unasked.model, "verifier 1", RetrievalConfig())
    verdict = judge.run(QuantityRuler(parser).run(before).state).state.verdict
    assert verdict is not None
    assert unasked.asked == []
    assert (verdict.label, verdict.judge) == (REFUTES, "verifier 1 + quantities")
    assert verdict.rationale == f"“Arl” contradicts it: “{ROAD.sentence.text}” {BECAUSE}"
