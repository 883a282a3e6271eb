"""A claim with the measurement of a sentence in its place, and what arithmetic makes of it."""

from __future__ import annotations

import pytest

from retrieval.quantities.restated import candidates, measurement, restated, ruling
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS, Label
from tests.support.cases import cases

_DEAD, _WAR = "The storm killed 120 people.", "The war lasted two years."
_RANGE, _WEIGHS, _MOST = "Ober can weigh 2 to 5 kg.", " weighs 2 to 5 kg.", "Ober can weigh 5 kg."
_TO, _PAIRS = "Ober can weigh 4 to 5 kg.", "Ober has three pairs of inns."
_FOUNDED, _VISITED = "Ober was founded in 1874.", "Ober was visited in 1874."
_TERM = "Ober was mayor from 1911 to 1915."


def read(
    parser: EnglishParser, claim: str, sentence: str, *probabilities: float
) -> tuple[list[str], Label | None]:
    """Return the restated claims, and the label if a verifier gives them these probabilities."""
    parsed = parser.parse(claim)
    claimed = measurement(parsed)
    assert claimed is not None
    passage = parser.parse(sentence)
    found = list(candidates(parsed, claimed, "Ober", passage))
    decided = ruling(parsed, claimed, passage, list(zip(found, probabilities, strict=True)))
    return [restated(parsed, claimed, one) for one in found], decided and decided.label


@pytest.mark.parametrize(
    ("claim", "sentence", "claims", "label"),
    [
        ("Ober is 3,000 metres high.", "It reaches 4,212 m.", ["Ober is 4,212 m high."], REFUTES),
        ("Ober is over 4 km high.", "It reaches 4,212 m.", ["Ober is 4,212 m high."], SUPPORTS),
        # 4,211.8 is rounded to 4,212; 4,212 and 4,215 may be two measurements of the same.
        ("Ober is 4,212 m high.", "It reaches 4,211.8 m.", ["Ober is 4,211.8 m high."], SUPPORTS),
        ("Ober is 4,215 m high.", "It reaches 4,212 m.", ["Ober is 4,212 m high."], None),
        ("Ober is 4 km high.", "It is over 4 km high.", ["Ober is 4 km high."], SUPPORTS),
        ("Ober is 3 km high.", "It is over 4 km high.", ["Ober is 4 km high."], REFUTES),
        ("Ober is 4 km high.", "It is under 4 km high.", ["Ober is 4 km high."], None),
        # Of the dead by the evening, or of two years of a war, there may be more.
        ("The storm killed 300 people.", "By 6, 120 people were dead.", [_DEAD], None),
        ("The storm killed 80 people.", "By 6, 120 people were dead.", [_DEAD], REFUTES),
        ("The war lasted four years.", "After two years it ended.", [_WAR], None),
        (
            "Ober has 90,000 inhabitants.",
            "The town, with a population of 12,000, is old.",
            ["Ober has 12,000 inhabitants."],
            REFUTES,
        ),
        # What can be needs one case; what is usual is not said to be the most.
        ("Ober can weigh more than 4 kg.", "It weighs 2 to 5 kg.", [_RANGE], SUPPORTS),
        ("Ober weighs more than 4 kg.", "It weighs 2 to 5 kg.", [_RANGE[:4] + _WEIGHS], None),
        ("Ober can weigh more than 4 kg.", "It weighs up to 5 kg.", [_MOST], SUPPORTS),
        ("Ober can weigh more than 6 kg.", "It weighs up to 4 to 5 kg.", [_TO], REFUTES),
        ("Ober weighs less than 6 kg.", "It weighs up to 5 kg.", ["Ober weighs 5 kg."], SUPPORTS),
        ("Ober weighs up to 2 kg.", "It weighs up to 5 kg.", ["Ober weighs 5 kg."], REFUTES),
        # What a thing has may be counted in part.
        ("Ober has six inns.", "It has three pairs of inns.", [_PAIRS], SUPPORTS),
        ("Ober has nine inns.", "Its street has three inns.", ["Ober has three inns."], None),
        ("Ober was founded in the 1870s.", "Work began in 1874.", [_FOUNDED], SUPPORTS),
        ("Ober was founded in 1890.", "Work began in 1874.", [_FOUNDED], REFUTES),
        ("Ober was visited in 1890.", "It was visited in 1874.", [_VISITED], None),
        ("Ober was mayor from 1901 to 1905.", "He was it from 1911 to 1915.", [_TERM], REFUTES),
        # A term has all years between its first and its last, and no other.
        ("Ober was mayor in 1913.", "He was it from 1911 to 1915.", [_TERM], SUPPORTS),
        ("Ober was mayor in 1911.", "He was it from 1911 to 1915.", [_TERM], SUPPORTS),
        ("Ober was mayor in 1920.", "He was it from 1911 to 1915.", [_TERM], REFUTES),
        ("Ober was mayor for four years.", "He was it from 1911 to 1915.", [_TERM], SUPPORTS),
        ("Ober was mayor for nine years.", "He was it from 1911 to 1915.", [_TERM], REFUTES),
    ],
)
def test_what_the_verifier_reads_as_the_claimed_measurement_is_compared_with_it(
    parser: EnglishParser, claim: str, sentence: str, claims: list[str], label: Label | None
) -> None:
    assert read(parser, claim, sentence, 0.9) == (claims, label)


def test_the_reading_that_is_clearly_the_best_decides(parser: EnglishParser) -> None:
    claim = "Ober is 3,000 metres high."
    sentence = "It is 4,212 m high and stands 3,000 m above its valley."
    assert read(parser, claim, sentence, 0.9, 0.7)[1] == REFUTES
    assert read(parser, claim, sentence, 0.9, 0.8)[1] is None
    assert read(parser, claim, sentence, 0.4, 0.2)[1] is None


@cases("no_measurements", "claim")
def test_only_a_claim_of_one_measurement_is_restated(parser: EnglishParser, claim: str) -> None:
    assert measurement(parser.parse(claim)) is None


@pytest.mark.parametrize(
    "sentence", ["It may reach 4,212 m.", "A guide calls it “4,212 m high”.", "It costs 40 crowns."]
)
def test_what_a_sentence_does_not_state_is_no_candidate(
    parser: EnglishParser, sentence: str
) -> None:
    claim = parser.parse("Ober is 3,000 metres high.")
    claimed = measurement(claim)
    assert claimed is not None
    assert list(candidates(claim, claimed, "Ober", parser.parse(sentence))) == []


def test_a_date_belongs_to_its_verb(parser: EnglishParser) -> None:
    sentence = "It was a war that began with the fall of Ober in 1801 and ended in 1805."
    claims, label = read(parser, "The war started in 1805.", sentence, 0.9)
    assert (claims, label) == (["The war started in 1801."], REFUTES)
