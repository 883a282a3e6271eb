"""Brings the segments of a page into the order of reading: lines of columns, and tables.

Columns are parted by gutters: stretches of white that several lines in a row leave free. A part of
the page whose columns hold prose is read column by column, any other such part is a table. Where
there is no gutter, the segments of a line belong together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from retrieval.corpora.folder.column_groups import column_groups, may_name
from retrieval.corpora.folder.rules import Rule
from retrieval.corpora.folder.segments import Segment, rows
from retrieval.corpora.folder.tables import Cell, is_period

_Gap = tuple[float, float]  # left and right
_NARROWEST = 0.6  # of a gutter, in parts of the size of letters
_SUPPORT = 2  # lines on each side of a gutter
_PROSE_LINES = 3  # of a column
_SIDE_LINES = 4  # lines of prose for each line of the words at its side
_PROSE_LENGTH = 22  # characters of most lines in a column of prose
_PROSE_FILL = 0.7  # the part of the column that most of its lines fill
_CONTINUED = 0.4  # the part of the lines of prose that begin in the middle of a sentence
_WIDE = 1.5  # white between the cells of a row that stands alone, in parts of the size
_CELLS = 3  # in such a row
_NEXT_LINE = 1.45  # the height of a line, in parts of the size of letters
_NEAR_NAMES = 2.5  # the height of a line of names over several columns
_CLOSER = 1.2  # how much nearer than other rows the lines of a label are
_DETACHED = 1.8  # the height from which on a line stands apart
_RULED = 3  # lines drawn across a table, between its rows
_ACROSS = 0.8  # how much of its width they cover
_ITEM = re.compile(r"[•▪◦‣●■*–-]|[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)\]]")  # noqa: RUF001
_NUMBERED_LINES = 8  # at least
_NUMBER = re.compile(r"\d{1,3}")
_FIGURES = re.compile(r"[\W_]*\d[\W\d_]*[A-Za-z]?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a column of the page; lengths in points.

    ``right_edge`` is where the column ends, and ``column`` its number on the page.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    column: int
    right_edge: float


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table row by row; every row has one for each column, "" if it is empty.

    ``heads``: rows before them with names over several columns, and with the names below those.
    """

    rows: list[list[str]]
    heads: list[list[Cell]] = field(default_factory=list)


def layout(found: Sequence[Segment], rules: Sequence[Rule] = ()) -> list[Line | Table]:
    """Return the lines and tables of a page in the order of reading.

    ``rules`` are the lines drawn on it, which part the rows of tables.
    """
    page = _Page(rules)
    page.read(_from_the_top(found))
    return page.read_so_far


