from __future__ import annotations

import math

import pytest

from retrieval.quantities.amounts import (
    _UNITS,
    Interval,
    _unit,
    above,
    below,
    currency_before,
    numerals,
    point,
    unit_after,
)
from retrieval.quantities.dates import dates
from retrieval.quantities.reading import dimensions, quantities
from retrieval.text.english import EnglishParser
from tests.support.cases import cases


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,500,000 or 1.5 million", [1_500_000, 1_500_000]),
        ("three thousand and six", [3006]),
        ("twenty-five", [25]),
        ("two and a half million", [2_500_000]),
        ("2.5 × 10⁶, 10³ or 7 x 10⁻²", [2_500_000, 1000, 0.07]),  # noqa: RUF001
        ("5 m², 3 × 10 m", [5, 3, 10]),  # noqa: RUF001
        ("a dozen, two dozen, half a million", [12, 24, 500_000]),
        ("a hundred and six", [106]),
        ("four five", []),
        ("one of them", []),
        ("several hundred", []),
        ("two thirds, three quarters, nine in ten", [10]),
        ("\u2212300 m, -5 °C (-0.5), \u22122 million", [-300, -5, -0.5, -2_000_000]),
        ("1914-1918, 98 -100 ft", [98]),
        (f"1{'0' * 320} m, 1{'0' * 5000} m, 7 m", [7]),
        ("COVID-19, G20, 2010-11 and 3/4", []),
        ("three pairs of legs, a single pair of wings, 4 pairs of eyes", [6, 2, 8]),
        ("$32¹, 1,234² and 12²", [32, 1234]),  # signs of footnotes, and a power
        ("Thirty people of the Thirty Years' War", [30]),
        ("Two British ships sank.", [2]),
        ("Seven Years' War", []),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text: str, values: list[float]) -> None:
    assert [numeral.value for numeral in numerals(text)] == values


@pytest.mark.parametrize(
    ("text", "step"),
    [("5,895", 1), ("2,000", 1000), ("3.4 million", 100_000), ("80", 1), ("0.5", 0.1)],
)
def test_a_number_is_rounded_to_its_last_digit_that_is_not_0(text: str, step: float) -> None:
    (numeral,) = numerals(text)
    assert numeral.step == pytest.approx(step)


@pytest.mark.parametrize("name", list(_UNITS))
def test_a_value_is_the_same_after_conversion_both_ways(name: str) -> None:
    unit = _unit(name)
    assert unit.from_base(unit.in_base(12.5)) == pytest.approx(12.5)


@cases("quantities", "first", "second")
def test_units_are_converted(first: str, second: str) -> None:
    values = []
    for text in (first, second):
        (numeral,) = numerals(text)
        found = unit_after(text, numeral.end)
        assert found is not None
        values.append((found[0].dimension, found[0].in_base(numeral.value)))
    assert values[0] == (values[1][0], pytest.approx(values[1][1]))


@pytest.mark.parametrize("text", ["7 gallons", "7 tons", "7 pounds", "7 euros", "7 dollars"])
def test_units_that_mean_several_things_are_dimensions_of_their_own(text: str) -> None:
    found = unit_after(text, 1)
    assert found is not None
    assert found[0].dimension == text.removeprefix("7 ").removesuffix("s")


@pytest.mark.parametrize(
    "text", ["7 meetings", "7 in all", "7 has", "7 ms", "7 M", "7 G", "7 T", "7 years'"]
)
def test_letters_that_may_be_something_else_are_no_units(text: str) -> None:
    found = unit_after(text, 1)
    assert found is None or found[0].dimension == "time"


def test_a_currency_sign_stands_before_the_number() -> None:
    found = currency_before("It cost C$14 million.", 10)
    assert found is not None
    assert (found[0].name, found[1]) == ("Canadian dollar", 8)
    assert currency_before("It cost 14 million.", 8) is None


@cases("quantities", "text", "days")
def test_a_date_is_a_span_of_days(text: str, days: int) -> None:
    (found,) = dates(text)
    assert found.span.high - found.span.low == days


