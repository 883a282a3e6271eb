"""Sets of numbers without gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers from ``low`` to ``high``; an open end does not belong to it.

    Ends are in the base unit of a quantity (``units``, ``dates``); infinite ends are open.
    """

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    @property
    def is_point(self) -> bool:
        """Whether it is a single number."""
        return self.low == self.high

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
