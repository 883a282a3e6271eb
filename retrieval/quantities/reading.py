"""Reads numbers with units, dates, and the words that limit them: "more than 5,895 metres"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval.quantities.amounts import (
    Date,
    Interval,
    Unit,
    above,
    below,
    currency_before,
    dates,
    numerals,
    point,
    unit_after,
)
from retrieval.text.word_forms import lexicon

if TYPE_CHECKING:
    from spacy.tokens import Doc


Kind: TypeAlias = Literal["exact", "about", "bound", "limit", "range"]
"""How it is said: "80", "about 80", "more than 80", "up to 80", "60 to 80"."""

DATE = "date"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, an amount or a date at ``text[start:end]``, with the words that limit it.

    ``at``: where the number itself starts. ``core``: the values that the words name, in base units.
    ``dimension``: "" for a number of anything.
    """

    start: int
    end: int
    at: int
    core: Interval
    kind: Kind
    dimension: str


_MORE = (
    r"more than|greater than|higher than|larger than|in excess of|upwards of|exceed(?:s|ed|ing)?"
    r"|over|above|well over|well above"
)
_LESS = r"less than|fewer than|lower than|smaller than|under|below|well under|well below"
_LEAST = r"at least|no fewer than|no less than|not less than|not fewer than|a minimum of"
_MOST = r"at most|no more than|not more than|a maximum of"
_LIMIT = r"up to|as many as|as much as|maximum of|not exceeding"
_ABOUT = r"about|around|roughly|approximately|some|circa|c\.|ca\.|~|an estimated|estimated at"
_JUST_BELOW = r"nearly|almost|just under|slightly less than|a little under|close to|not quite"
_JUST_ABOVE = r"just over|slightly over|slightly more than|a little over"
_EXACTLY = r"exactly|precisely|only|just|a total of"
_WORDS = {
    "more": _MORE, "less": _LESS, "least": _LEAST, "most": _MOST, "limit": _LIMIT,
    "about": _ABOUT, "just below": _JUST_BELOW, "just above": _JUST_ABOVE, "exactly": _EXACTLY,
}  # fmt: skip
_BEFORE = re.compile(
    r"(?<!\w)(?:"
    + "|".join(
        f"(?P<{name.replace(' ', '_')}>{words})"
        for name, words in sorted(_WORDS.items(), key=lambda item: "just" not in item[0])
    )
    + r")(?: the| a)? ?$",
    re.IGNORECASE,
)
_AFTER = re.compile(r" or (?:(?P<least>more|above|over)|(?P<most>less|fewer|below))\b")
_VAGUELY_AFTER = re.compile(r" or so\b|\+| plus\b")
_DATE_BEFORE = re.compile(
    r"(?<!\w)(?:(?P<less>before|prior to|earlier than)|(?P<more>after|later than)"
    r"|(?P<most>by|no later than)|(?P<start>since|from|starting in)|(?P<until>until|till|up to)"
    r"|(?P<about>around|about|circa|c\.|ca\.|approximately)"
    r"|(?P<in>in|on|during|of|at|for|as of))(?: the)?(?: year)? ?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?<!\w)(?:between|from|anywhere from) (?:the )?$", re.IGNORECASE)
_RATE = re.compile(r"(?: per |/)[a-z]+(?: k?m| kilomet\w+| met\w+| mile)?", re.IGNORECASE)
_UNIT_NEEDED = {"a", "an", "half a", "half an"}  # "more than a loaf"
_PRESENT = lexicon("present")
_COUNTED = re.compile(r" [a-z]+s\b| people\b")  # "2050 pages"
_LONGEST_WORDS = 24  # characters of the words before a number
_COMPOSED = {"time": {"", "and", ",", ", and"}, "length": {"", "and"}, "mass": {"", "and"}}
_CLOSE = 0.05  # share of a number that "about" spans
_NEAR = 0.1  # share below "nearly"


