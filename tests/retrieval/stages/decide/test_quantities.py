"""What arithmetic does to the evidence that a verifier has labelled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.quantities import QuantityRuler
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.text.model_texts import evidence_text
from retrieval.types import REFUTES, SUPPORTS, Evidence
from tests.support.evidence import evidence
from tests.support.opinions import Says

BECAUSE = "80 kilometres is 49.71 mi, which does not fit “80 miles”."
ROAD = evidence("Arl", "The road from Arl to Benn is 80 kilometres long.", 0.9, SUPPORTS)
INN = evidence("Benn", "Benn has an inn on the road from Arl.", 0.95, SUPPORTS)


def supports(*restated: str) -> Says:
    """A verifier that supports these claims and no others."""
    return Says(lambda claim, _: (0.9, 0.0, 0.1) if claim in restated else (0.0, 0.0, 1.0))


def state_of(parser: EnglishParser, claim: str, **found: Any) -> ClaimState:
    return ClaimState(claim, parser.parse(claim), **found)


def ruler(parser: EnglishParser, says: Says | None = None) -> QuantityRuler:
    """The stage, with a verifier that supports the length of the road unless ``says`` is given."""
    return QuantityRuler(parser, (says or supports(ROAD.sentence.text)).model)


def test_a_sentence_that_arithmetic_decides_gets_its_label_and_comes_first(
    parser: EnglishParser,
) -> None:
    before = state_of(parser, "The road from Arl to Benn is 80 miles long.", evidence=(INN, ROAD))
    state, message = ruler(parser).run(before)
    first, second = state.evidence
    assert (first.key, first.stance, second) == (ROAD.key, REFUTES, INN)
    # It is as sure as the verifier is that the sentence gives the length of this road.
    assert first.opinion == pytest.approx((0.0, 0.9, 0.1))
    (decided,) = state.rulings.values()
    assert (decided.label, decided.because) == (REFUTES, BECAUSE)
    assert message == "1 reading decided by arithmetic"


def test_evidence_without_quantities_is_left_as_it_is(parser: EnglishParser) -> None:
    before = state_of(parser, "The road from Arl to Benn is long.", evidence=(INN, ROAD))
    assert ruler(parser).run(before) == (before, "")


def test_a_sentence_that_its_neighbour_may_turn_is_left_to_the_verifier(
    parser: EnglishParser,
) -> None:
    corrected = replace(ROAD, context_after="That is wrong.")
    claim = "The road from Arl to Benn is 80 kilometres long."
    before = state_of(parser, claim, evidence=(corrected,))
    assert ruler(parser).run(before) == (before, "")
    alone = ruler(parser).run(replace(before, evidence=(ROAD,))).state
    assert len(alone.rulings) == 1


def test_rulings_of_the_hop_before_do_not_stay(parser: EnglishParser) -> None:
    claim = "The road from Arl to Benn is 80 miles long."
    ruled = ruler(parser).run(state_of(parser, claim, evidence=(ROAD,))).state
    assert ruled.rulings
    later = ruler(parser).run(replace(ruled, evidence=(INN,))).state
    assert (later.evidence, later.rulings) == ((INN,), {})


def test_the_verdict_says_the_arithmetic_and_names_it_beside_the_verifier(
    parser: EnglishParser,
) -> None:
    road: Evidence = replace(ROAD, selected=True)
    before = state_of(parser, "The road from Arl to Benn is 80 miles long.", evidence=(road,))
    unasked = Says(lambda *_: (0, 0, 1))
    judge = CrossEncoderJudge(unasked.model, "verifier 1", RetrievalConfig())
    verdict = judge.run(ruler(parser).run(before).state).state.verdict
    assert verdict is not None
    assert unasked.asked == []
    assert (verdict.label, verdict.judge) == (REFUTES, "verifier 1 + quantities")
    assert verdict.rationale == f"“Arl” contradicts it: “{ROAD.sentence.text}” {BECAUSE}"


HEIGHT = evidence("Ober", "Its height was measured in 2020 by a joint survey as 4,212 m.", 0.5)


def test_a_measurement_said_in_other_words_decides_where_the_verifier_reads_it_as_that_of_the_claim(
    parser: EnglishParser,
) -> None:
    says = supports("Ober is 4,212 m high.")
    before = state_of(parser, "Ober is 3,000 metres high.", evidence=(INN, HEIGHT))
    state = ruler(parser, says).run(before).state
    (decided,) = state.rulings.values()
    assert (state.evidence[0].key, state.evidence[0].stance) == (HEIGHT.key, REFUTES)
    assert decided.because == "4,212 m does not fit “3,000 metres”."
    assert says.asked == [("Ober is 4,212 m high.", evidence_text("Ober", HEIGHT.sentence.text))]


def test_a_measurement_that_the_verifier_does_not_read_as_that_of_the_claim_decides_nothing(
    parser: EnglishParser,
) -> None:
    before = state_of(parser, "Ober is 3,000 metres high.", evidence=(HEIGHT,))
    assert ruler(parser, supports()).run(before).state.rulings == {}
