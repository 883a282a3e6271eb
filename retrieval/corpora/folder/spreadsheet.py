"""Reads .xlsx: a sentence for each row, below the name of its sheet, with numbers as shown.

Its library does not say row by row what a sheet hides and merges. Numbers are shown as their
formats say: 12%, $320, 45.6 million, 00123.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from lxml import etree
from openpyxl.cell.rich_text import CellRichText
from openpyxl.utils.cell import range_boundaries

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.delimited import in_tables
from retrieval.corpora.folder.document import FileText, unread_charts
from retrieval.corpora.folder.tables import MOST_COLUMNS, Cell, is_period, row_sentences
from retrieval.corpora.folder.zipped import office_file
from retrieval.corpora.passages import Block
from retrieval.corpora.table_files import opened_workbook, plain_text

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[[^\]]*\]|_.|\*."  # a colour or a condition, a space, a filling
    r"|(?P<digits>General|[#0?][#0?,.]*)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN = set("$€£¥%+-() '!&~<>=^{}")  # characters that need no quotes
_READ = ("{*}row", "{*}c", "{*}col", "{*}mergeCell")
_YES = ("1", "true")
_CHART = "xl/charts/chart"  # begins the names of their files


class _Section(NamedTuple):
    """A format of numbers: what stands around the digits, and their own part of it.

    ``digits``: "" if the format shows no number, ``None`` if it is one of fractions, powers or
    dates, which are not known here. ``percent``: whether it shows hundredths.
    """

    before: str = ""
    digits: str | None = ""
    after: str = ""
    percent: bool = False


def shown_number(value: float, form: str) -> str:
    """Return a number with the sign, the unit and the zeros that its format gives it.

    Digits that the format rounds away are kept, except in percentages. A number that the format
    hides is "".
    """
    sections = _sections(form) if form else (_Section(digits="General"),)
    at = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    before, digits, after, percent = sections[at]
    number = Decimal(format(value, ".15g"))  # a spreadsheet computes with 15 digits
    if digits is None:
        return _plain(number)
    if not digits:
        return (before + after).strip()
    if percent:
        decimals = len(digits.partition(".")[2])
        number = (number * 100).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        number = number.normalize() if digits.endswith("#") else number
    scale = len(digits) - len(digits.rstrip(","))
    number /= 1000**scale
    minus = "-" if number < 0 else ""
    whole, point, rest = _plain(abs(number), "," in digits[: len(digits) - scale]).partition(".")
    if digits[0] == "0" and "," not in digits:
        whole = whole.zfill(digits.partition(".")[0].count("0"))
    if minus:  # in brackets, or with a sign of the format
        before, after = before.replace("(", "").replace("-", ""), after.replace(")", "")
    return f"{minus}{before}{whole}{point}{rest}{after}".strip()


def _plain(number: Decimal, grouped: bool = False) -> str:
    """Return the digits of a number; one that is very small or large has an exponent."""
    if number and not -10 < number.adjusted() < 20:
        return f"{number.normalize():e}"
    return f"{number:,f}" if grouped else f"{number:f}"


@lru_cache(maxsize=1000)
def _sections(form: str) -> tuple[_Section, ...]:
    """Return the formats of positive numbers, of negative ones and of zero; one may be all."""
    sections: list[_Section] = [_Section()]
    for found in _TOKEN.finditer(form):
        before, digits, after, percent = sections[-1]
        percent = percent or found["other"] == "%"
        literal = found["quoted"] or found["escaped"] or found["currency"] or ""
        other = found["other"] or ""
        if other == ";":
            sections.append(_Section())
        elif found["digits"]:
            # A second group of digits is that of a fraction or a power.
            sections[-1] = _Section(
                before, None if digits or digits is None else found["digits"], "", percent
            )
        elif other and other not in _SHOWN:
            sections[-1] = _Section(before, None, after, percent)
        elif digits:
            sections[-1] = _Section(before, digits, after + literal + other, percent)
        else:
            sections[-1] = _Section(before + literal + other, digits, after, percent)
    return tuple(sections)


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells that are shown as one; columns and rows count from 1, the last ones included."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """``rows`` and ``columns``: the numbers of the hidden ones, from 1. ``merged``: by the top."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    merged: dict[int, list[Merged]] = field(default_factory=dict)


