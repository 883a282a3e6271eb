"""Numbers, units and dates as texts have them, and what they may mean."""

from __future__ import annotations

import math
from typing import Any

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
    unit_after,
)
from retrieval.quantities.reading import Quantity, quantities
from retrieval.quantities.reading import dimensions as dimensions_of
from retrieval.text.english import EnglishParser
from tests.support.cases import cases


@cases("quantities", "text", "numbers")
def test_numbers_are_read_in_digits_and_in_words(text: str, numbers: list[float]) -> None:
    assert [numeral.value for numeral in numerals(text)] == numbers


def test_a_number_with_more_digits_than_can_be_converted_is_no_number() -> None:
    assert [one.value for one in numerals(f"1{'0' * 320} m, 1{'0' * 5000} m, 7 m")] == [7]


@cases("quantities", "text", "step")
def test_a_number_is_rounded_to_its_last_digit_that_is_not_0(text: str, step: float) -> None:
    (numeral,) = numerals(text)
    assert numeral.step == pytest.approx(step)


@cases("quantities", "first", "second")
def test_units_are_converted(first: str, second: str) -> None:
    values = []
    for text in (first, second):
        (numeral,) = numerals(text)
        found = unit_after(text, numeral.end)
        assert found is not None
        values.append((found[0].dimension, found[0].in_base(numeral.value)))
    assert values[0] == (values[1][0], pytest.approx(values[1][1]))


def test_a_value_is_the_same_after_conversion_both_ways() -> None:
    for unit in map(_unit, _UNITS):
        assert unit.from_base(unit.in_base(12.5)) == pytest.approx(12.5)


@cases("quantities", "text", "dimensions")
def test_the_dimensions_of_a_text_are_found_without_parsing(
    text: str, dimensions: list[str]
) -> None:
    assert dimensions_of(text) == set(dimensions)


def test_a_currency_sign_stands_before_the_number() -> None:
    found = currency_before("It cost C$14 million.", 10)
    assert found is not None
    assert (found[0].name, found[1]) == ("Canadian dollar", 8)
    assert currency_before("It cost 14 million.", 8) is None


@cases("quantities", "text", "days")
def test_a_date_is_a_span_of_days(text: str, days: int | None) -> None:
    found = [date.span.high - date.span.low for date in dates(text)]
    assert found == ([] if days is None else [days])


def test_years_before_christ_are_counted_backwards() -> None:
    first, last = dates("1750 to 1050 BC")
    assert first.span.high < last.span.low < 0
    (century,) = dates("the 2nd century BC")
    assert (century.span.low, century.span.high) == pytest.approx(
        (-200 * 365.2425, -100 * 365.2425)
    )


def read(parser: EnglishParser, text: str) -> Quantity:
    (quantity,) = quantities(parser.parse(text))
    return quantity


@cases("quantities", "words", "core")
def test_words_before_a_number_limit_it(parser: EnglishParser, words: str, core: list[Any]) -> None:
    quantity = read(parser, f"It has {words} seats.")
    assert (quantity.dimension, quantity.core) == ("count of seat", Interval(*core))


@cases("quantities", "text", "seconds")
def test_a_larger_and_a_smaller_unit_are_one_amount(
    parser: EnglishParser, text: str, seconds: list[float]
) -> None:
    assert [item.core.low for item in quantities(parser.parse(text))] == seconds


@pytest.mark.parametrize(("words", "least"), [("about 40", 30), ("some 39", 37.05)])
def test_about_a_round_number_may_mean_more(
    parser: EnglishParser, words: str, least: float
) -> None:
    assert read(parser, f"It has {words} legs.").reach.low == pytest.approx(least)


@cases("quantities", "text", "dimension")
def test_a_number_counts_its_noun(parser: EnglishParser, text: str, dimension: str) -> None:
    assert read(parser, text).dimension == dimension


def test_intervals_know_what_they_contain() -> None:
    assert point(5).within(above(4))
    assert not point(4).within(above(4))
    assert point(4).within(above(4, open_end=False))
    assert point(4).apart(above(4))
    assert Interval(1, 2).apart(Interval(2, 3, low_open=True))
    assert not Interval(1, 2).apart(Interval(2, 3))
    assert above(3).high == math.inf