class _Page:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.read_so_far: list[Line | Table] = []
        self._columns = 0

    def read(self, found: Sequence[Segment]) -> None:
        """Read a part of the page whose segments are given from top to bottom."""
        self._columns += 1
        edges = (min(one.left for one in found), max(one.right for one in found)) if found else None
        single: list[Segment] = []
        start = 0
        while edges and start < len(found):
            if grouped := self._grouped(found, start, edges):
                self._lines(single, edges[1])
                single = []
                table, start = grouped
                self.read_so_far.append(table)
                continue
            end, gutters = _best_band(found, start, edges)
            after = _line_end(found, start)
            is_above = _is_caption(found[start:end], gutters)
            if gutters and after < end and (is_above or self._grouped(found, after, edges)):
                single += found[start:after]
                start = after
                continue
            if not gutters:
                single.append(found[start])
                start += 1
                continue
            self._lines(single, edges[1])
            single = []
            self._band(found[start:end], gutters, edges)
            start = end
        if edges:
            self._lines(single, edges[1])

    def _grouped(
        self, found: Sequence[Segment], start: int, edges: _Gap
    ) -> tuple[Table, int] | None:
        """Return a table that begins with names over several columns, and where it ends.

        Between these and the names below, other names may be that stand beside both.
        """
        begin = _line_end(found, start)
        row = found[start:begin]
        if begin == len(found) or not all(may_name(one.text) for one in row):
            return None
        after = _line_end(found, begin)
        return self._table_below(row, [], found[begin:], edges, begin) or self._table_below(
            row, found[begin:after], found[after:], edges, after
        )

    def _table_below(
        self,
        row: Sequence[Segment],
        beside: Sequence[Segment],
        found: Sequence[Segment],
        edges: _Gap,
        begin: int,
    ) -> tuple[Table, int] | None:
        end, gutters = _best_band(found, 0, edges) if found else (0, [])
        band = found[:end]
        if not gutters or row[0].base - band[0].base > _NEAR_NAMES * row[0].size:
            return None
        columns = _in_columns(band, gutters)
        groups = column_groups(row, columns, self._rules)
        if not groups or _stand_apart(columns):
            return None
        names, *cells = _cells(band, gutters, _separators(band, self._rules))
        grouped = [at for group in groups for at in group if len(group) > 1]
        free = {at for at, name in enumerate(names) if not name and at not in grouped}
        below = [row[at] for row in cells for at in grouped if row[at]]
        figures = sum(map(_is_figure, below))
        if not all(may_name(names[at]) for at in grouped) or figures <= len(below) / 2:
            return None
        for one in beside:
            place = _column(one, gutters)
            if place not in free:
                return None
            names[place] = one.text
        above = [Cell("", heading=True)] * len(columns)
        for one, group in zip(row, groups, strict=True):
            above[group.start : group.stop] = [Cell(one.text, heading=True)] * len(group)
        return Table(cells, [above, [Cell(name, heading=True) for name in names]]), begin + end

    def _band(self, band: Sequence[Segment], gutters: Sequence[_Gap], edges: _Gap) -> None:
        columns = _in_columns(band, gutters)
        separators = _separators(band, self._rules)
        if _is_numbering(columns[0]) and any(map(_is_prose, columns[1:])):
            rest = [one for column in columns[1:] for one in column]
            self.read(_from_the_top(rest))
        elif _is_list(columns[0]) and len(columns) == 2:
            self._lines(band, edges[1], whole=True)
        elif len(separators) < _RULED and _stand_apart(columns):
            for column in columns:
                self.read(_from_the_top(column))
        else:
            self.read_so_far.append(Table(_cells(band, gutters, separators)))

    def _lines(self, found: Sequence[Segment], right_edge: float, whole: bool = False) -> None:
        for row in rows(found):
            gaps = [(b.left - a.right) / a.size for a, b in pairwise(row)]
            if not whole and len(row) >= _CELLS and min(gaps) > _WIDE:
                self.read_so_far.append(Table([[one.text for one in row]]))
                continue
            self.read_so_far.append(
                Line(
                    " ".join(one.text for one in row),
                    row[0].left,
                    max(one.right for one in row),
                    row[0].base,
                    max(row, key=lambda one: len(one.text)).size,
                    self._columns,
                    right_edge,
                )
            )


def _is_caption(band: Sequence[Segment], gutters: Sequence[_Gap]) -> bool:
    """Return whether the first line of a table of figures stands above the names of all columns."""
    end = _line_end(band, 0)
    names = band[end : _line_end(band, end)] if end == 1 < len(band) else []
    return (
        len(names) == len(gutters) + 1 > _SUPPORT
        and all(_is_name(one.text) or is_period(one.text) for one in names)
        and any(_FIGURES.fullmatch(one.text) for one in band[end + len(names) :])
    )


def _is_name(text: str) -> bool:
    return may_name(text) and not any(map(str.isdigit, text))


def _is_figure(text: str) -> bool:
    """Return whether a cell has more digits than letters: "12 %", "(3)", "4 km"."""
    return sum(map(str.isdigit, text)) >= max(1, sum(map(str.isalpha, text)))


def _line_end(found: Sequence[Segment], start: int) -> int:
    end = start
    while end < len(found) and found[end].base == found[start].base:
        end += 1
    return end


def _from_the_top(found: Sequence[Segment]) -> list[Segment]:
    return [one for row in rows(found) for one in row]