def sheet_layout(sheet: IO[bytes]) -> SheetLayout:
    """Return the layout of a sheet, given its XML.

    Raises:
        XMLSyntaxError: it is damaged.
    """
    found = SheetLayout()
    row = 0
    options = {"resolve_entities": False, "no_network": True, "huge_tree": True}
    for _, element in etree.iterparse(sheet, tag=_READ, **options):
        hidden = element.get("hidden") in _YES
        match etree.QName(element).localname:
            case "row":
                row = int(element.get("r") or row + 1)
                if hidden:
                    found.rows.add(row)
            case "col" if hidden:
                last = min(int(element.get("max", "0")), MOST_COLUMNS)
                found.columns.update(range(int(element.get("min", "1")), last + 1))
            case "mergeCell":
                cells = Merged(*range_boundaries(element.get("ref")))
                found.merged.setdefault(cells.top, []).append(cells)
        # What is read is let go, so that a sheet of a million rows fits into memory.
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return found


def shown_rows(rows: Iterator[Sequence[Cell]], layout: SheetLayout) -> Iterator[list[Cell]]:
    """Yield the rows without what is hidden, and with merged cells in each of their places.

    A row that has nothing but cells merged with those above is left out.
    """
    reaching: list[tuple[Merged, Cell]] = []
    for number, cells in enumerate(rows, start=1):
        row = list(cells)
        says = any(cell.text for cell in row)
        reaching = [(merged, cell) for merged, cell in reaching if merged.bottom >= number]
        for merged in layout.merged.get(number, ()):
            if merged.left <= len(row):
                reaching.append((merged, row[merged.left - 1]))
        for merged, cell in reaching:
            right = min(merged.right, MOST_COLUMNS)
            row += (Cell("") for _ in range(right - len(row)))
            row[merged.left - 1 : right] = [cell] * (right - merged.left + 1)
        if says and number not in layout.rows:
            yield [cell for at, cell in enumerate(row, start=1) if at not in layout.columns]


def read(path: Path) -> FileText:
    """Return the document. Of formulas it has the values that were computed last.

    Raises:
        Unreadable: it is not an .xlsx, is encrypted or damaged, or is too large.
        OSError: the file cannot be read.
    """
    with office_file(path) as file, closing(opened_workbook(file)) as book:
        shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        blocks = [
            Block(text, (sheet.title,) if len(shown) > 1 else ())
            for sheet in shown
            for rows in in_tables(_rows(book, sheet))
            for text in row_sentences(rows)
        ]
        charts = sum(name.startswith(_CHART) for name in book._archive.namelist())
        return FileText(clean(book.properties.title or ""), blocks, unread=unread_charts(charts))


def _rows(book: Any, sheet: Any) -> Iterator[list[Cell]]:
    with book._archive.open(sheet._worksheet_path) as content:
        layout = sheet_layout(content)
    sheet.reset_dimensions()  # which some programs declare wrongly
    return shown_rows((list(map(_cell, row)) for row in sheet.iter_rows()), layout)


def _cell(cell: Any) -> Cell:
    """Return a cell; a text or a year in bold letters may be a heading, but no other number."""
    text = _shown(cell)
    if not text:
        return Cell("")
    may_name = isinstance(cell.value, str | CellRichText) or is_period(text)
    return Cell(text, may_name and bool(cell.font.b))


def _shown(cell: Any) -> str:
    """Return the value of a cell about as a spreadsheet shows it: 12%, $320, 2024-03-05."""
    value = plain_text(cell.value)
    if value is None or cell.font.strike:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return shown_number(value, cell.number_format or "")
    if isinstance(value, datetime):
        day = value.date().isoformat()
        return day if value.time() == time() else f"{day} {value.time().isoformat('minutes')}"
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        text = f"{minutes // 60}:{minutes % 60:02}"
        return f"{text}:{seconds:02}" if seconds else text
    return clean(str(value))
