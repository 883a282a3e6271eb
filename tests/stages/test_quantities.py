"""What arithmetic does to the evidence that a verifier has labelled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from retrieval.config import RetrievalConfig
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.language.english import EnglishParser
from retrieval.stages.quantities import QuantityRuler
from retrieval.stages.verdict import CrossEncoderJudge
from retrieval.state import ClaimState
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Evidence
from tests.evidence import evidence

BECAUSE = "80 kilometres is 49.71 mi, which does not fit “80 miles”."
ROAD = evidence("Arl", "The road from Arl to Benn is 80 kilometres long.", 0.9, SUPPORTS)
INN = evidence("Benn", "Benn has an inn on the road from Arl.", 0.95, SUPPORTS)
OBER = evidence("Mount Ober", "It rises to 4,212 metres above sea level.", 0.6, NOT_ENOUGH_INFO)
LUND = evidence("Lund", "Lund is a mountain with an elevation of 3,900 m.", 0.8, SUPPORTS)


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


def test_half_of_a_comparison_that_its_neighbour_may_turn_decides_nothing(
    parser: EnglishParser,
) -> None:
    corrected = replace(LUND, context_after="That is wrong.")
    before = state_of(parser, "Ober is taller than Lund.", read=(OBER, corrected))
    assert not QuantityRuler(parser).run(before).state.rulings


def test_rulings_of_the_hop_before_do_not_stay(parser: EnglishParser) -> None:
    claim = "The road from Arl to Benn is 80 miles long."
    ruled = QuantityRuler(parser).run(state_of(parser, claim, evidence=(ROAD,))).state
    assert ruled.rulings
    later = QuantityRuler(parser).run(replace(ruled, evidence=(INN,))).state
    assert (later.evidence, later.rulings) == ((INN,), {})


def test_sentences_of_two_pages_become_a_path_that_decides_a_comparison(
    parser: EnglishParser,
) -> None:
    claim = "Ober is taller than Lund."
    before = state_of(parser, claim, read=(OBER, LUND, INN), evidence=(INN, LUND))
    state = QuantityRuler(parser).run(before).state
    last, lead, other = state.evidence
    assert (last.key, last.path, last.stance) == (LUND.key, (OBER.key,), SUPPORTS)
    assert (lead.key, lead.stance, lead.path) == (OBER.key, NOT_ENOUGH_INFO, ())
    assert other == INN
    assert state.rulings[(OBER.key,), LUND.key].because == (
        "4,212 metres (Mount Ober) is more than 3,900 m (Lund)."
    )


class Unasked:
    verdict_scale = 1.0

    def fits(self, claim: str, evidence: str) -> bool:
        return True


def test_the_verdict_says_the_arithmetic_and_names_it_beside_the_verifier(
    parser: EnglishParser,
) -> None:
    road: Evidence = replace(ROAD, selected=True)
    before = state_of(parser, "The road from Arl to Benn is 80 miles long.", evidence=(road,))
    judge = CrossEncoderJudge(cast(CrossEncoder, Unasked()), "verifier 1", RetrievalConfig())
    verdict = judge.run(QuantityRuler(parser).run(before).state).state.verdict
    assert verdict is not None
    assert (verdict.label, verdict.judge) == (REFUTES, "verifier 1 + quantities")
    assert verdict.rationale == f"“Arl” contradicts it: “{ROAD.sentence.text}” {BECAUSE}"
