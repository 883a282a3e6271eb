"""Numbers, units and dates in English texts, and sets of numbers without gaps.

Numbers: "1.5 million", "10⁶", "three thousand"; number words are read by text2num, and what is not
certainly a number is not read. Units are converted by pint, if their words mean one thing. "Ton",
"gallon", "pound" and the like mean different things in different places, so each is a dimension of
its own, and so is each currency.

Dates: days, months, years, decades and centuries, as spans of time. Time is counted in days from
the beginning of the year 1; a year before Christ is below 0. Years are those of the Gregorian
calendar, of 365.2425 days where the calendar has no answer.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache

import pint
from text_to_num import text2num

from retrieval.text.word_forms import meanings


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers from ``low`` to ``high``; an open end does not belong to it.

    Ends are in the base unit of a quantity (``units``, ``dates``); infinite ends are open.
    """

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def within(self, other: Interval) -> bool:
        """Return whether all its numbers are in the other."""
        low_fits = self.low > other.low or (
            self.low == other.low and (self.low_open or not other.low_open)
        )
        high_fits = self.high < other.high or (
            self.high == other.high and (self.high_open or not other.high_open)
        )
        return low_fits and high_fits

    def apart(self, other: Interval) -> bool:
        """Return whether no number is in both."""
        return _ends_before(self, other) or _ends_before(other, self)

    def widened(self, by: float) -> Interval:
        """Return the interval with both ends moved outwards by ``by``."""
        return Interval(self.low - by, self.high + by, self.low_open, self.high_open)


def point(value: float) -> Interval:
    """Return the interval of one number."""
    return Interval(value, value)


def above(value: float, open_end: bool = True) -> Interval:
    """Return the numbers above ``value``, or from it on if the end is not open."""
    return Interval(value, math.inf, open_end, True)


def below(value: float, open_end: bool = True) -> Interval:
    """Return the numbers below ``value``, or up to it if the end is not open."""
    return Interval(-math.inf, value, True, open_end)


def _ends_before(first: Interval, second: Interval) -> bool:
    return first.high < second.low or (
        first.high == second.low and (first.high_open or second.low_open)
    )


