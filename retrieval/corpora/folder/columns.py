"""The columns and rows of a table on a page, from its segments and the lines drawn on it.

Gutters are stretches of white that several lines of a page in a row leave free. A name may stand
above several columns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, pairwise
from math import inf
from statistics import median

from retrieval.corpora.folder.letters import Rule
from retrieval.corpora.folder.segments import Segment, rows
from retrieval.corpora.folder.tables import is_period

Gap = tuple[float, float]  # left and right, as of a name over columns
SUPPORT = 2  # lines on each side of a gutter
_BEFORE = 9  # lines before a table that are looked at
_NARROWEST = 0.6  # of a gutter, in parts of the size of letters
_DETACHED = 1.8  # the height from which on a line stands apart
_LONGEST = 40  # characters of a name
_MOST_COLUMNS = 16  # columns
_WORD = re.compile(r"[^\W\d_]{2}")
_ENDS = (".", "!", "?", ":", ";", ",")
_AWAY = 1.2  # how far a name may stand from where it belongs, in parts of the size of letters
_WHOLE_WIDTH = 0.9  # the part of the table from which on a line is not that below a name
_BESIDE = 2.0  # points that a line may be too short
RULED = 3  # lines drawn across a table, between its rows
_NEXT_LINE = 1.45  # the height of a line, in parts of the size of letters
_CLOSER = 1.2  # how much nearer than other rows the lines of a label are
_COVERED = 0.8  # how much of its width they cover
FIGURES = re.compile(r"[\W_]*\d[\W\d_]*[A-Za-z]?")


def best_band(found: Sequence[Segment], start: int, edges: Gap) -> tuple[int, list[Gap]]:
    """Return where the part that begins at a segment ends, and its gutters, if it has any.

    Lines before a table are not part of it, although they may leave some of its gutters free.
    """
    end, gutters = _band(found, start, edges)
    for later in range(start + 1, min(end, start + _BEFORE) if gutters else start):
        if found[later].base == found[later - 1].base:  # a line of several parts
            break
        later_end, more = _band(found, later, edges)
        if len(more) > len(gutters) or later_end > end:
            return later, []
    return end, gutters


def _band(found: Sequence[Segment], start: int, edges: Gap) -> tuple[int, list[Gap]]:
    gaps = [edges]
    end = start
    for one in found[start:]:
        left = [gap for whole in gaps for gap in _without(whole, one)]
        died = (w for w in gaps if not any(w[0] <= gap[0] and gap[1] <= w[1] for gap in left))
        if not left or any(_is_gutter(gap, found[start:end]) for gap in died):
            break
        gaps = left
        end += 1
    if end < len(found):  # the segments of one line stay together
        while end > start and found[end - 1].base == found[end].base:
            end -= 1
    band = found[start:end]
    gutters = _gutters(gaps, band)
    if not gutters:
        return start, []
    end = start + _attached(band, gutters)
    return end, _gutters(gutters, found[start:end])


def _gutters(gaps: Sequence[Gap], band: Sequence[Segment]) -> list[Gap]:
    """Return the gaps between columns from left to right, one between two columns."""
    gutters: list[Gap] = []
    for gap in sorted(gap for gap in gaps if _is_gutter(gap, band)):
        if not gutters or any(gutters[-1][1] <= one.left and one.right <= gap[0] for one in band):
            gutters.append(gap)
    return gutters


def _without(gap: Gap, one: Segment) -> list[Gap]:
    if one.right <= gap[0] or one.left >= gap[1]:
        return [gap]
    pieces = [(gap[0], one.left), (one.right, gap[1])]
    return [piece for piece in pieces if piece[1] - piece[0] >= _NARROWEST * one.size]


def _is_gutter(gap: Gap, band: Sequence[Segment]) -> bool:
    """Return whether lines stand on both sides, at the same height."""
    left = [one.base for one in band if one.right <= gap[0]]
    right = [one.base for one in band if one.left >= gap[1]]
    if not left or not right:
        return False
    low, high = max(left[-1], right[-1]) - band[0].size, min(left[0], right[0]) + band[0].size
    sides = ({base for base in side if low <= base <= high} for side in (left, right))
    return all(len(side) >= SUPPORT for side in sides)


def _attached(band: Sequence[Segment], gutters: Sequence[Gap]) -> int:
    """Return how many segments belong to the columns: not those of the first one far below."""
    columns = in_columns(band, gutters)
    bottom = max(column[-1].base for column in columns[1:])
    for number, one in enumerate(band):
        before = band[number - 1] if number else one
        if one.base < bottom and before.base - one.base > _DETACHED * one.size:
            return number
    return len(band)


def in_columns(band: Sequence[Segment], gutters: Sequence[Gap]) -> list[list[Segment]]:
    """Return the segments of each column."""
    columns: list[list[Segment]] = [[] for _ in range(len(gutters) + 1)]
    for one in band:
        columns[column_of(one, gutters)].append(one)
    return columns


def column_of(one: Segment, gutters: Sequence[Gap]) -> int:
    """Return the number of the column that a segment stands in, from 0."""
    return sum(gap[1] <= one.left for gap in gutters)


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
    may_be_over = all(may_name(r.text) and (is_period(r.text) or _WORD.search(r.text)) for r in row)
    if not 0 < len(row) < len(columns) <= _MOST_COLUMNS or not may_be_over:
        return []
    edges = [(min(one.left for one in c), max(one.right for one in c)) for c in columns]
    top = max(one.base for column in columns for one in column)
    below = [rule for rule in rules if top < rule.height < row[0].base]
    groups = _by_rules(row, edges, below) or _by_place(row, edges)
    return groups if any(1 < len(group) < len(columns) for group in groups) else []


def _by_rules(row: Sequence[Segment], edges: Sequence[Gap], rules: Sequence[Rule]) -> list[range]:
    width = _WHOLE_WIDTH * (edges[-1][1] - edges[0][0])
    groups = []
    for middle in (_middle((one.left, one.right)) for one in row):
        under = [rule for rule in rules if rule.left <= middle <= rule.right]
        rule = min(under, key=lambda rule: rule.right - rule.left, default=None)
        if rule is None or rule.right - rule.left > width:
            found = [min(range(len(edges)), key=lambda at: abs(_middle(edges[at]) - middle))]
        else:
            left, right = rule.left - _BESIDE, rule.right + _BESIDE
            found = [at for at, each in enumerate(edges) if left <= _middle(each) <= right]
        groups.append(range(found[0], found[-1] + 1) if found else range(0))
    apart = all(a.stop <= b.start for a, b in pairwise(groups))
    return groups if apart and all(groups) and max(map(len, groups)) > 1 else []


def _by_place(row: Sequence[Segment], edges: Sequence[Gap]) -> list[range]:
    """Return the nearest groups in a row; an open last one is as wide as the one before."""

    def cost(groups: Sequence[range]) -> tuple[int, int, int]:
        away = sum(_away(one, edges, group) for one, group in zip(row, groups, strict=True))
        uneven = abs(len(groups[-1]) - len(groups[-2])) if len(groups) > 1 else 0
        return round(away), uneven, -groups[-1].stop

    best = min(_in_a_row([_places(one, edges) for one in row]), key=cost, default=[])
    if len(row) > 1 or not best:
        return best
    # A single name at one end of its columns does not show where the other is.
    away = abs(_middle((row[0].left, row[0].right)) - _middle(_whole(edges, best[0])))
    return best if away < _AWAY / 2 * row[0].size else []


def _places(one: Segment, edges: Sequence[Gap]) -> list[range]:
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


def _away(one: Segment, edges: Sequence[Gap], group: range) -> float:
    """Return how far a name stands from its place over columns; it is not wider than they are."""
    left, right = _whole(edges, group)
    if one.left < left - one.size or one.right > right + one.size:
        return inf
    middle = abs(_middle((one.left, one.right)) - _middle((left, right)))
    return min(middle, abs(one.left - left), abs(one.right - right))


def _whole(edges: Sequence[Gap], group: range) -> Gap:
    return edges[group[0]][0], edges[group[-1]][1]


def _middle(edges: Gap) -> float:
    return sum(edges) / 2


def separators_in(band: Sequence[Segment], rules: Sequence[Rule]) -> list[float]:
    """Return the heights within a part of the page at which lines are drawn all across it."""
    left, right = min(one.left for one in band), max(one.right for one in band)
    covered: dict[float, float] = defaultdict(float)
    for rule in set(rules):
        width = min(rule.right, right) - max(rule.left, left)
        if width > 0 and band[-1].base < rule.height < band[0].base:
            covered[round(rule.height)] += width
    across = (h for h, width in covered.items() if width > _COVERED * (right - left))
    return sorted(across, reverse=True)


def cells_in(
    band: Sequence[Segment], gutters: Sequence[Gap], separators: Sequence[float]
) -> list[list[str]]:
    """Return the rows of a table, which may have several lines.

    Lines between two rules are a row if no column has two numbers in them.
    """
    if len(separators) < RULED:
        return _rows_of(band, gutters)
    found = []
    for _, some in groupby(band, key=lambda one: sum(height > one.base for height in separators)):
        lines = _rows_of(list(some), gutters)
        columns = list(zip(*lines, strict=True))
        is_one = all(sum(map(bool, map(FIGURES.fullmatch, column))) < 2 for column in columns)
        found += [[" ".join(filter(None, column)) for column in columns]] if is_one else lines
    return found


def _rows_of(band: Sequence[Segment], gutters: Sequence[Gap]) -> list[list[str]]:
    """Return rows; a line that continues the cells above it is part of their row."""
    lines = rows(band)
    heights = [a[0].base - b[0].base for a, b in pairwise(lines)]
    usual = median(heights) if heights else 0.0
    has_figures = any(FIGURES.fullmatch(one.text) for one in band)
    table: list[list[str]] = []
    for height, line in zip([inf, *heights], lines, strict=True):
        row = [""] * (len(gutters) + 1)
        for one in line:
            place = column_of(one, gutters)
            row[place] = f"{row[place]} {one.text}".strip()
        last = table[-1] if table and height <= _NEXT_LINE * line[0].size else []
        words_only = not any(map(FIGURES.fullmatch, row))
        filled = [place for place, cell in enumerate(row) if cell]
        above = last[filled[0]] if last and len(filled) == 1 else ""
        closes = above.count("(") > above.count(")")  # one cell ends the brackets above it
        ends = closes or (last and not row[0] and words_only and last[0])
        closer = last and height < usual / _CLOSER
        begun = closer and not any(last[1:]) and any(row[1:])
        # A second line of the names of columns of figures.
        names = [cell for cell in [*table[0], *row] if cell] if len(table) == 1 else []
        if ends or begun or (closer and has_figures and names and all(map(is_name, names))):
            table[-1] = [f"{a} {b}".strip() for a, b in zip(last, row, strict=True)]
        else:
            table.append(row)
    return table


def is_name(text: str) -> bool:
    """Return whether a cell may be the name of a column of figures."""
    return may_name(text) and not any(map(str.isdigit, text))


def is_figure(text: str) -> bool:
    """Return whether a cell has more digits than letters: "12 %", "(3)", "4 km"."""
    return sum(map(str.isdigit, text)) >= max(1, sum(map(str.isalpha, text)))
