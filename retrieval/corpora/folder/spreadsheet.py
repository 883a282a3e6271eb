"""Reads .xlsx: a sentence for each row, below the name of its sheet, with numbers as shown.

Its library does not say row by row what a sheet hides and merges. Numbers are shown as their
formats say: 12%, $320, 45.6 million, 00123.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
from retrieval.corpora.folder.document import FileText, Unread, first_title, hidden_text, numbers_of
from retrieval.corpora.folder.numbers import shown_number
from retrieval.corpora.folder.office import office_file, saved_on
from retrieval.corpora.folder.tables import MOST_COLUMNS, Cell, is_period, row_sentences, tables_in
from retrieval.corpora.passages import Block
from retrieval.corpora.table_files import opened_workbook, plain_text

_READ = ("{*}row", "{*}c", "{*}col", "{*}mergeCell")
_SAVE_AGAIN = "Open it in a spreadsheet program and save it again."


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """What a sheet hides and merges; all numbers of rows and columns count from 1.

    ``rows`` and ``columns``: the hidden ones. ``merged``: by the top row the left column, the right
    one and the bottom row of cells that are shown as one. ``lacking``: by row how many formulas
    have no value, because no program has computed them.
    """

    lacking: Counter[int] = field(default_factory=Counter)
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    merged: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)


def sheet_layout(sheet: IO[bytes]) -> SheetLayout:
    """Return the layout of a sheet, given its XML.

    Raises:
        XMLSyntaxError: it is damaged.
    """
    found = SheetLayout()
    row = 0
    options = {"resolve_entities": False, "no_network": True, "huge_tree": True}
    for _, element in etree.iterparse(sheet, tag=_READ, **options):
        hidden = element.get("hidden") in ("1", "true")
        match etree.QName(element).localname:
            case "row":
                row = int(element.get("r") or row + 1)
                found.rows.update([row] if hidden else [])
            case "col" if hidden:
                last = min(int(element.get("max", "0")), MOST_COLUMNS)
                found.columns.update(range(int(element.get("min", "1")), last + 1))
            case "c" if element.find("{*}f") is not None and not element.findtext("{*}v"):
                found.lacking[int(element.getparent().get("r") or row + 1)] += 1
            case "mergeCell":
                left, top, right, bottom = range_boundaries(element.get("ref"))
                found.merged.setdefault(top, []).append((left, right, bottom))
        # What is read is let go, so that a sheet of a million rows fits into memory.
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return found


def shown_rows(rows: Iterable[Sequence[Cell]], layout: SheetLayout) -> Iterator[list[Cell]]:
    """Yield the rows without what is hidden, and with merged cells in each of their places.

    A row of nothing but cells merged with those above, or formulas without values, is left out.
    """
    reaching: list[tuple[int, int, int, Cell]] = []
    for number, cells in enumerate(rows, start=1):
        row = list(cells)
        filled = sum(bool(cell.text) for cell in row)
        reaching = [each for each in reaching if each[2] >= number]
        merged = (each for each in layout.merged.get(number, ()) if each[0] <= len(row))
        reaching += ((left, right, last, row[left - 1]) for left, right, last in merged)
        for left, right, _, cell in reaching:
            right = min(right, MOST_COLUMNS)
            row += (Cell("") for _ in range(right - len(row)))
            row[left - 1 : right] = [cell] * (right - left + 1)
        # Formulas whose values the file lacks, and nothing but the name of the row.
        lacks_all = number in layout.lacking and sum(bool(cell.text) for cell in row) < 2
        if not (number in layout.rows or (reaching and not filled) or lacks_all):
            yield [cell for at, cell in enumerate(row, start=1) if at not in layout.columns]


def read(path: Path) -> FileText:
    """Return the document. Of formulas it has the values that were computed last."""
    blocks: list[Block] = []
    unread: list[Unread] = []
    with office_file(path) as file, closing(opened_workbook(file)) as book:
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for sheet in sheets:
            with book._archive.open(sheet._worksheet_path) as content:
                layout = sheet_layout(content)
            sheet.reset_dimensions()  # which some programs declare wrongly
            hidden: list[str] = []
            cells = ([_cell(cell, hidden) for cell in row] for row in sheet.iter_rows())
            section = (sheet.title,) if len(sheets) > 1 else ()
            for table in tables_in(shown_rows(cells, layout)):
                sentences = row_sentences(table, [sheet.title], of_data=True)
                blocks += (Block(text, section, kind="row") for text in sentences)
            where = f"sheet {sheet.title}"
            if layout.lacking:
                rows = numbers_of(sorted(layout.lacking))
                count = layout.lacking.total()
                message = f"{count} formulas without values are not read, in rows {rows}."
                unread.append(Unread(where, message, _SAVE_AGAIN))
            unread += hidden_text(where, len(hidden))
        charts, without = charts_in(book._archive)
        title, saved = first_title(book.properties.title), saved_on(book.properties)
    blocks += (Block(text, kind="row") for text in charts)
    return FileText(title, blocks, None, [*unread, *without], saved=saved)


def _cell(cell: Any, hidden: list[str]) -> Cell:
    """Return a cell; bold texts and years may be headings, white ones go to ``hidden``."""
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