def time_after(doc: Doc, day: date) -> str:
    """Return the first words of a text for the present, or for a later time than a day, "" if none.

    That is "now", or a date that begins after that day. A year before a noun may be a number.
    """
    # "Apocalypse Now" is a name.
    words = (token for token in doc if token.is_lower or token.is_sent_start)
    present = (word for word in words if word.lower_ in _PRESENT and word.pos_ != "PROPN")
    if now := next(present, None):
        return str(now)
    for found in dates(doc.text):
        is_time = not found.year_alone or _DATE_BEFORE.search(doc.text, 0, found.start)
        counts = _COUNTED.match(doc.text, found.end) or _counts(doc.text, found)
        if found.span.low > day.toordinal() and (is_time or not counts):
            return doc.text[found.start : found.end]
    return ""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, or a date, at ``text[start:end]``, without the words before it.

    ``at``: where the number itself starts, after a currency's sign. ``core``: in base units.
    ``step``: the unit that the number may be rounded to.
    """

    start: int
    at: int
    end: int
    core: Interval
    step: float
    unit: Unit | None
    dimension: str
    vague: bool = False
    ends: tuple[Interval, Interval] | None = None


def amounts_of(text: str) -> list[Amount]:
    """Return the numbers with their units and the dates of a text, in their order."""
    return list(_composed(text, _amounts(text)))


def _amounts(text: str) -> Iterator[Amount]:
    """Yield numbers with their units and dates, in their order."""
    dated = [date for date in dates(text) if not _counts(text, date)]
    found = [
        Amount(date.start, date.start, date.end, date.span, 0.0, None, DATE, date.vague, date.ends)
        for date in dated
    ]
    for numeral in numerals(text):
        if any(date.start < numeral.end and numeral.start < date.end for date in dated):
            continue
        start, end = numeral.start, numeral.end
        unit: Unit | None = None
        if (money := currency_before(text, start)) is not None:
            unit, start = money
        elif (known := unit_after(text, end)) is not None:
            unit, end = known
        elif text[start:end].lower() in _UNIT_NEEDED:
            continue
        value = unit.in_base(numeral.value) if unit else numeral.value
        step = numeral.step * (unit.factor if unit else 1)
        dimension = unit.dimension if unit else ""
        if dimension and (rate := _RATE.match(text, end)):
            dimension = f"{dimension} {rate[0].strip().lower()}"
        found.append(Amount(start, numeral.start, end, point(value), step, unit, dimension))
    yield from sorted(found, key=lambda amount: amount.start)


def _counts(text: str, date: Date) -> bool:
    """Whether a bare year is rather a number, as it has a unit or a currency."""
    return date.year_alone and (
        unit_after(text, date.end) is not None or currency_before(text, date.start) is not None
    )


def _composed(text: str, amounts: Iterable[Amount]) -> Iterator[Amount]:
    """Yield amounts; those of a larger and a smaller unit are one: "5 years and 20 days"."""
    before: Amount | None = None
    for amount in amounts:
        if before is not None and _goes_on(text, before, amount):
            core = point(before.core.low + amount.core.low)
            before = replace(before, end=amount.end, core=core, step=amount.step)
            continue
        if before is not None:
            yield before
        before = amount
    if before is not None:
        yield before


def _goes_on(text: str, large: Amount, small: Amount) -> bool:
    """Return whether a second amount is a smaller part of the first one."""
    if large.unit is None or small.unit is None or large.dimension not in _COMPOSED:
        return False
    if text[large.end : small.start].strip() not in _COMPOSED[large.dimension]:
        return False
    if _BETWEEN.search(text, max(0, large.start - _LONGEST_WORDS), large.start):
        return False
    # It is less than one of the larger unit: not "2.5 hours and 30 minutes".
    return small.dimension == large.dimension and small.unit.factor <= small.core.low < large.step


def with_limits(text: str, amounts: Sequence[Amount]) -> Iterator[Quantity]:
    """Yield quantities: amounts with the words around them, two ends of a range as one."""
    number = 0
    while number < len(amounts):
        low = amounts[number]
        high = amounts[number + 1] if number + 1 < len(amounts) else None
        if high is not None and (start := _range_start(text, low, high)) is not None:
            yield _range(text, start, low, high)
            number += 2
        else:
            yield _limited(text, low)
            number += 1


def _range_start(text: str, low: Amount, high: Amount) -> int | None:
    """Return where a range begins, None if the two are not the ends of one."""
    gap = text[low.end : high.start].strip().removesuffix(" the").removesuffix(" about")
    between = _BETWEEN.search(text, max(0, low.start - _LONGEST_WORDS), low.start)
    if gap not in {"to", "\N{EN DASH}", "-"} and not (gap == "and" and between):
        return None
    if low.dimension not in {"", high.dimension} or (DATE in (low.dimension, high.dimension)) != (
        low.dimension == high.dimension == DATE
    ):
        return None
    return between.start() if between else low.start


def _range(text: str, start: int, low: Amount, high: Amount) -> Quantity:
    first, last = low.core, high.core
    if low.unit is None and high.unit is not None:
        first = point(high.unit.in_base(first.low))
    span = Interval(first.low, last.high, high_open=last.high_open)
    if span.low > span.high:
        span = Interval(last.low, first.high, high_open=first.high_open)
    words = _BEFORE.search(text, max(0, low.start - _LONGEST_WORDS), low.start)
    if high.dimension != DATE and words is not None and words.lastgroup == "limit":
        return Quantity(words.start(), high.end, low.at, span, "limit", high.dimension)
    return Quantity(start, high.end, low.at, span, "range", high.dimension)


def _limited(text: str, amount: Amount) -> Quantity:
    """Return an amount with the words before and after it that limit it."""
    if amount.ends is not None:
        return Quantity(amount.start, amount.end, amount.at, amount.core, "range", DATE)
    is_date = amount.dimension == DATE
    words = (_DATE_BEFORE if is_date else _BEFORE).search(
        text, max(0, amount.start - _LONGEST_WORDS), amount.start
    )
    word = (words.lastgroup or "") if words else ""
    start, end = (words.start() if words else amount.start), amount.end
    if not is_date and (after := _AFTER.match(text, end)):
        word, end = after.lastgroup or "", after.end()
    elif not is_date and _VAGUELY_AFTER.match(text, end):
        word = "about"
    core, kind = _named(word, amount)
    return Quantity(start, end, amount.at, core, kind, amount.dimension)


def _named(word: str, amount: Amount) -> tuple[Interval, Kind]:
    """Return the values that an amount with this word before it names, and how it is said."""
    low, high = amount.core.low, amount.core.high
    size = abs(high) if amount.dimension != DATE else 0.0
    match word:
        case "more":
            return above(high, open_end=not amount.core.high_open), "bound"
        case "less":
            return below(low), "bound"
        case "least":
            return above(low, open_end=False), "bound"
        case "most":
            return below(high, open_end=amount.core.high_open), "bound"
        case "start" | "limit" | "until":
            return amount.core, "limit"
        case "just_below":
            return Interval(low - _NEAR * size, high, high_open=True), "about"
        case "just_above":
            return Interval(low, high + _NEAR * size, low_open=True), "about"
        case "about":
            return Interval(low - _CLOSE * size, high + _CLOSE * size), "about"
    return amount.core, "about" if amount.vague else "exact"