@pytest.mark.parametrize(
    "text", ["31 February 1901", "the 1800s", "1,453 men", "in 0900", "3 ad breaks"]
)
def test_what_is_no_certain_date_is_not_read(text: str) -> None:
    assert list(dates(text)) == []


def test_years_before_christ_are_counted_backwards() -> None:
    first, last = dates("1750 to 1050 BC")
    assert first.span.high < last.span.low < 0
    (century,) = dates("the 2nd century BC")
    assert (century.span.low, century.span.high) == pytest.approx(
        (-200 * 365.2425, -100 * 365.2425)
    )


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("It has 80 seats.", point(80)),
        ("It has more than 80 seats.", above(80)),
        ("It has at least 80 seats.", above(80, open_end=False)),
        ("It has 80 or more seats.", above(80, open_end=False)),
        ("It has fewer than 80 seats.", below(80)),
        ("It has no more than 80 seats.", below(80, open_end=False)),
        ("It has from 80 to 90 seats.", Interval(80, 90)),
        ("It has between 80 and 90 seats.", Interval(80, 90)),
        ("It has 80\N{EN DASH}90 seats.", Interval(80, 90)),
        ("It has about 80 seats.", Interval(76, 84)),
        ("It has nearly 80 seats.", Interval(72, 80, high_open=True)),
        ("It has just over 80 seats.", Interval(80, 88, low_open=True)),
    ],
)
def test_words_before_a_number_limit_it(parser: EnglishParser, text: str, core: Interval) -> None:
    (quantity,) = quantities(parser.parse(text))
    assert (quantity.dimension, quantity.core) == ("count of seat", core)
    assert text[quantity.start : quantity.end] in text


@cases("quantities", "text", "seconds")
def test_a_larger_and_a_smaller_unit_are_one_amount(
    parser: EnglishParser, text: str, seconds: list[float]
) -> None:
    assert [item.core.low for item in quantities(parser.parse(text))] == seconds


def test_a_pair_counts_what_it_is_of(parser: EnglishParser) -> None:
    (quantity,) = quantities(parser.parse("It has three pairs of jointed legs."))
    assert (quantity.dimension, quantity.core) == ("count of leg", point(6))


@pytest.mark.parametrize(
    ("text", "least"), [("It has about 40 legs.", 30), ("It has some 39 legs.", 37.05)]
)
def test_about_a_round_number_may_mean_more(parser: EnglishParser, text: str, least: float) -> None:
    (quantity,) = quantities(parser.parse(text))
    assert quantity.reach.low == pytest.approx(least)


def test_a_conversion_in_brackets_is_not_a_second_quantity(parser: EnglishParser) -> None:
    (quantity,) = quantities(parser.parse("It is 80 km (50 mi) long."))
    assert quantity.said == "80 km"


def test_inhabitants_and_people_are_counted_alike(parser: EnglishParser) -> None:
    texts = ["It has 40 inhabitants.", "40 people live there.", "It has a population of 40."]
    found = [quantities(parser.parse(text))[0] for text in texts]
    assert {quantity.dimension for quantity in found} == {"count of people"}


def test_a_number_for_each_of_something_is_no_number_of_all(parser: EnglishParser) -> None:
    texts = ["It has 25 inhabitants per square kilometre.", "It pays 25 euros per day."]
    found = [quantities(parser.parse(text))[0].dimension for text in texts]
    assert found == ["count of people per square kilometre", "euro per day"]


def test_the_dimensions_of_a_text_are_found_without_parsing() -> None:
    text = "In 1901 it had 40 seats, 3 km of rope and 5 % of the shares."
    assert dimensions(text) == {"date", "", "length", "percent"}
    assert dimensions("It has no seats.") == set()


def test_intervals_know_what_they_contain() -> None:
    assert point(5).within(above(4))
    assert not point(4).within(above(4))
    assert point(4).within(above(4, open_end=False))
    assert point(4).apart(above(4))
    assert Interval(1, 2).apart(Interval(2, 3, low_open=True))
    assert not Interval(1, 2).apart(Interval(2, 3))
    assert above(3).high == math.inf
