"""What a text says about a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.quantities.interval import Interval
from retrieval.quantities.units import Unit

Kind: TypeAlias = Literal["exact", "about", "bound", "limit", "range"]
"""How it is said: "80", "about 80", "more than 80", "up to 80", "60 to 80"."""

DATE = "date"
COUNT = "count of "


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, an amount or a date at ``text[start:end]``, with the words that limit it.

    Attributes:
        start: of the first of these words.
        end: of the last one, the unit included.
        at: where the number itself starts.
        core: the values that the words name, in base units.
        reach: the values that they may mean, as numbers are rounded.
        kind: how it is said.
        dimension: only quantities of one dimension are compared; "" for a number of nothing.
        unit: None for counts and dates.
        said: the number with its unit, as written.
        ends: the first and the last date of a span of time ("from 1914 to 1918"), else None.
    """

    start: int
    end: int
    at: int
    core: Interval
    reach: Interval
    kind: Kind
    dimension: str
    unit: Unit | None
    said: str
    ends: tuple[Interval, Interval] | None = None
