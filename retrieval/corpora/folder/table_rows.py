"""The rows of a table on a page, from its segments and the lines drawn on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from retrieval.corpora.folder.column_groups import may_name
from retrieval.corpora.folder.gutters import Gap, column_of
from retrieval.corpora.folder.rules import Rule
from retrieval.corpora.folder.segments import Segment, rows

RULED = 3  # lines drawn across a table, between its rows
_NEXT_LINE = 1.45  # the height of a line, in parts of the size of letters
_CLOSER = 1.2  # how much nearer than other rows the lines of a label are
_ACROSS = 0.8  # how much of its width they cover
FIGURES = re.compile(r"[\W_]*\d[\W\d_]*[A-Za-z]?")


def separators_in(band: Sequence[Segment], rules: Sequence[Rule]) -> list[float]:
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


def cells_in(
    band: Sequence[Segment], gutters: Sequence[Gap], separators: Sequence[float]
) -> list[list[str]]:
    """Return the rows of a table, which may have several lines."""
    found = []
    if len(separators) >= RULED:
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
        sum(bool(FIGURES.fullmatch(cell)) for cell in column) < 2
        for column in zip(*lines, strict=True)
    )


def _one_row(lines: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(filter(None, column)) for column in zip(*lines, strict=True)]


def _rows_of(band: Sequence[Segment], gutters: Sequence[Gap]) -> list[list[str]]:
    """Return rows; a line that continues the cells above it is part of their row."""
    lines = rows(band)
    heights = [a[0].base - b[0].base for a, b in pairwise(lines)]
    usual = median(heights) if heights else 0.0
    has_figures = any(FIGURES.fullmatch(one.text) for one in band)
    table: list[list[str]] = []
    for number, line in enumerate(lines):
        row = [""] * (len(gutters) + 1)
        for one in line:
            place = column_of(one, gutters)
            row[place] = f"{row[place]} {one.text}".strip()
        height = heights[number - 1] if number else 0.0
        near = bool(number) and height <= _NEXT_LINE * line[0].size
        words_only = not any(FIGURES.fullmatch(cell) for cell in row)
        ends = near and not row[0] and words_only and bool(table[-1][0])
        ends = ends or (near and _closes(table[-1], row))
        closer = near and height < usual / _CLOSER
        begun = closer and not any(table[-1][1:]) and any(row[1:])
        # A second line of the names of columns of figures.
        names = [cell for cell in [*table[0], *row] if cell] if len(table) == 1 else []
        named = closer and has_figures and bool(names) and all(map(is_name, names))
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


def is_name(text: str) -> bool:
    """Return whether a cell may be the name of a column of figures."""
    return may_name(text) and not any(map(str.isdigit, text))


def is_figure(text: str) -> bool:
    """Return whether a cell has more digits than letters: "12 %", "(3)", "4 km"."""
    return sum(map(str.isdigit, text)) >= max(1, sum(map(str.isalpha, text)))
