"""Decides a comparison by the quantities that fill the gaps of its two halves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from retrieval.quantities.halves import Comparison, Half
from retrieval.quantities.interval import Interval
from retrieval.quantities.quantity import DATE, Quantity
from retrieval.quantities.reading import quantities
from retrieval.quantities.relation import Ruling, in_unit
from retrieval.types import REFUTES, SUPPORTS, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc

_SHARE = 0.85  # of the weight of all pairs of values that must agree on the label
_ROUNDED = 0.01  # share by which a measurement may be wrong
_BEYOND = 0.25  # "more than 80" is taken to be at most 100
_SECONDS_A_DAY = 86400.0
_TO = re.compile(r" ?[\u2013-] ?| to | and ")
_HYPHENED = re.compile(r"-([a-z]{3,})$")
_PLURALS = {"foot": "feet", "inch": "inches", "century": "centuries"}
_WITH_YEAR = re.compile(r"\d{3}|BC|B\.C\.|century")


@dataclass(frozen=True, slots=True)
class Filling:
    """A quantity in its words, as a sentence has them."""

    quantity: Quantity
    words: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A half with a filling of its gap from the sentence with the number ``place``.

    ``probability``: that the sentence supports it.
    """

    half: Half
    filling: Filling
    place: int
    probability: float

    @property
    def odds(self) -> float:
        """The odds that the sentence supports it."""
        return self.probability / (1.001 - self.probability)


def fillings(doc: Doc, whole: bool = False) -> Iterator[Filling]:
    """Yield the quantities of a sentence; a span of time as its first and its last date.

    With ``whole``, a span of time as it is, and no other dates.
    """
    for item in quantities(doc):
        dates = _TO.split(item.said, maxsplit=1) if item.ends else []
        if whole and item.dimension == DATE:
            if item.ends:
                yield Filling(item, _TO.sub(" to ", item.said, count=1))
        elif item.ends and len(dates) == 2 and all(map(_WITH_YEAR.search, dates)):
            for end, words in zip(item.ends, dates, strict=True):
                yield Filling(replace(item, core=end, kind="exact", ends=None), words)
        else:
            words = item.said.replace(" and ", " to ") if item.kind == "range" else item.said
            yield Filling(item, _HYPHENED.sub(_apart, words))


def _apart(found: re.Match[str]) -> str:
    """Return the unit of "six-decade" or "13-day", as it stands without a noun after it."""
    return f" {_PLURALS.get(found[1], f'{found[1]}s')}"


def filled(half: Half, filling: Filling) -> str:
    """Return a half as a claim, with the words of a quantity in its gap."""
    words = at_date(filling) if half.dimension == DATE else filling.words
    return f"{half.text.format(words)}."


def at_date(filling: Filling) -> str:
    """Return a date with its preposition: "in May 1901", "from 1901 to 1904"."""
    words = filling.words
    if filling.quantity.ends is not None:
        return f"from {words}"
    day = filling.quantity.core.high - filling.quantity.core.low == 1
    the = "" if words.lower().startswith("the ") else "the "
    return f"{'on' if day else 'in'} {the if re.search('century|s$', words) else ''}{words}"


def compared(
    claim: Comparison, first: Sequence[Filled], second: Sequence[Filled]
) -> tuple[Ruling, Filled, Filled] | None:
    """Return the ruling on a comparison and the two fillings that decide it; None if unsure.

    Each filling of ``first`` is compared with each of ``second``. The product of their odds is the
    weight of what they say, and nearly all of the weight must be on one label.
    """
    weights: dict[Label | None, float] = {}
    best: dict[Label | None, tuple[float, Filled, Filled]] = {}
    for one in first:
        for other in second:
            if one.half.dimension != other.half.dimension:
                continue
            label = _label(claim, one.filling.quantity, other.filling.quantity)
            weight = one.odds * other.odds
            weights[label] = weights.get(label, 0.0) + weight
            best[label] = max(best.get(label, (0.0, one, other)), (weight, one, other), key=_weight)
    label = max(weights, key=lambda one: weights[one], default=None)
    if label is None or weights[label] < _SHARE * sum(weights.values()):
        return None
    _, one, other = best[label]
    sure = one.probability * other.probability
    return Ruling(label, _reason(claim, one, other), sure), one, other


def _weight(found: tuple[float, Filled, Filled]) -> float:
    return found[0]


def _label(claim: Comparison, one: Quantity, other: Quantity) -> Label | None:
    """Return what two quantities say about the comparison; None if they are too close."""
    left, right = _value(one), _value(other)
    if not left.apart(right):
        return None
    if (left.low > right.low) != claim.more:
        return REFUTES
    if claim.by is None:
        return SUPPORTS
    between = _between(left, right)
    if between.apart(claim.by.reach):
        return REFUTES
    # "Two years" is a difference of two calendar years; "more than two" has to be certain.
    is_certain = claim.by.kind in ("exact", "about") or between.within(claim.by.core)
    return SUPPORTS if is_certain else None


def _value(item: Quantity) -> Interval:
    """Return the values that a quantity may have; those of a date are its days."""
    span = item.core
    if item.dimension == DATE:
        return span
    if item.kind in ("bound", "limit"):
        stated = min(abs(span.low), abs(span.high))
        least, most = stated * (1 - _BEYOND), stated * (1 + _BEYOND)
        span = Interval(max(span.low, least), min(span.high, most))
    return span.widened(_ROUNDED * min(abs(span.low), abs(span.high)))


def _between(one: Interval, other: Interval) -> Interval:
    """Return the time between two dates in seconds, unsure by half of the longer one."""
    apart = abs(one.low + one.high - other.low - other.high) / 2
    unsure = max(one.high - one.low, other.high - other.low) / 2
    return Interval((apart - unsure) * _SECONDS_A_DAY, (apart + unsure) * _SECONDS_A_DAY)


def _reason(claim: Comparison, one: Filled, other: Filled) -> str:
    """Return the sentence for people: "1926 is before 1935 (read as: Ada … 1926; Bo … 1935)."."""
    left, right = one.filling.quantity, other.filling.quantity
    read = "; ".join(filled(each.half, each.filling)[:-1] for each in (one, other))
    if left.dimension == DATE:
        order = "before" if left.core.low < right.core.low else "after"
        if claim.by is not None and claim.by.unit is not None:
            span, unit = _between(left.core, right.core), claim.by.unit
            apart = round((span.low + span.high) / 2 / unit.factor, 1)
            order = f"{apart:g} {unit.name} {order}"
        return f"{one.filling.words} is {order} {other.filling.words} (read as: {read})."
    high, low = (one, other) if _value(left).low > _value(right).low else (other, one)
    more, less = high.filling, low.filling
    shown = less.quantity.unit
    converted = ""
    if shown is not None and more.quantity.unit not in (None, shown):
        converted = f", or {in_unit(more.quantity, shown)} {shown.name},"
    return f"{more.words}{converted} is more than {less.words} (read as: {read})."
