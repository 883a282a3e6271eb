"""Reads .xlsx: a sentence for each row, below the name of its sheet, with numbers as shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from openpyxl.cell.rich_text import CellRichText

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.delimited import in_tables
from retrieval.corpora.folder.document import FileText, unread_charts
from retrieval.corpora.folder.number_format import shown_number
from retrieval.corpora.folder.sheet_layout import sheet_layout, shown_rows
from retrieval.corpora.folder.tables import Cell, is_period, row_sentences
from retrieval.corpora.folder.zipped import office_file
from retrieval.corpora.passages import Block
from retrieval.corpora.records.workbook import opened_workbook, plain_text

_CHART = "xl/charts/chart"  # begins the names of their files


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
