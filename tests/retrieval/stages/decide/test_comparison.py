"""What is made of a claim that compares two things, whose halves sentences fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retrieval.models.shipped import verifier
from retrieval.stages.decide.comparison import ComparisonReader
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Opinion
from tests.support.evidence import evidence
from tests.support.opinions import Says

CLAIM = "Ober is higher than Lund."
OBER = evidence("Mount Ober", "It rises to 4,212 metres.", 0.6, NOT_ENOUGH_INFO)
LUND = evidence("Lund", "The top is at 3,900 m.", 0.8, NOT_ENOUGH_INFO)
INN = evidence("Ober Inn", "Ober has an inn below the pass to Lund.", 0.9, NOT_ENOUGH_INFO)
BOTH = {"Ober is 4,212 metres high.": 0.9, "Lund is 3,900 m high.": 0.8}


def supporting(supported: Mapping[str, float]) -> Says:
    """A model that supports some claims, whatever it reads, and no others."""

    def say(claim: str, _: str) -> Opinion:
        share = supported.get(claim, 0.1)
        return share, 0.0, 1 - share

    return Says(say)


def compared(
    parser: EnglishParser, supported: Mapping[str, float], **found: Any
) -> tuple[ClaimState, ClaimState, list[str]]:
    """Return the state before and after the stage, and the claims that the model was asked."""
    before = ClaimState(CLAIM, parser.parse(CLAIM), **found)
    says = supporting(supported)
    stage = ComparisonReader(parser, says.model, sentences=4)
    return before, stage.run(before).state, [claim for claim, _ in says.asked]


def test_sentences_of_two_pages_become_a_path_that_decides_a_comparison(
    parser: EnglishParser,
) -> None:
    _, state, _ = compared(parser, BOTH, read=(OBER, LUND, INN), evidence=(INN, LUND))
    last, lead, other = state.evidence
    assert (last.key, last.path, last.decides) == (LUND.key, (OBER.key,), SUPPORTS)
    # The verifier supports the halves with 0.9 and 0.8; the arithmetic is certain.
    assert last.opinion == pytest.approx((0.72, 0.0, 0.28))
    assert last.stance == NOT_ENOUGH_INFO  # alone it says nothing
    assert (lead.key, lead.stance, lead.path) == (OBER.key, NOT_ENOUGH_INFO, ())
    assert other == INN
    assert state.rulings[(OBER.key,), LUND.key].because == (
        "4,212 metres is more than 3,900 m"
        " (read as: Ober is 4,212 metres high; Lund is 3,900 m high)."
    )


def test_one_sentence_may_give_both_halves(parser: EnglishParser) -> None:
    both = evidence("Vorn", "Ober has 4,212 metres and Lund 3,900 m.", 0.6, NOT_ENOUGH_INFO)
    _, state, _ = compared(parser, BOTH, read=(both,), evidence=(both,))
    (found,) = state.evidence
    assert (found.path, found.stance) == ((), SUPPORTS)


def test_without_both_halves_nothing_is_decided(parser: EnglishParser) -> None:
    known = {"read": (OBER, LUND), "evidence": (OBER, LUND)}
    before, after, _ = compared(parser, {"Ober is 4,212 metres high.": 0.9}, **known)
    assert after == before


def test_a_sentence_that_its_neighbour_may_turn_fills_no_half(parser: EnglishParser) -> None:
    corrected = replace(LUND, context_after="That is wrong.")
    before, after, asked = compared(parser, BOTH, read=(OBER, corrected), evidence=(OBER,))
    assert after == before
    assert not any("3,900" in claim for claim in asked)


def test_what_the_verifier_guessed_from_both_sentences_is_dropped(parser: EnglishParser) -> None:
    guess = replace(LUND, opinion=(0.0, 0.9, 0.1), path=(INN.key,))
    alone = replace(INN, opinion=(0.0, 0.8, 0.2))
    _, state, _ = compared(parser, BOTH, read=(OBER, LUND, INN), evidence=(guess, alone))
    assert [item.decides for item in state.evidence] == [SUPPORTS, NOT_ENOUGH_INFO, REFUTES]


def test_other_claims_are_left_to_the_verifier(parser: EnglishParser) -> None:
    claim = "Ober is a mountain."
    says = supporting({})
    before = ClaimState(claim, parser.parse(claim), read=(OBER,), evidence=(OBER,))
    after = ComparisonReader(parser, says.model, sentences=4).run(before).state
    assert after == before
    assert says.asked == []


def test_the_shipped_verifier_finds_the_halves(parser: EnglishParser, unpacked: Path) -> None:
    ann = evidence("Ann Reeve", "Ann Reeve (3 May 1901 - 9 June 1970) was a painter.", 0.6)
    jon = evidence("Jon Pell", "Jon Pell, born in 1960, came to Skerrow as a boy.", 0.6)
    claim = "Ann Reeve was born after Jon Pell."
    before = ClaimState(claim, parser.parse(claim), read=(ann, jon), evidence=(ann, jon))
    stage = ComparisonReader(parser, verifier(unpacked, in_search=True), sentences=4)
    (ruling,) = stage.run(before).state.rulings.values()
    assert ruling.label == REFUTES
