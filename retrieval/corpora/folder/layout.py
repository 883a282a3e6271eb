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

from retrieval.corpora.folder.columns import (
    FIGURES,
    RULED,
    SUPPORT,
    Gap,
    best_band,
    cells_in,
    column_groups,
    column_of,
    in_columns,
    is_figure,
    is_name,
    may_name,
    separators_in,
)
from retrieval.corpora.folder.letters import Rule
from retrieval.corpora.folder.segments import Segment, rows
from retrieval.corpora.folder.tables import Cell, is_period

_PROSE_LINES = 3  # of a column
_SIDE_LINES = 4  # lines of prose for each line of the words at its side
_PROSE_LENGTH = 22  # characters of most lines in a column of prose
_PROSE_FILL = 0.7  # the part of the column that most of its lines fill
_CONTINUED = 0.4  # the part of the lines of prose that begin in the middle of a sentence
_WIDE = 1.5  # white between the cells of a row that stands alone, in parts of the size
_CELLS = 3  # in such a row
_NEAR_NAMES = 2.5  # the height of a line of names over several columns
_ITEM = re.compile(r"[•▪◦‣●■*☐☒–-]|[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)\]]")  # noqa: RUF001
_NUMBERED_LINES = 8  # at least, if each has a number
_NUMBER = re.compile(r"\d{1,3}")


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
    bold: bool = False


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
    page.read(_from_the_top(_without_line_numbers(found)))
    return page.read_so_far


class _Page:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.read_so_far: list[Line | Table] = []
        self._columns = 0

    def read(self, found: Sequence[Segment]) -> None:
        """Read a part of the page whose segments are given from top to bottom."""
        self._columns += 1
        if not found:
            return
        edges = min(one.left for one in found), max(one.right for one in found)
        single: list[Segment] = []
        start = 0
        while start < len(found):
            if grouped := self._grouped(found, start, edges):
                self._lines(single, edges[1])
                single = []
                table, start = grouped
                self.read_so_far.append(table)
                continue
            end, gutters = best_band(found, start, edges)
            after = _line_end(found, start)
            is_above = _is_caption(found[start:end], gutters)
            if gutters and not (after < end and (is_above or self._grouped(found, after, edges))):
                self._lines(single, edges[1])
                single = []
                self._band(found[start:end], gutters, edges)
                start = end
            else:
                after = after if gutters else start + 1
                single += found[start:after]
                start = after
        self._lines(single, edges[1])

    def _grouped(
        self, found: Sequence[Segment], start: int, edges: Gap
    ) -> tuple[Table, int] | None:
        """Return a table below names over several columns, and where it ends."""
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
        edges: Gap,
        begin: int,
    ) -> tuple[Table, int] | None:
        end, gutters = best_band(found, 0, edges) if found else (0, [])
        band = found[:end]
        if not gutters or row[0].base - band[0].base > _NEAR_NAMES * row[0].size:
            return None
        columns = in_columns(band, gutters)
        groups = column_groups(row, columns, self._rules)
        if not groups or _stand_apart(columns):
            return None
        names, *cells = cells_in(band, gutters, separators_in(band, self._rules))
        grouped = [at for group in groups for at in group if len(group) > 1]
        free = {at for at, name in enumerate(names) if not name and at not in grouped}
        below = [row[at] for row in cells for at in grouped if row[at]]
        figures = sum(map(is_figure, below))
        if not all(may_name(names[at]) for at in grouped) or figures <= len(below) / 2:
            return None
        for one in beside:
            place = column_of(one, gutters)
            if place not in free:
                return None
            names[place] = one.text
        above = [Cell("", heading=True)] * len(columns)
        for one, group in zip(row, groups, strict=True):
            above[group.start : group.stop] = [Cell(one.text, heading=True)] * len(group)
        return Table(cells, [above, [Cell(name, heading=True) for name in names]]), begin + end

    def _band(self, band: Sequence[Segment], gutters: Sequence[Gap], edges: Gap) -> None:
        columns = in_columns(band, gutters)
        separators = separators_in(band, self._rules)
        if len(columns) == 2 and all(_ITEM.fullmatch(one.text) for one in columns[0]):  # a list
            self._lines(band, edges[1], whole=True)
        elif len(separators) < RULED and _stand_apart(columns):
            for column in columns:
                self.read(_from_the_top(column))
        else:
            self.read_so_far.append(Table(cells_in(band, gutters, separators)))

    def _lines(self, found: Sequence[Segment], right_edge: float, whole: bool = False) -> None:
        for row in rows(found):
            gaps = [(b.left - a.right) / a.size for a, b in pairwise(row)]
            texts = [one.text for one in row]
            if not whole and len(row) >= _CELLS and min(gaps) > _WIDE:
                self.read_so_far.append(Table([texts]))
                continue
            right = max(one.right for one in row)
            size = max(row, key=lambda one: len(one.text)).size
            places = row[0].left, right, row[0].base, size
            column, bold = (self._columns, right_edge), all(one.bold for one in row)
            self.read_so_far.append(Line(" ".join(texts), *places, *column, bold))


