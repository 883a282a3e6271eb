"""Numbers, units and dates as texts have them, and what arithmetic says about claims of them."""

from __future__ import annotations

import math

import pytest

from retrieval.quantities.amounts import (
    _UNITS,
    Interval,
    _unit,
    above,
    currency_before,
    dates,
    numerals,
    point,
)
from retrieval.quantities.halves import (
    Comparison,
    Filled,
    Half,
    Ruling,
    compared,
    comparison,
    fillings,
)
from retrieval.quantities.reading import COUNT, Quantity, quantities
from retrieval.text.english import EnglishParser
from retrieval.types import SUPPORTS


def test_a_number_with_more_digits_than_can_be_converted_is_no_number() -> None:
    assert [one.value for one in numerals(f"1{'0' * 320} m, 1{'0' * 5000} m, 7 m")] == [7]


def test_a_value_is_the_same_after_conversion_both_ways() -> None:
    for unit in map(_unit, _UNITS):
        assert unit.from_base(unit.in_base(12.5)) == pytest.approx(12.5)


def test_a_currency_sign_stands_before_the_number() -> None:
    found = currency_before("It cost C$14 million.", 10)
    assert found is not None
    assert (found[0].name, found[1]) == ("Canadian dollar", 8)
    assert currency_before("It cost 14 million.", 8) is None


def test_years_before_christ_are_counted_backwards() -> None:
    first, last = dates("1750 to 1050 BC")
    assert first.span.high < last.span.low < 0
    (century,) = dates("the 2nd century BC")
    assert (century.span.low, century.span.high) == pytest.approx(
        (-200 * 365.2425, -100 * 365.2425)
    )


def only(parser: EnglishParser, text: str) -> Quantity:
    (quantity,) = quantities(parser.parse(text))
    return quantity


@pytest.mark.parametrize(("words", "least"), [("about 40", 30), ("some 39", 37.05)])
def test_about_a_round_number_may_mean_more(
    parser: EnglishParser, words: str, least: float
) -> None:
    assert only(parser, f"It has {words} legs.").reach.low == pytest.approx(least)


def test_intervals_know_what_they_contain() -> None:
    assert point(5).within(above(4))
    assert not point(4).within(above(4))
    assert point(4).within(above(4, open_end=False))
    assert point(4).apart(above(4))
    assert Interval(1, 2).apart(Interval(2, 3, low_open=True))
    assert not Interval(1, 2).apart(Interval(2, 3))
    assert above(3).high == math.inf


def cut(parser: EnglishParser, claim: str) -> Comparison:
    found = comparison(parser.parse(claim))
    assert found is not None
    return found


def test_how_much_earlier_is_part_of_the_comparison(parser: EnglishParser) -> None:
    found = cut(parser, "The mill opened more than three years after the bridge fell.")
    assert found.by is not None
    assert (found.by.said, found.by.kind) == ("three years", "bound")


def side(parser: EnglishParser, half: Half, *sentences: str, sure: float = 0.9) -> list[Filled]:
    """Return the half with every quantity of its kind in the sentences, all equally probable."""
    return [
        Filled(half, filling, place, sure)
        for place, sentence in enumerate(sentences)
        for filling in fillings(parser.parse(sentence))
        if half.takes(filling.quantity.dimension)
    ]


def ruled(parser: EnglishParser, claim: str, first: str, second: str) -> Ruling | None:
    halves = cut(parser, claim)
    one, other = side(parser, halves.first[0], first), side(parser, halves.second[0], second)
    found = compared(halves, one, other)
    return found[0] if found else None


def test_several_fillings_must_agree_unless_one_is_hardly_supported(parser: EnglishParser) -> None:
    selm, orn = (Half(f"{town} has {{}} people", f"{COUNT}people") for town in ("Selm", "Orn"))
    claim = Comparison((selm,), (orn,), more=True)
    few = side(parser, orn, "It has 500 people.")
    agree = compared(claim, side(parser, selm, "It has 900 people.", "It had 1,200 people."), few)
    assert agree is not None
    assert agree[0].label == SUPPORTS
    assert (
        compared(claim, side(parser, selm, "It has 900 people.", "It had 120 people."), few) is None
    )
    sure = side(parser, selm, "It has 900 people.", sure=0.95)
    unsure = side(parser, selm, "It had 120 people.", sure=0.5)
    found = compared(claim, [*sure, *unsure], few)
    assert found is not None
    said = "900 is more than 500 (read as: Selm has 900 people; Orn has 500 people)."
    assert found[0] == Ruling(SUPPORTS, said, sure[0].probability * few[0].probability)


def test_a_span_of_time_gives_its_first_and_its_last_date(parser: EnglishParser) -> None:
    found = [item.words for item in fillings(parser.parse("She was king from 1901 to May 1917."))]
    assert found == ["1901", "May 1917"]
