"""Reads the quantities of a parsed sentence: "more than 5,895 metres", "in the 15th century"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval.quantities.amounts import (
    TEMPERATURE,
    Date,
    Interval,
    Unit,
    about_then,
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
    from spacy.tokens import Doc, Token


Kind: TypeAlias = Literal["exact", "about", "bound", "limit", "range"]
"""How it is said: "80", "about 80", "more than 80", "up to 80", "60 to 80"."""

DATE = "date"
COUNT = "count of "


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, an amount or a date at ``text[start:end]``, with the words that limit it."""

    start: int  # of the first of these words
    end: int  # of the last one, the unit included
    at: int  # where the number itself starts
    core: Interval  # the values that the words name, in base units
    reach: Interval  # the values that they may mean, as numbers are rounded
    kind: Kind
    dimension: str  # only quantities of one are compared; "" for a number of nothing
    unit: Unit | None  # None for counts and dates
    said: str  # the number with its unit, as written
    # The first and the last date of a span of time ("from 1914 to 1918").
    ends: tuple[Interval, Interval] | None = None


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
_CLOSE, _FAR = 0.05, 0.25  # shares of a number that "about" certainly and possibly spans
_NEAR = 0.1  # share below "nearly"
_RESTATED = 0.03  # a conversion in brackets is rounded


def dimensions(text: str) -> set[str]:
    """Return the dimensions of the numbers and dates of a text, "" for a bare number; cheap."""
    return {amount.dimension for amount in _amounts(text)}


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


def quantities(doc: Doc) -> tuple[Quantity, ...]:
    """Return the quantities of a parsed text in their order.

    A value that is said again in brackets, in another unit, is left out. A count has the dimension
    of the noun that it belongs to.
    """
    found = list(with_limits(doc.text, amounts_of(doc.text)))
    return tuple(_counted(doc, item) for item in _without_restated(doc.text, found))


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
        return Quantity(
            words.start(), high.end, low.at, span, below(span.high, open_end=False), "limit",
            high.dimension, high.unit, text[low.start : high.end],
        )  # fmt: skip
    return Quantity(
        start, high.end, low.at, span, span, "range", high.dimension, high.unit,
        text[low.start : high.end], (low.core, high.core) if high.dimension == DATE else None,
    )  # fmt: skip


def _limited(text: str, amount: Amount) -> Quantity:
    """Return an amount with the words before and after it that limit it."""
    is_date = amount.dimension == DATE
    if amount.ends is not None:
        first, last = amount.ends
        days = Interval(first.low, last.high, high_open=True)
        said = text[amount.start : amount.end]
        return Quantity(
            amount.start, amount.end, amount.at, days, days, "range", DATE, None, said, amount.ends
        )
    words = (_DATE_BEFORE if is_date else _BEFORE).search(
        text, max(0, amount.start - _LONGEST_WORDS), amount.start
    )
    word = (words.lastgroup or "") if words else ""
    start, end = (words.start() if words else amount.start), amount.end
    if not is_date and (after := _AFTER.match(text, end)):
        word, end = after.lastgroup or "", after.end()
    elif not is_date and _VAGUELY_AFTER.match(text, end):
        word = "about"
    core, reach, kind = _sets(word, amount)
    return Quantity(
        start, end, amount.at, core, reach, kind, amount.dimension, amount.unit,
        text[amount.start : amount.end],
    )  # fmt: skip


def _sets(word: str, amount: Amount) -> tuple[Interval, Interval, Kind]:
    """Return what an amount with this word before it names, and what it may mean."""
    low, high = amount.core.low, amount.core.high
    size = abs(high) if amount.dimension != DATE else 0.0
    if word in ("more", "start"):
        named = above(high, open_end=not amount.core.high_open)
        return (named, named, "bound") if word == "more" else (amount.core, named, "limit")
    if word == "less":
        return below(low), below(low), "bound"
    if word == "least":
        return above(low, open_end=False), above(low, open_end=False), "bound"
    if word == "most":
        named = below(high, open_end=amount.core.high_open)
        return named, named, "bound"
    if word in ("limit", "until"):
        return amount.core, below(high, open_end=False), "limit"
    if word == "just_below":
        named = Interval(low - _NEAR * size, high, high_open=True)
        return named, amount.core.widened(_FAR * size), "about"
    if word == "just_above":
        named = Interval(low, high + _NEAR * size, low_open=True)
        return named, amount.core.widened(_FAR * size), "about"
    if word == "about" or amount.vague:
        if amount.dimension == DATE:
            return amount.core, about_then(amount.core, amount.vague), "about"
        share = _CLOSE * size
        most = min(_FAR * size, max(share, _roundness(amount)))
        return amount.core.widened(share), amount.core.widened(most), "about"
    return amount.core, amount.core.widened(amount.step / 2), "exact"


def _roundness(amount: Amount) -> float:
    """Return the unit that an amount is rounded to if zeros at its end are: 10 for "40"."""
    unit = amount.step or 1.0
    count = round(abs(amount.core.high) / unit)
    while count and count % 10 == 0:
        unit, count = unit * 10, count // 10
    return unit


def _without_restated(text: str, found: Iterable[Quantity]) -> Iterator[Quantity]:
    """Yield the quantities without those in brackets that say the one before them again."""
    before: Quantity | None = None
    for item in found:
        if before is not None and _restates(text, before, item):
            continue
        yield item
        before = item


def _restates(text: str, before: Quantity, item: Quantity) -> bool:
    if before.dimension != item.dimension or item.dimension in ("", DATE):
        return False
    gap = text[before.end : item.start].strip()
    if gap not in {"(", "[", "or", ", or", "/", "; "} or before.unit == item.unit:
        return False
    first, second = before.core, item.core
    share = _RESTATED * max(abs(first.low), abs(first.high))
    if item.dimension == TEMPERATURE:
        share = max(share, 1.0)
    return second.low >= first.low - share and second.high <= first.high + share


def _counted(doc: Doc, item: Quantity) -> Quantity:
    """Return a number without a unit as a count of its noun, if it has one."""
    if item.dimension or _RATE.match(doc.text, item.end):
        return item
    noun = _noun(doc, item)
    if noun is None:
        return item
    rate = _RATE.match(doc.text, noun.idx + len(noun))
    per = f" {rate[0].strip().lower()}" if rate else ""
    return replace(item, dimension=f"{COUNT}{counted_name(noun)}{per}")


_PEOPLE = {"person", "people", "inhabitant", "resident", "population"}


def counted_name(noun: Token) -> str:
    """Return what a noun counts; inhabitants and people are the same."""
    name = str(noun.lemma_).lower()
    return "people" if name in _PEOPLE else name


def _noun(doc: Doc, item: Quantity) -> Token | None:
    number = doc.char_span(item.at, item.end, alignment_mode="expand") or doc[:0]
    if number and number[-1].lower_ == "of":  # "three pairs of legs"
        return next((child for child in number[-1].children if child.dep_ == "pobj"), None)
    for token in number:
        noun = token.head
        if token.dep_ == "nummod" and noun.i >= number.end and noun.pos_ == "NOUN":
            return noun
    population = [one for one in doc if one.lower_ == "population"]
    return population[0] if len(population) == 1 else None
