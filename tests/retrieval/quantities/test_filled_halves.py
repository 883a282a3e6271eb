"""What two filled halves say about a comparison; the labels are worked out by hand."""

from __future__ import annotations

import pytest

from retrieval.quantities.halves import (
    Comparison,
    Filled,
    Half,
    compared,
    comparison,
    filled,
    fillings,
)
from retrieval.quantities.reading import COUNT, DATE
from retrieval.quantities.relation import Ruling
from retrieval.text.english import EnglishParser
from retrieval.types import SUPPORTS, Label
from tests.support.cases import cases
from tests.support.rows import rows


def side(parser: EnglishParser, half: Half, *sentences: str, sure: float = 0.9) -> list[Filled]:
    """Return the half with every quantity of its kind in the sentences, all equally probable."""
    return [
        Filled(half, filling, place, sure)
        for place, sentence in enumerate(sentences)
        for filling in fillings(parser.parse(sentence))
        if half.takes(filling.quantity.dimension)
    ]


def ruled(parser: EnglishParser, claim: str, first: str, second: str) -> Ruling | None:
    cut = comparison(parser.parse(claim))
    assert cut is not None
    found = compared(cut, side(parser, cut.first[0], first), side(parser, cut.second[0], second))
    return found[0] if found else None


@pytest.mark.parametrize(
    ("claim", "first", "second", "label"),
    rows(
        """
        The Torve is longer than the Wenlow.
            It is 320 miles long. | It is 120 km long. | SUPPORTS
        The Torve is shorter than the Wenlow.
            It is 320 miles long. | It is 120 km long. | REFUTES
        Selm has more people than Orn.
            Selm has 3,400 people. | Over 9,000 people live in Orn. | REFUTES
        Ada's reign lasted longer than Bo's.
            Her reign of three decades. | He ruled for 12 years. | SUPPORTS
        The mill opened before the bridge fell.
            It opened in May 1901. | It fell in 1903. | SUPPORTS
        The mill opened after the bridge fell.
            It opened in May 1901. | It fell in 1903. | REFUTES
        The mill opened two years before the bridge fell.
            It opened in 1901. | It fell in 1903. | SUPPORTS
        The mill opened nine years before the bridge fell.
            It opened in 1901. | It fell in 1903. | REFUTES
        The mill opened over a year before the bridge fell.
            It opened in 1901. | It fell in 1903. | SUPPORTS
        """
    ),
)
def test_arithmetic_decides_by_the_quantities_of_both_halves(
    parser: EnglishParser, claim: str, first: str, second: str, label: Label
) -> None:
    decided = ruled(parser, claim, first, second)
    assert decided is not None
    assert decided.label == label


@cases("comparisons_undecided", "claim", "first", "second")
def test_nothing_is_decided_by_what_is_too_close_or_not_given(
    parser: EnglishParser, claim: str, first: str, second: str
) -> None:
    assert ruled(parser, claim, first, second) is None


PEOPLE = Half("Selm has {} people", f"{COUNT}people"), Half("Orn has {} people", f"{COUNT}people")


def test_several_fillings_must_agree(parser: EnglishParser) -> None:
    claim = Comparison(PEOPLE[:1], PEOPLE[1:], more=True)
    orn = side(parser, PEOPLE[1], "It has 500 people.")
    agree = side(parser, PEOPLE[0], "It has 900 people.", "It had 1,200 people.")
    differ = side(parser, PEOPLE[0], "It has 900 people.", "It had 120 people.")
    found = compared(claim, agree, orn)
    assert found is not None
    assert found[0].label == SUPPORTS
    assert compared(claim, differ, orn) is None


def test_a_filling_that_is_hardly_supported_does_not_prevent_a_ruling(
    parser: EnglishParser,
) -> None:
    claim = Comparison(PEOPLE[:1], PEOPLE[1:], more=True)
    orn = side(parser, PEOPLE[1], "It has 500 people.")
    sure = side(parser, PEOPLE[0], "It has 900 people.", sure=0.95)
    unsure = side(parser, PEOPLE[0], "It had 120 people.", sure=0.5)
    found = compared(claim, [*sure, *unsure], orn)
    assert found is not None
    said = "900 is more than 500 (read as: Selm has 900 people; Orn has 500 people)."
    assert found[0] == Ruling(SUPPORTS, said, sure[0].probability * orn[0].probability)


def test_the_reason_converts_the_unit_of_the_larger_one(parser: EnglishParser) -> None:
    decided = ruled(
        parser,
        "The Torve is longer than the Wenlow.",
        "It is 320 miles long.",
        "It is 120 km long.",
    )
    assert decided is not None
    assert decided.because == (
        "320 miles, or 515 km, is more than 120 km"
        " (read as: The Torve is 320 miles long; the Wenlow is 120 km long)."
    )


def test_the_reason_says_how_much_earlier_if_the_claim_does(parser: EnglishParser) -> None:
    claim = "The mill opened nine years before the bridge fell."
    decided = ruled(parser, claim, "It opened on 3 May 1901.", "It fell in 1903.")
    assert decided is not None
    assert decided.because == (
        "3 May 1901 is 2.2 years before 1903"
        " (read as: The mill opened on 3 May 1901; the bridge fell in 1903)."
    )


def test_a_span_of_time_gives_its_first_and_its_last_date(parser: EnglishParser) -> None:
    found = [item.words for item in fillings(parser.parse("She was king from 1901 to May 1917."))]
    assert found == ["1901", "May 1917"]


@pytest.mark.parametrize(
    ("sentence", "dimension", "claim"),
    [
        ("It was in 1901.", DATE, "The mill opened in 1901."),
        ("It was on 3 May 1901.", DATE, "The mill opened on 3 May 1901."),
        ("It was in the 1930s.", DATE, "The mill opened in the 1930s."),
        ("It was in the 19th century.", DATE, "The mill opened in the 19th century."),
        ("A six-decade rule.", "time", "The mill opened six decades."),
    ],
)
def test_a_half_is_filled_as_people_write_it(
    parser: EnglishParser, sentence: str, dimension: str, claim: str
) -> None:
    (filling,) = fillings(parser.parse(sentence))
    assert filled(Half("The mill opened {}", dimension), filling) == claim
