"""What one quantity says about another of the same dimension, and the sentence that says why."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.quantities.amounts import TEMPERATURE, Interval, Unit
from retrieval.quantities.reading import DATE, Quantity
from retrieval.types import REFUTES, SUPPORTS, Label, Opinion

_CONVERTED = 0.01  # share by which a converted number may be rounded
_SAME_LIMIT = 0.05  # share by which "up to 80" may differ
_DEGREE = 0.5  # the same of a temperature, in degrees Celsius


@dataclass(frozen=True, slots=True)
class Ruling:
    """What arithmetic says about a claim.

    ``because``: the sentence for people. ``confidence``: the verifier's, that the sentence gives
    the quantity for what the claim is about; the arithmetic itself is certain.
    """

    label: Label
    because: str
    confidence: float

    @property
    def opinion(self) -> Opinion:
        """The probabilities of ``LABELS``."""
        supports, refutes = (
            self.confidence if label == self.label else 0.0 for label in (SUPPORTS, REFUTES)
        )
        return supports, refutes, 1 - self.confidence


def relation(claimed: Quantity, found: Quantity, possible: bool = False) -> Label | None:
    """Return whether the found quantity makes the claimed one true or false; None if neither.

    Both are of one dimension. ``possible``: the claim says only what can be, so that one value of a
    range is enough. Rounding never decides: "2 km" is neither supported nor refuted by
    "2,040 m". Nor does the sign of a length alone: "300 m below sea level" is "-300 m".
    """
    if _differ_by_sign(claimed, found):
        return None
    margin = _margin(claimed, found)
    if possible and found.kind in ("range", "limit") and _reached(claimed, found):
        return SUPPORTS
    if claimed.kind == "limit" or found.kind == "limit":
        return _of_limits(claimed, found, margin)
    known, reach = found.core, found.reach
    named = claimed.core.widened(margin if claimed.kind in ("exact", "about") else -margin)
    if claimed.dimension == DATE:
        named = claimed.reach if claimed.kind == "about" else named
    elif found.kind == "about":
        known = found.core if claimed.kind == "about" else found.reach
    same = claimed.core == found.core and claimed.kind == found.kind
    if same or (claimed.kind != "range" and known.within(named)):
        return SUPPORTS
    if claimed.kind == found.kind == "about" and not claimed.core.apart(found.core):
        return SUPPORTS
    if claimed.kind == "range" and found.kind in ("exact", "about") and known.within(named):
        return SUPPORTS
    apart = found.core.apart(claimed.reach.widened(margin)) and reach.apart(
        claimed.core.widened(margin)
    )
    return REFUTES if apart else None


def _reached(claimed: Quantity, found: Quantity) -> bool:
    """Return whether what can be is so: "can weigh more than 100 t", where up to 190 t are known.

    Only the highest value of a limit is known to be reached.
    """
    if claimed.dimension == DATE or claimed.kind not in ("exact", "about", "bound"):
        return False
    top = Interval(found.core.high, found.core.high)
    if claimed.kind == "bound":
        return top.within(claimed.core)
    return not claimed.core.apart(top if found.kind == "limit" else found.core)


def _of_limits(claimed: Quantity, found: Quantity, margin: float) -> Label | None:
    """Return what is said about "up to 80", or by it."""
    if claimed.kind == found.kind and claimed.core == found.core:
        return SUPPORTS
    limits = claimed.reach if claimed.kind == "limit" else claimed.core
    known = found.reach if found.kind == "limit" else found.core
    if claimed.dimension != DATE:
        highest, most = claimed.core.high, found.core.high
        if claimed.kind == "bound" and known.within(claimed.core.widened(-margin)):
            return SUPPORTS
        if claimed.kind == "limit" and found.kind in ("limit", "range"):
            near = max(margin, _SAME_LIMIT * abs(highest))
            return SUPPORTS if abs(highest - most) <= near else REFUTES
    return REFUTES if known.apart(limits.widened(margin)) else None


def _differ_by_sign(claimed: Quantity, found: Quantity) -> bool:
    """Return whether one is negative and may be said without its sign: "5 °C below zero"."""
    one, other = claimed.core, found.core
    if not (one.high < 0 <= other.low or other.high < 0 <= one.low):
        return False
    return claimed.dimension == "length" or (one.low, one.high) == (-other.high, -other.low)


def _margin(claimed: Quantity, found: Quantity) -> float:
    """Return by how much two numbers may differ because one was converted."""
    if claimed.unit == found.unit or found.unit is None:
        return 0.0
    if claimed.dimension == TEMPERATURE:
        return _DEGREE
    ends = (*_finite(claimed.core), *_finite(found.core))
    return _CONVERTED * max(map(abs, ends))


def _finite(span: Interval) -> list[float]:
    return [end for end in (span.low, span.high) if abs(end) != float("inf")]


def arithmetic(claim: str, claimed: Quantity, text: str, found: Quantity, label: Label) -> str:
    """Return the sentence that says why: "80 miles are 128.7 km, which is not “80 km”."

    ``claim`` and ``text``: where the two quantities are from.
    """
    words = claim[claimed.start : claimed.end]
    given = written(text, found)
    fits = "fits" if label == SUPPORTS else "does not fit"
    if claimed.unit != found.unit and claimed.unit is not None:
        value = f"{in_unit(found, claimed.unit)} {claimed.unit.name}"
        return f"{_capital(given)} is {value}, which {fits} “{words}”."
    return f"{_capital(given)} {fits} “{words}”."


def written(text: str, found: Quantity) -> str:
    """Return a quantity as its text has it, with the words that limit it."""
    return found.said if found.kind in ("exact", "range") else text[found.start : found.end]


def in_unit(found: Quantity, unit: Unit) -> str:
    """Return a quantity in a unit, of four digits; the two ends of a range."""
    ends = _finite(found.core)
    if found.kind == "about":
        ends = [sum(ends) / 2]
    return " to ".join(dict.fromkeys(_number(unit.from_base(end)) for end in ends))


def _number(value: float) -> str:
    """Return a number with four digits, as people write it: 128.7, 5,895, 1,250,000."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 or rounded.is_integer() else f"{rounded:g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