def _is_caption(band: Sequence[Segment], gutters: Sequence[Gap]) -> bool:
    """Return whether the first line of a table of figures stands above the names of all columns."""
    end = _line_end(band, 0)
    names = band[end : _line_end(band, end)] if end == 1 < len(band) else []
    return (
        len(names) == len(gutters) + 1 > SUPPORT
        and all(is_name(one.text) or is_period(one.text) for one in names)
        and any(FIGURES.fullmatch(one.text) for one in band[end + len(names) :])
    )


def _line_end(found: Sequence[Segment], start: int) -> int:
    end = start
    while end < len(found) and found[end].base == found[start].base:
        end += 1
    return end


def _from_the_top(found: Sequence[Segment]) -> list[Segment]:
    return [one for row in rows(found) for one in row]


def _stand_apart(columns: Sequence[Sequence[Segment]]) -> bool:
    """Return whether columns are not parts of one table: prose, perhaps with words at its side."""
    prose = [len(rows(column)) for column in columns if _is_prose(column)]
    others = sum(len(rows(column)) for column in columns if not _is_prose(column))
    return len(prose) > 1 or (len(prose) == 1 and others * _SIDE_LINES <= prose[0])


def _is_prose(column: Sequence[Segment]) -> bool:
    lines = rows(column)
    texts = [" ".join(one.text for one in line) for line in lines]
    if len(lines) < _PROSE_LINES or median(map(len, texts)) < _PROSE_LENGTH:
        return False
    left = min(one.left for one in column)
    width = max(one.right for one in column) - left
    fills = [(line[-1].right - left) / width for line in lines]
    continued = sum(text[0].islower() for text in texts) / len(texts)
    return median(fills) >= _PROSE_FILL or continued >= _CONTINUED


def _without_line_numbers(found: Sequence[Segment]) -> Sequence[Segment]:
    """Return the segments without numbers in the margin that count each line, or each fifth."""
    lines = enumerate(rows(found))
    numbered = [(at, row[0]) for at, row in lines if _NUMBER.fullmatch(row[0].text)]
    if len(numbered) < 2:
        return found
    numbers = [(at, int(one.text)) for at, one in numbered]
    step = numbers[1][1] - numbers[0][1]
    counts = all(b[1] - a[1] == step for a, b in pairwise(numbers))
    by_line = all(b[0] - a[0] == step for a, b in pairwise(numbers))
    margin = [one for _, one in numbered]
    texts = [one for one in found if one not in margin]
    left = min((one.left for one in texts), default=0)
    apart = all(one.right < left for one in margin)
    known = (step == 1 and len(numbered) >= _NUMBERED_LINES) or (step in (5, 10) and by_line)
    return texts if counts and apart and known else found