def _best_band(found: Sequence[Segment], start: int, edges: _Gap) -> tuple[int, list[_Gap]]:
    """Return where the part that begins at a segment ends, and its gutters, if it has any.

    A line before a table is not part of it, although it may leave some of its gutters free.
    """
    end, gutters = _band(found, start, edges)
    if gutters and start + 1 < end and found[start + 1].base < found[start].base:
        later_end, later = _band(found, start + 1, edges)
        if len(later) > len(gutters) or later_end > end:
            return start + 1, []
    return end, gutters


def _band(found: Sequence[Segment], start: int, edges: _Gap) -> tuple[int, list[_Gap]]:
    gaps = [edges]
    end = start
    while end < len(found):
        one = found[end]
        left = [gap for whole in gaps for gap in _without(whole, one)]
        died = [whole for whole in gaps if not any(_within(gap, whole) for gap in left)]
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


def _gutters(gaps: Sequence[_Gap], band: Sequence[Segment]) -> list[_Gap]:
    """Return the gaps between columns from left to right, one between two columns."""
    gutters: list[_Gap] = []
    for gap in sorted(gap for gap in gaps if _is_gutter(gap, band)):
        if not gutters or any(gutters[-1][1] <= one.left and one.right <= gap[0] for one in band):
            gutters.append(gap)
    return gutters


def _without(gap: _Gap, one: Segment) -> list[_Gap]:
    if one.right <= gap[0] or one.left >= gap[1]:
        return [gap]
    pieces = [(gap[0], one.left), (one.right, gap[1])]
    return [piece for piece in pieces if piece[1] - piece[0] >= _NARROWEST * one.size]


def _within(gap: _Gap, whole: _Gap) -> bool:
    return whole[0] <= gap[0] and gap[1] <= whole[1]


def _is_gutter(gap: _Gap, band: Sequence[Segment]) -> bool:
    """Return whether lines stand on both sides, at the same height."""
    left = [one.base for one in band if one.right <= gap[0]]
    right = [one.base for one in band if one.left >= gap[1]]
    if not left or not right:
        return False
    top, bottom = min(left[0], right[0]), max(left[-1], right[-1])
    size = band[0].size
    return all(
        len({base for base in side if bottom - size <= base <= top + size}) >= _SUPPORT
        for side in (left, right)
    )


def _attached(band: Sequence[Segment], gutters: Sequence[_Gap]) -> int:
    """Return how many segments belong to the columns: not those of the first one far below."""
    columns = _in_columns(band, gutters)
    bottom = max(column[-1].base for column in columns[1:])
    for number, one in enumerate(band):
        before = band[number - 1] if number else one
        if one.base < bottom and before.base - one.base > _DETACHED * one.size:
            return number
    return len(band)


def _in_columns(band: Sequence[Segment], gutters: Sequence[_Gap]) -> list[list[Segment]]:
    columns: list[list[Segment]] = [[] for _ in range(len(gutters) + 1)]
    for one in band:
        columns[_column(one, gutters)].append(one)
    return columns


def _column(one: Segment, gutters: Sequence[_Gap]) -> int:
    return sum(gap[1] <= one.left for gap in gutters)


def _stand_apart(columns: Sequence[Sequence[Segment]]) -> bool:
    """Return whether columns are not parts of one table: prose, perhaps with words at its side."""
    prose = [len(rows(column)) for column in columns if _is_prose(column)]
    others = sum(len(rows(column)) for column in columns if not _is_prose(column))
    return len(prose) > 1 or (len(prose) == 1 and others * _SIDE_LINES <= prose[0])


def _is_prose(column: Sequence[Segment]) -> bool:
    lines = rows(column)
    if len(lines) < _PROSE_LINES:
        return False
    texts = [" ".join(one.text for one in line) for line in lines]
    if median(map(len, texts)) < _PROSE_LENGTH:
        return False
    left = min(one.left for one in column)
    width = max(one.right for one in column) - left
    fills = [(line[-1].right - left) / width for line in lines]
    continued = sum(text[0].islower() for text in texts) / len(texts)
    return median(fills) >= _PROSE_FILL or continued >= _CONTINUED