_SCALES = {
    "thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
_SCALE = "|".join(_SCALES)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_FROM_RAISED = str.maketrans(_RAISED, "0123456789-")
_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_ANY_SMALL = _SMALL.replace(" ", "|")
_WORD = f"{_ANY_SMALL}|one|hundred|{'|'.join(_SCALES)}"
# Not of a range: "98-100 ft", "1914 -1918".
_MINUS = r"(?<![^\s(\[\"\u201c])(?<!\d\s)(?P<minus>[-\u2212])(?=\d)"
_NUMBER = re.compile(
    rf"(?:{_MINUS}|(?<![\w.,/\u2019'-]))(?:(?:(?P<factor>\d+(?:\.\d+)?)[ \u00a0]?[×x][ \u00a0]?)?"  # noqa: RUF001
    rf"10(?P<power>⁻?[{_RAISED[:-1]}]{{1,2}})(?!\w)"
    rf"|(?P<pairs>an?|(?:a )?single|one|{_ANY_SMALL}|\d{{1,2}}) pairs? of\b"
    rf"|(?P<digits>{_DIGITS})(?:[ \u00a0-](?P<scale>{_SCALE})\b)?"
    rf"(?P<note>[{_RAISED[:-1]}]{{1,2}})?(?!\w|[.,/-]\d)"
    r"|(?P<dozens>a|two|three|four|five|six) dozen\b"
    r"|(?P<one>(?<=than )an?|(?<=over )an?|(?<=least )an?|(?<=about )an?)(?= )"
    r"|(?P<part>half an?)(?: (?P<whole>million|billion|dozen))?\b"
    rf"|(?:an? (?={_SCALE}|hundred))?(?P<words>(?:{_WORD})(?:(?:[ -]| and )(?:{_WORD}))*)\b"
    r"(?!-\w*th\b)(?P<half> and a half(?: (?P<of>million|billion|thousand))?)?)",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"(?:several|many|a few|hundreds of) $", re.IGNORECASE)
_LONGEST_VAGUE = 12  # characters
_FRACTION = re.compile(
    r"[ -](?:half|halves|thirds?|quarters?|fifths?|sixths?|tenths?)\b"
    rf"|(?: out of| in) (?:{_ANY_SMALL}|\d{{1,3}})\b"
)
_CURRENCY = re.compile(r"[$€£¥] ?$")
_LEAST_NOTED = 3  # digits of a number before a footnote's sign; "12²" is 144
_POSSESSIVE = re.compile(r"(?:[ -]+[A-Z]\w+)*['’]")  # noqa: RUF001
_NAMED = re.compile(r"(?:[ -]+[A-Z]\w+)")  # "the Thirty Years' War"
_TOO_LARGE = Decimal("1e250")  # so that it is still finite in any unit
_EXACT_BELOW = 100  # an integer below it is hardly ever rounded


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number at ``text[start:end]``; ``step`` is the unit that it may be rounded to."""

    start: int
    end: int
    value: float
    step: float


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text in their order.

    The word "one" alone is left out, since it is mostly a pronoun, and so are ordinals, fractions,
    "several hundred" and number words in a name. A raised digit after a price or a longer number is
    the sign of a footnote. "Three pairs of" is 6.
    """
    for found in _NUMBER.finditer(text):
        first = max(0, found.start() - _LONGEST_VAGUE)
        if _VAGUE.search(text, first, found.start()) or _FRACTION.match(text, found.end()):
            continue
        if _is_power(text, found) or _is_in_name(text, found):
            continue
        value = _value(found)
        if value is not None and value < _TOO_LARGE:
            value = -value if found["minus"] else value
            end = found.start("note") if found["note"] else found.end()
            yield Numeral(found.start(), end, float(value), _step(value))


def _is_power(text: str, found: re.Match[str]) -> bool:
    """Return whether a raised digit after a number may be its power, not a footnote's sign."""
    return bool(found["note"]) and not (
        sum(map(str.isdecimal, found["digits"])) >= _LEAST_NOTED
        or _CURRENCY.search(text, max(0, found.start() - 2), found.start())
    )


def _is_in_name(text: str, found: re.Match[str]) -> bool:
    """Return whether a number in words belongs to a name."""
    words, before = found["words"], text[max(0, found.start() - 4) : found.start()].rstrip()
    if not words or not words.istitle() or _NAMED.match(text, found.end()) is None:
        return False
    # The first word of a sentence has a capital anyway: "Five Americans", but "Seven Years' War".
    is_first = not before or before[-1] in ".!?"
    return not is_first or _POSSESSIVE.match(text, found.end()) is not None


def _value(found: re.Match[str]) -> Decimal | None:
    if found["power"]:
        power = int(found["power"].translate(_FROM_RAISED))
        return Decimal(found["factor"] or 1).scaleb(power)
    if found["digits"]:
        return Decimal(found["digits"].replace(",", "")) * _SCALES.get(
            (found["scale"] or "").lower(), 1
        )
    if found["pairs"]:
        word = found["pairs"].lower()
        alone = word.endswith(("a", "an", "one", "single"))
        return Decimal(2 * (1 if alone else int(word) if word.isdecimal() else _in_words(word)))
    if found["dozens"]:
        return Decimal(12 * (1 if found["dozens"].lower() == "a" else _in_words(found["dozens"])))
    if found["one"]:
        return Decimal(1)
    if found["part"]:
        whole = (found["whole"] or "").lower()
        return Decimal("0.5") * (12 if whole == "dozen" else _SCALES.get(whole, 1))
    words = found["words"].lower()
    if words == "one" and not found["half"]:
        return None
    try:
        value = Decimal(_in_words(words))
    except ValueError:  # two numbers in a row
        return None
    half = Decimal("0.5") if found["half"] else Decimal(0)
    return (value + half) * _SCALES.get((found["of"] or "").lower(), 1)


def _in_words(words: str) -> int:
    return int(text2num(words, "en"))


def _step(value: Decimal) -> float:
    if value == value.to_integral_value() and abs(value) < _EXACT_BELOW:
        return 1.0
    *_, exponent = value.normalize().as_tuple()
    assert isinstance(exponent, int), "it is finite"
    return float(10.0**exponent)


_METRIC = meanings("metric")
_PLAIN = {**{name: f"{prefix}meter" for name, prefix in _METRIC.items()}, **meanings("units")}
_SQUARES = {
    f"{square} {name}": f"{unit} ** 2"
    for name, unit in (*((name, f"{prefix}meter") for name, prefix in _METRIC.items()),
                       ("mile", "mile"), ("feet", "foot"), ("foot", "foot"), ("yard", "yard"),
                       ("km", "kilometer"), ("mi", "mile"), ("ft", "foot"), ("m", "meter"))
    for square in ("square", "sq", "sq.")
}  # fmt: skip
_POWERS = {
    f"{name}{power}": f"{unit} ** {exponent}"
    for name, unit in (("km", "kilometer"), ("m", "meter"), ("cm", "centimeter"))
    for power, exponent in (("2", 2), ("²", 2), ("3", 3), ("³", 3))
}
_CUBES = {
    f"cubic {name}": f"({unit}) ** 3"
    for name, unit in (*((name, f"{prefix}meter") for name, prefix in _METRIC.items()),
                       ("feet", "foot"), ("foot", "foot"))
}  # fmt: skip
_SPEEDS = {
    f"{length} {per} {time}": f"{unit} / {time}"
    for length, unit in (*((name, f"{prefix}meter") for name, prefix in _METRIC.items()),
                         ("kilometres", "kilometer"), ("kilometers", "kilometer"),
                         ("metres", "meter"), ("meters", "meter"), ("km", "kilometer"),
                         ("mile", "mile"), ("miles", "mile"))
    for time, pers in (("hour", ("per", "an", "in an", "every")),
                       ("second", ("per", "a", "in a", "every")))
    for per in pers
}  # fmt: skip
_TEMPERATURES = {
    f"{degree}{name}": unit
    for degree in ("degrees ", "degree ", "°", "° ")
    for name, unit in (("celsius", "degC"), ("fahrenheit", "degF"), ("C", "degC"), ("F", "degF"))
}
_UNITS = {**_PLAIN, **_SQUARES, **_POWERS, **_CUBES, **_SPEEDS, **_TEMPERATURES}
PERCENT = "percent"
_OWN = meanings("own_units")
_SYMBOLS = meanings("currency_signs")
_DIMENSIONS = meanings("dimensions")
# An abbreviation in this case only, and never with an "s": "6 has" is no area.
_CASED = {"m", "g", "t", "kW", "MW", "GW", "mi", "ha", "AU"}
_NAMES = sorted((*_UNITS, *_OWN), key=len, reverse=True)
_AFTER = re.compile(
    r"[ \u00a0-]?(?P<name>" + "|".join(map(re.escape, _NAMES)) + r")s?(?![\w²³/])", re.IGNORECASE
)
_SIGN_BEFORE = re.compile(r"(?:US\$|C\$|A\$|[$€£¥]) ?$")
TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: a value in it is ``factor`` times the value, plus ``shift``, in base units.

    ``dimension``: "length", "time" and so on; units of one dimension are converted. ``name``: as
    people read it.
    """

    name: str
    dimension: str
    factor: float = 1.0
    shift: float = 0.0

    def in_base(self, value: float) -> float:
        """Return a value of this unit in base units (SI; degrees Celsius)."""
        return value * self.factor + self.shift

    def from_base(self, value: float) -> float:
        """Return a value in base units in this unit."""
        return (value - self.shift) / self.factor


def load_units() -> None:
    """Load pint's definitions, about 0.1 s."""
    _registry()


def unit_after(text: str, end: int) -> tuple[Unit, int] | None:
    """Return the unit that follows the number ending at ``end``, and where the unit ends."""
    found = _AFTER.match(text, end)
    if found is None:
        return None
    name = found["name"]
    abbreviates = name.lower() in {cased.lower() for cased in _CASED}
    if abbreviates and (name not in _CASED or found.end() > found.end("name")):
        return None
    return _unit(next(known for known in _NAMES if known.lower() == name.lower())), found.end()


def currency_before(text: str, start: int) -> tuple[Unit, int] | None:
    """Return the currency whose sign stands before ``start``, and where the sign starts."""
    found = _SIGN_BEFORE.search(text, max(0, start - 4), start)
    if found is None or (found.start() and text[found.start() - 1].isalpha()):
        return None
    name = _SYMBOLS[found[0].strip()]
    return Unit(name, name), found.start()


@cache
def _unit(name: str) -> Unit:
    if name in _OWN:
        return Unit(_OWN[name], _OWN[name])
    registry = _registry()
    one = registry.Quantity(1, _UNITS[name])
    dimension = _DIMENSIONS[str(one.dimensionality)]
    if dimension == TEMPERATURE:
        zero, ten = (registry.Quantity(v, _UNITS[name]).to("degC").magnitude for v in (0, 10))
        return Unit("°C" if _UNITS[name] == "degC" else "°F", dimension, (ten - zero) / 10, zero)
    plural = {"century": "centurie"}.get(name, name)
    shown = f"{plural}s" if dimension == "time" else f"{one.units:~P}"
    return Unit(shown, dimension, float(one.to_base_units().magnitude))


@cache
def _registry() -> pint.UnitRegistry[float]:
    return pint.UnitRegistry(cache_folder=None)


_MONTH_NAMES = [name.lower() for name in calendar.month_name]
_MONTH = "|".join([*calendar.month_name[1:], *(n for n in calendar.month_abbr[1:] if n != "May")])
_ORDINAL_NAMES = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
"""
_ORDINALS = _ORDINAL_NAMES.split()
_YEAR = r"(?:1[0-9]|20)\d\d"
_ERA = r"(?P<era> ?(?:BCE?|B\.C\.))"
_AD = r"(?-i:AD|A\.D\.)"
_SLICES = {"decade": 10, "quarter": 25, "half": 50}  # years
_DATE = re.compile(
    r"(?<![\w.,/$€£-])(?:"
    rf"(?P<first>[0-3]?\d)(?: (?P<of>{_MONTH}))? ?(?:to|until|\u2013|-) ?(?P<last>[0-3]?\d)"
    rf" (?P<in>{_MONTH}),? (?P<year3>{_YEAR})"
    rf"|(?P<iso>{_YEAR}-[01]\d-[0-3]\d)"
    rf"|(?:(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH})\.?,? (?P<year>{_YEAR})"
    rf"|(?P<month2>{_MONTH})\.? (?P<day2>[0-3]?\d)(?:st|nd|rd|th)?,? (?P<year2>{_YEAR})"
    rf"|(?:(?P<nth>{'|'.join(_ORDINALS[:10])}|last) (?P<slice>{'|'.join(_SLICES)}) of )?"
    r"(?P<part>early |late |mid-?)?(?:the )?"
    rf"(?P<century>(?:\d\d?(?:st|nd|rd|th))|{'|'.join(_ORDINALS[::-1])})"
    rf"[ -]century{_ERA.replace('era', 'era1')}?"
    rf"|(?P<part2>early |late |mid-?)?(?P<decade>(?:1[0-9]|20)\d0)['\u2019]?s"
    rf"|(?P<bc>\d{{1,4}})(?:{_ERA}|(?= ?(?:to|and|\u2013|-) ?\d{{1,4}} ?(?:BC|B\.C\.)))"
    rf"|{_AD} ?(?P<ad>\d{{1,4}})|(?P<ad2>\d{{1,4}}) ?(?:{_AD}|(?-i:CE))\b"
    rf"|(?P<part3>early |late |mid-?)?(?P<only>{_YEAR})"
    # A raised digit is the sign of a footnote.
    r")(?!(?![⁰¹²³⁴-⁹])[\w/]|[.,]\d|-\d)",
    re.IGNORECASE,
)
_DAYS_A_YEAR = 365.2425
_BESIDE = 0.1  # of the length of a span, by which "late" in it may be wrong
_MOST_YEARS = 200  # about the year 2000 BC


@dataclass(frozen=True, slots=True)
class Date:
    """A date at ``text[start:end]``: the time ``span``, which begins and ends at midnight.

    ``year_alone``: it is a bare year, which may be another number. ``vague``: only a part of the
    span is meant ("early 1930s"). ``ends``: its first and last day, if it is written as such.
    """

    start: int
    end: int
    span: Interval
    year_alone: bool = False
    vague: bool = False
    ends: tuple[Interval, Interval] | None = None


def dates(text: str) -> Iterator[Date]:
    """Yield the dates of a text in their order; days without a year are left out."""
    for found in _DATE.finditer(text):
        if found["first"]:
            if (ends := _ends(found)) is not None:
                days = Interval(ends[0].low, ends[1].high, high_open=True)
                yield Date(found.start(), found.end(), days, ends=ends)
        elif (span := _span(found)) is not None:
            yield Date(
                found.start(),
                found.end(),
                span,
                year_alone=bool(found["only"]),
                vague=bool(found["part"] or found["part2"] or found["part3"]),
            )


def _ends(found: re.Match[str]) -> tuple[Interval, Interval] | None:
    """Return the days of "16 to 28 October 1962"."""
    year, month = int(found["year3"]), _month(found["in"])
    try:
        first = date(year, _month(found["of"] or found["in"]), int(found["first"]))
        last = date(year, month, int(found["last"]))
    except ValueError:  # no such day
        return None
    return (_day(first), _day(last)) if first < last else None


def _span(found: re.Match[str]) -> Interval | None:
    try:
        if found["iso"]:
            return _day(date.fromisoformat(found["iso"]))
        if found["month2"]:
            day = date(int(found["year2"]), _month(found["month2"]), int(found["day2"]))
            return _day(day)
        if found["month"] and found["day"]:
            day = date(int(found["year"]), _month(found["month"]), int(found["day"]))
            return _day(day)
    except ValueError:  # no such day
        return None
    if found["month"]:
        year, month = int(found["year"]), _month(found["month"])
        first = date(year, month, 1).toordinal()
        return _half_open(first, first + calendar.monthrange(year, month)[1])
    if found["century"]:
        century = _century(found["century"].lower(), before_christ=bool(found["era1"]))
        return _slice(found, century) if found["slice"] else century
    if found["decade"]:
        first = int(found["decade"])
        # "The 1800s" may mean the century.
        return None if first % 100 == 0 else _half_open(_new_year(first), _new_year(first + 10))
    if found["bc"]:
        year = 1 - int(found["bc"])
        return _half_open(_new_year(year), _new_year(year + 1))
    year = int(found["ad"] or found["ad2"] or found["only"])
    return _half_open(_new_year(year), _new_year(year + 1))


def _century(name: str, before_christ: bool) -> Interval:
    """Return a century, 1401 to 1500 for the 15th; many count from 1400, so that year is in too."""
    number = _ORDINALS.index(name) + 1 if name in _ORDINALS else int(re.sub(r"\D", "", name))
    if before_christ:
        return _half_open(_new_year(1 - 100 * number), _new_year(101 - 100 * number))
    return _half_open(_new_year(100 * number - 100), _new_year(100 * number + 1))


def _slice(found: re.Match[str], century: Interval) -> Interval | None:
    """Return a part of a century; before Christ it is seldom clear which one is meant."""
    length = _SLICES[found["slice"].lower()]
    name = found["nth"].lower()
    number = 100 // length if name == "last" else _ORDINALS.index(name) + 1
    first = round(century.low / _DAYS_A_YEAR) + 1 + (number - 1) * length
    if found["era1"] or number * length > 100:
        return None
    return _half_open(_new_year(first), _new_year(first + length + 1))


def about_then(span: Interval, vague: bool) -> Interval:
    """Return the time that "about" a date may mean; ``vague``: it is a part of the span.

    A year is the more vague the rounder it is.
    """
    length = span.high - span.low
    if vague:
        return span.widened(length * _BESIDE)
    if length > 2 * _DAYS_A_YEAR:
        return span.widened(length / 2)
    year = round(span.low / _DAYS_A_YEAR) + 1
    year = year if year > 0 else 1 - year
    years = next((step for step in (1000, 100, 10) if year % step == 0), 5)
    return span.widened(_DAYS_A_YEAR * min(years, _MOST_YEARS))


def _month(name: str) -> int:
    return next(n for n, full in enumerate(_MONTH_NAMES) if full.startswith(name.lower()[:3]) and n)


def _new_year(year: int) -> float:
    return date(year, 1, 1).toordinal() if 1 <= year <= 9999 else (year - 1) * _DAYS_A_YEAR


def _day(day: date) -> Interval:
    return _half_open(day.toordinal(), day.toordinal() + 1)


def _half_open(first: float, after: float) -> Interval:
    return Interval(float(first), float(after), high_open=True)
