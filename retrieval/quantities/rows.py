"""Reads tables again from the sentences of their rows: "Item: Roads, 2023: 2,980 thousand euros".

``retrieval/corpora/folder/tables.py`` writes these sentences. What is not sure is no row or no
figure: whoever reads a wrong result believes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import takewhile

from retrieval.types import Sentence, SentenceKey

_MOST_COLUMNS = 60
_FACTORS = {"": 0, "thousand": 3, "million": 6, "billion": 9}
_FIGURE = re.compile(
    r"(?P<sign>[-+−]?)(?P<money>[$€£¥]?)"  # noqa: RUF001
    r"(?P<digits>\d{1,3}(?:[, \u00a0\u202f]\d{3}){1,5}|\d{1,15})(?P<decimals>\.\d{1,6})?"
    r"(?P<after>(?: (?P<factor>thousand|million|billion)\b)?(?P<unit>(?: ?%| [^\d\s][^\d]{0,30})?))"
)
# "1.250" may be 1250; "5 May" and "9 am" are no amounts.
_UNSURE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_NO_UNIT = re.compile(
    r"\s*(?:[ap]\.?m\b|o.clock|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)", re.I
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a table.

    ``value``: with its factor, "5 million" is 5,000,000. ``unit``: what it counts, "" for things.
    ``said``: how it stands there: ``before``, digits, ``after``. ``scale``: the power of ten of its
    factor.
    """

    value: Decimal
    unit: str
    said: str
    before: str
    after: str
    scale: int

    def shown(self, value: Decimal) -> str:
        """Return another value in the writing of this one."""
        return f"{self.before}{value.scaleb(-self.scale).normalize():,f}{self.after}"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its section and name, its cells of words and of figures by their columns.

    The name begins with the section, "" for none.
    """

    key: SentenceKey
    section: str
    name: str
    words: dict[str, str]
    figures: dict[str, Figure]

    def goes_on_with(self, other: Row) -> bool:
        """Return whether another row may be of the same table: it has half of the columns."""
        one, two = (row.words.keys() | row.figures.keys() for row in (self, other))
        return bool(one & two) and 2 * len(one & two) >= min(len(one), len(two))


def tables(sentences: Iterable[Sentence]) -> list[list[Row]]:
    """Return the tables of sentences in their order: rows side by side with the same columns.

    Two tables with the same columns, one directly below the other, are read as one.
    """
    found: list[list[Row]] = [[]]
    for row in map(row_of, sentences):
        if row is None or (found[-1] and not found[-1][-1].goes_on_with(row)):
            found.append([])
        if row is not None:
            found[-1].append(row)
    return [_with_names(table) for table in found if sum(bool(row.figures) for row in table) > 1]


def row_of(sentence: Sentence) -> Row | None:
    """Return the row that a sentence is, its name being what stands in front of its cells."""
    first, *rest = sentence.text.removesuffix(".").split(": ")
    front, _, head = first.rpartition(", ")
    if not rest or len(rest) > _MOST_COLUMNS:
        return None
    cells: list[tuple[str, str]] = []
    for part in rest[:-1]:
        value, _, following = part.rpartition(", ")
        cells.append((head, value))
        head = following
    cells.append((head, rest[-1]))
    often = Counter(column for column, _ in cells)
    read = {column: (value, figure_of(value)) for column, value in cells if often[column] == 1}
    words = {column: value for column, (value, figure) in read.items() if figure is None}
    figures = {column: figure for column, (_, figure) in read.items() if figure is not None}
    # "Revenue, net: 500, Revenue, gross: 600": a name of a column has a comma.
    if any(figure_of(value.partition(", ")[0]) for value in words.values() if ", " in value):
        return None
    return Row(sentence.key, "", front, words, figures)


def figure_of(text: str) -> Figure | None:
    """Return the figure that a cell is, None if it is anything else or not sure."""
    said = text.strip()
    found = _FIGURE.fullmatch(said)
    if found is None or _UNSURE.fullmatch(found["digits"] + (found["decimals"] or "")):
        return None
    if _NO_UNIT.match(found["unit"]):
        return None
    scale = _FACTORS[found["factor"] or ""]
    value = Decimal(re.sub(r"\D", "", found["digits"]) + (found["decimals"] or "")).scaleb(scale)
    negative = found["sign"] in ("-", "−")  # noqa: RUF001
    unit = found["money"] or found["unit"].strip()
    return Figure(-value if negative else value, unit, said, found["money"], found["after"], scale)


def _with_names(table: Sequence[Row]) -> list[Row]:
    """Return the rows with their sections and names.

    What stands in front of all rows is the table's title; what else stands there is the section.
    The first cell names the row; where several rows have one name, all cells of words do.
    """
    fronts = [[part for part in row.name.split(", ") if part] for row in table]
    columns = zip(*fronts, strict=False)  # as long as the shortest
    title = sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, columns))
    if not any(row.words for row in table) and all(len(front) == title for front in fronts):
        table = [_by_first_figure(row) for row in table]  # "Year: 2019, Visitors: 400"
    named = []
    for row, front in zip(table, fronts, strict=True):
        first = list(row.words.values())[:1]
        above = front[title:] if first else front[title:-1]
        name = ", ".join([*front[title:], *first])
        named.append(replace(row, section=", ".join(above), name=name))
    often = Counter(row.name for row in named)
    return [
        row
        if often[row.name] == 1
        else replace(row, name=", ".join(filter(None, (row.section, *row.words.values()))))
        for row in named
    ]


def _by_first_figure(row: Row) -> Row:
    column, figure = next(iter(row.figures.items()))
    others = {other: one for other, one in row.figures.items() if other != column}
    return replace(row, words={column: figure.said}, figures=others)
