"""Finds the columns of a printed table that a name above several of them stands over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import inf

from retrieval.corpora.folder.rules import Rule
from retrieval.corpora.folder.segments import Segment
from retrieval.corpora.folder.tables import is_period

_Edges = tuple[float, float]  # left and right
_LONGEST = 40  # characters of a name
_MOST = 16  # columns
_WORD = re.compile(r"[^\W\d_]{2}")
_ENDS = (".", "!", "?", ":", ";", ",")
_AWAY = 1.2  # how far a name may stand from where it belongs, in parts of the size of letters
_ACROSS = 0.9  # the part of the table from which on a line is not that below a name
_BESIDE = 2.0  # points that a line may be too short


def may_name(text: str) -> bool:
    """Return whether a text may be the name of columns: short words or a period."""
    words = any(map(str.isalpha, text)) and not text.endswith(_ENDS) and "=" not in text
    return is_period(text) or (words and len(text) <= _LONGEST)


def column_groups(
    row: Sequence[Segment], columns: Sequence[Sequence[Segment]], rules: Sequence[Rule]
) -> list[range]:
    """Return for each name in a row the columns below it, none if it is no such row.

    One name at least is over several columns. It stands in the middle of them or at one end, or one
    of the ``rules`` is drawn from the first to the last.
    """
    if not 0 < len(row) < len(columns) <= _MOST or not all(map(_may_be_over, row)):
        return []
    edges = [(min(one.left for one in c), max(one.right for one in c)) for c in columns]
    top = max(one.base for column in columns for one in column)
    below = [rule for rule in rules if top < rule.height < row[0].base]
    groups = _by_rules(row, edges, below) or _by_place(row, edges)
    is_over_some = any(1 < len(group) < len(columns) for group in groups)
    return groups if is_over_some else []


def _may_be_over(one: Segment) -> bool:
    return may_name(one.text) and (is_period(one.text) or bool(_WORD.search(one.text)))


def _by_rules(
    row: Sequence[Segment], edges: Sequence[_Edges], rules: Sequence[Rule]
) -> list[range]:
    width = _ACROSS * (edges[-1][1] - edges[0][0])
    groups = []
    for one in row:
        middle = _middle((one.left, one.right))
        under = [rule for rule in rules if rule.left <= middle <= rule.right]
        rule = min(under, key=lambda rule: rule.right - rule.left, default=None)
        if rule is None or rule.right - rule.left > width:
            nearest = min(range(len(edges)), key=lambda at: abs(_middle(edges[at]) - middle))
            groups.append(range(nearest, nearest + 1))
            continue
        left, right = rule.left - _BESIDE, rule.right + _BESIDE
        found = [at for at, each in enumerate(edges) if left <= _middle(each) <= right]
        groups.append(range(found[0], found[-1] + 1) if found else range(0))
    apart = all(a.stop <= b.start for a, b in pairwise(groups))
    return groups if apart and all(groups) and max(map(len, groups)) > 1 else []


def _by_place(row: Sequence[Segment], edges: Sequence[_Edges]) -> list[range]:
    """Return the groups, each beginning where the one before ends, whose names are the nearest.

    Where the last one may end in several places, it has as many columns as the one before.
    """

    def cost(groups: Sequence[range]) -> tuple[int, int, int]:
        away = sum(_away(one, edges, group) for one, group in zip(row, groups, strict=True))
        uneven = abs(len(groups[-1]) - len(groups[-2])) if len(groups) > 1 else 0
        return round(away), uneven, -groups[-1].stop

    places = [_places(one, edges) for one in row]
    best = min(_in_a_row(places), key=cost, default=[])
    # A single name at one end of its columns does not show where the other is.
    alone = len(row) == 1 and best and not _is_in_the_middle(row[0], edges, best[0])
    return [] if alone else best


def _places(one: Segment, edges: Sequence[_Edges]) -> list[range]:
    """Return the columns that a name may stand over."""
    ends = combinations(range(len(edges) + 1), 2)
    near = _AWAY * one.size
    return [range(a, b) for a, b in ends if _away(one, edges, range(a, b)) < near]


def _in_a_row(places: Sequence[Sequence[range]], start: int | None = None) -> Iterator[list[range]]:
    """Yield each choice of places in which one begins where the one before ends."""
    if not places:
        yield []
        return
    for place in places[0]:
        if start is None or place.start == start:
            yield from ([place, *rest] for rest in _in_a_row(places[1:], place.stop))


def _away(one: Segment, edges: Sequence[_Edges], group: range) -> float:
    """Return how far a name stands from its place over columns; it is not wider than they are."""
    left, right = _whole(edges, group)
    if one.left < left - one.size or one.right > right + one.size:
        return inf
    middle = abs(_middle((one.left, one.right)) - _middle((left, right)))
    return min(middle, abs(one.left - left), abs(one.right - right))


def _is_in_the_middle(one: Segment, edges: Sequence[_Edges], group: range) -> bool:
    away = abs(_middle((one.left, one.right)) - _middle(_whole(edges, group)))
    return away < _AWAY / 2 * one.size


def _whole(edges: Sequence[_Edges], group: range) -> _Edges:
    return edges[group[0]][0], edges[group[-1]][1]


def _middle(edges: _Edges) -> float:
    return sum(edges) / 2
