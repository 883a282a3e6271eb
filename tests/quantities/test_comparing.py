"""Claims that compare two pages; the labels are worked out by hand."""

from __future__ import annotations

import pytest

from retrieval.language.english import EnglishParser
from retrieval.quantities.comparing import comparison, names_page
from retrieval.quantities.facts import Passage
from retrieval.quantities.relation import Ruling
from retrieval.quantities.ruling import ruling
from retrieval.types import REFUTES, SUPPORTS, Label

OBER = ("Mount Ober", "Mount Ober is a volcano that rises to 4,212 metres above sea level.")
LUND = ("Lund", "Lund is a mountain with an elevation of 3,900 m.")
SELM = ("Selm", "Selm has a population of 12,412.")
ORN = ("Orn", "The town had 3,400 inhabitants in 2011.")
VALE = ("Ada Vale", "Ada Vale (3 May 1901 - 9 June 1970) was a painter.")
PELL = ("Jon Pell", "Jon Pell (born 4 July 1960) is an actor.")
TORVE = ("River Torve", "The river is 320 miles long.")
WENLOW = ("River Wenlow", "The Wenlow is 120 km long.")


def compared(parser: EnglishParser, claim: str, *sentences: tuple[str, str]) -> Ruling | None:
    passages = [Passage(title, parser.parse(text)) for title, text in sentences]
    return ruling(parser.parse(claim), passages)


@pytest.mark.parametrize(
    ("claim", "first", "second", "label"),
    [
        ("Ober is taller than Lund.", OBER, LUND, SUPPORTS),
        ("Mount Ober is lower than Lund.", OBER, LUND, REFUTES),
        ("Lund is higher than Mount Ober.", LUND, OBER, REFUTES),
        ("Selm has more inhabitants than Orn.", SELM, ORN, SUPPORTS),
        ("Selm is less populous than Orn.", SELM, ORN, REFUTES),
        ("Orn has fewer people than Selm.", ORN, SELM, SUPPORTS),
        ("Orn has a larger population than Selm.", ORN, SELM, REFUTES),
        ("Ada Vale was born before Jon Pell.", VALE, PELL, SUPPORTS),
        ("Ada Vale was born after Jon Pell.", VALE, PELL, REFUTES),
        ("The Torve is longer than the Wenlow.", TORVE, WENLOW, SUPPORTS),
        (
            "The War of Vorn ended before the War of Arl.",
            ("War of Vorn", "The war ended in 1644."),
            ("War of Arl", "It ended in 1610."),
            REFUTES,
        ),
        (
            "Selm is larger than Orn by area.",
            ("Selm", "It covers an area of 90 square miles."),
            ("Orn", "It has an area of 100 km2."),
            SUPPORTS,
        ),
    ],
)
def test_two_pages_decide_a_comparison(
    parser: EnglishParser,
    claim: str,
    first: tuple[str, str],
    second: tuple[str, str],
    label: Label,
) -> None:
    decided = compared(parser, claim, first, second)
    assert decided is not None
    assert decided.label == label


@pytest.mark.parametrize(
    ("claim", "first", "second"),
    [
        # Less than 1 % apart.
        ("Lund is higher than Mount Ober.", ("Lund", "It has a height of 4,200 m."), OBER),
        ("Lund is higher than Mount Ober.", ("Lund", "It lies 40 km north of the sea."), OBER),
        ("Lund is higher than Mount Ober.", ("Lund", "It may have a height of 4,800 m."), OBER),
        ("Lund is higher than Mount Ober.", ("Lund Hut", "It has a height of 20 m."), OBER),
        ("Ada Vale died before Jon Pell.", VALE, PELL),
        ("Lund is higher than Ober and Selm.", LUND, OBER),
    ],
)
def test_nothing_is_decided_unless_both_are_measured_and_differ(
    parser: EnglishParser, claim: str, first: tuple[str, str], second: tuple[str, str]
) -> None:
    assert compared(parser, claim, first, second) is None


def test_two_heights_of_one_page_decide_nothing(parser: EnglishParser) -> None:
    other = ("Lund", "The mountain has a height of 2,100 m.")
    assert compared(parser, "Ober is taller than Lund.", OBER, LUND, other) is None


def test_a_height_above_sea_level_comes_before_others(parser: EnglishParser) -> None:
    ober = ("Mount Ober", "It is 4,212 m above sea level and 900 m above its plateau.")
    decided = compared(parser, "Ober is taller than Lund.", ober, LUND)
    assert decided == Ruling(SUPPORTS, "4,212 m (Mount Ober) is more than 3,900 m (Lund).")


def test_the_reason_converts_the_unit_of_the_larger_one(parser: EnglishParser) -> None:
    decided = compared(parser, "The Wenlow is longer than the Torve.", WENLOW, TORVE)
    assert decided == Ruling(
        REFUTES, "320 miles (River Torve), or 515 km, is more than 120 km (River Wenlow)."
    )


@pytest.mark.parametrize(
    "claim",
    [
        "Selm is larger than Orn.",  # in area or in people
        "Ober is shorter than Lund.",  # in height or in length
        "Ober is 300 metres taller than Lund.",
        "Men are taller than women.",
        "Ober is not taller than Lund.",
        "Ober is taller than Lund, says Ada Vale.",
    ],
)
def test_other_claims_are_not_read_as_comparisons(claim: str) -> None:
    assert comparison(claim) is None


def test_a_page_is_named_with_or_without_the_kind_of_thing() -> None:
    assert names_page("Ober", "Mount Ober")
    assert names_page("the River Torve", "Torve (river)")
    assert not names_page("Ober", "Ober Hut")
    assert not names_page("The", "The River")
