"""Dates in English texts: days, months, years, decades and centuries, as spans of time.

Time is counted in days from the beginning of the year 1; a year before Christ is below 0. Years are
those of the Gregorian calendar, of 365.2425 days where the calendar has no answer.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from retrieval.quantities.amounts import Interval

_MONTH_NAMES = [name.lower() for name in calendar.month_name]
_MONTH = "|".join([*calendar.month_name[1:], *(n for n in calendar.month_abbr[1:] if n != "May")])
_NAMES = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
"""
_ORDINALS = _NAMES.split()
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
