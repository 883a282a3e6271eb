"""Reads .xlsx: a sentence for each row, below the name of its sheet, with numbers as shown.

Its library does not say row by row what a sheet hides and merges. Numbers are shown as their
formats say: 12%, $320, 45.6 million, 00123.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import IO, Any

from lxml import etree
from openpyxl.cell.rich_text import CellRichText
from openpyxl.utils.cell import range_boundaries

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.charts import charts_in
from retrieval.corpora.folder.document import NAMED, FileText, Unread, hidden_text
from retrieval.corpora.folder.numbers import shown_number
from retrieval.corpora.folder.tables import MOST_COLUMNS, Cell, is_period, row_sentences, tables_in
from retrieval.corpora.folder.zipped import office_file, saved_on
from retrieval.corpora.passages import Block
from retrieval.corpora.table_files import opened_workbook, plain_text

_READ = ("{*}row", "{*}c", "{*}col", "{*}mergeCell")
_YES = ("1", "true")


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells that are shown as one; columns and rows count from 1, the last ones included."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """``rows`` and ``columns``: the numbers of the hidden ones, from 1. ``merged``: by the top.

    ``lacking``: by row how many formulas have no value, because no program has computed them.
    """

    lacking: Counter[int] = field(default_factory=Counter)
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
            case "c" if element.find("{*}f") is not None and not element.findtext("{*}v"):
                found.lacking[int(element.getparent().get("r") or row + 1)] += 1
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

    A row of nothing but cells merged with those above, or formulas without values, is left out.
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
        if number in layout.rows or (reaching and not says) or _lacks_all(row, number, layout):
            continue
        yield [cell for at, cell in enumerate(row, start=1) if at not in layout.columns]


def _lacks_all(row: Sequence[Cell], number: int, layout: SheetLayout) -> bool:
    """Return whether a row has formulas whose values the file lacks, and nothing but its name."""
    return number in layout.lacking and sum(bool(cell.text) for cell in row) < 2


def read(path: Path) -> FileText:
    """Return the document. Of formulas it has the values that were computed last.

    Raises:
        Unreadable: it is not an .xlsx, is encrypted or damaged, or is too large.
        OSError: the file cannot be read.
    """
    blocks: list[Block] = []
    unread: list[Unread] = []
    with office_file(path) as file, closing(opened_workbook(file)) as book:
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for sheet in sheets:
            with book._archive.open(sheet._worksheet_path) as content:
                layout = sheet_layout(content)
            sheet.reset_dimensions()  # which some programs declare wrongly
            hidden: list[str] = []
            rows = shown_rows(
                ([_cell(c, hidden) for c in row] for row in sheet.iter_rows()), layout
            )
            section = (sheet.title,) if len(sheets) > 1 else ()
            for table in tables_in(rows):
                blocks += (
                    Block(text, section, kind="row") for text in row_sentences(table, [sheet.title])
                )
            unread += _lacking(sheet.title, layout) + hidden_text(
                f"sheet {sheet.title}", len(hidden)
            )
        charts, without = charts_in(book._archive)
        title, saved = clean(book.properties.title or ""), saved_on(book.properties)
    blocks += (Block(text, kind="row") for text in charts)
    return FileText(title, blocks, None, [*unread, *without], saved=saved)


def _lacking(sheet: str, layout: SheetLayout) -> list[Unread]:
    """Return what is said of the formulas of a sheet whose values the file lacks."""
    if not layout.lacking:
        return []
    count, rows = layout.lacking.total(), ", ".join(map(str, sorted(layout.lacking)[:NAMED]))
    message = f"{count} formulas without values are not read, in rows {rows}."
    return [
        Unread(f"sheet {sheet}", message, "Open it in a spreadsheet program and save it again.")
    ]


def _cell(cell: Any, hidden: list[str]) -> Cell:
    """Return a cell; a text or a year in bold letters may be a heading, but no other number.

    White text in a cell without a colour goes to ``hidden``.
    """
    text = _shown(cell)
    if not text:
        return Cell("")
    colour = cell.font.color
    is_white = colour is not None and colour.type == "rgb" and colour.rgb[-6:] == "FFFFFF"
    if is_white and cell.fill.fill_type is None:
        hidden.append(text)
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