def _is_list(column: Sequence[Segment]) -> bool:
    return all(_ITEM.fullmatch(one.text) for one in column)


def _is_numbering(column: Sequence[Segment]) -> bool:
    """Return whether a column numbers the lines of the page: 1, 2, 3 or 5, 10, 15."""
    if len(column) < _NUMBERED_LINES or not all(_NUMBER.fullmatch(one.text) for one in column):
        return False
    numbers = [int(one.text) for one in column]
    step = numbers[1] - numbers[0]
    return step in (1, 5) and all(b - a == step for a, b in pairwise(numbers))


def _separators(band: Sequence[Segment], rules: Sequence[Rule]) -> list[float]:
    """Return the heights within a part of the page at which lines are drawn all across it."""
    left, right = min(one.left for one in band), max(one.right for one in band)
    top, bottom = band[0].base, band[-1].base
    covered: dict[int, float] = {}
    for rule in set(rules):
        width = min(rule.right, right) - max(rule.left, left)
        if width > 0 and bottom < rule.height < top:
            height = round(rule.height)
            covered[height] = covered.get(height, 0.0) + width
    return sorted(
        (h for h, width in covered.items() if width > _ACROSS * (right - left)), reverse=True
    )


def _cells(
    band: Sequence[Segment], gutters: Sequence[_Gap], separators: Sequence[float]
) -> list[list[str]]:
    """Return the rows of a table, which may have several lines."""
    found = []
    if len(separators) >= _RULED:
        between: dict[int, list[Segment]] = {}
        for one in band:
            between.setdefault(sum(height > one.base for height in separators), []).append(one)
        for number in sorted(between):
            lines = _rows_of(between[number], gutters)
            found += [_one_row(lines)] if _is_one_row(lines) else lines
        return found
    return _rows_of(band, gutters)


def _is_one_row(lines: Sequence[Sequence[str]]) -> bool:
    """Return whether lines between two rules are a row: no column has two numbers in them."""
    return all(
        sum(bool(_FIGURES.fullmatch(cell)) for cell in column) < 2
        for column in zip(*lines, strict=True)
    )


def _one_row(lines: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(filter(None, column)) for column in zip(*lines, strict=True)]


def _rows_of(band: Sequence[Segment], gutters: Sequence[_Gap]) -> list[list[str]]:
    """Return rows; a line that continues the cells above it is part of their row."""
    lines = rows(band)
    heights = [a[0].base - b[0].base for a, b in pairwise(lines)]
    usual = median(heights) if heights else 0.0
    has_figures = any(_FIGURES.fullmatch(one.text) for one in band)
    table: list[list[str]] = []
    for number, line in enumerate(lines):
        row = [""] * (len(gutters) + 1)
        for one in line:
            place = _column(one, gutters)
            row[place] = f"{row[place]} {one.text}".strip()
        height = heights[number - 1] if number else 0.0
        near = bool(number) and height <= _NEXT_LINE * line[0].size
        words_only = not any(_FIGURES.fullmatch(cell) for cell in row)
        ends = near and not row[0] and words_only and bool(table[-1][0])
        ends = ends or (near and _closes(table[-1], row))
        closer = near and height < usual / _CLOSER
        begun = closer and not any(table[-1][1:]) and any(row[1:])
        # A second line of the names of columns of figures.
        names = [cell for cell in [*table[0], *row] if cell] if len(table) == 1 else []
        named = closer and has_figures and bool(names) and all(map(_is_name, names))
        if ends or begun or named:
            table[-1] = _added(table[-1], row)
        else:
            table.append(row)
    return table


def _closes(above: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether a row is one cell that ends the brackets which the cell above it begins."""
    filled = [place for place, cell in enumerate(row) if cell]
    return len(filled) == 1 and above[filled[0]].count("(") > above[filled[0]].count(")")


def _added(row: Sequence[str], more: Sequence[str]) -> list[str]:
    return [f"{one} {other}".strip() for one, other in zip(row, more, strict=True)]
