"""Reads .xlsx: a sentence for each row, below the name of its sheet, with numbers as shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.delimited import in_tables
from retrieval.corpora.folder.document import Document
from retrieval.corpora.folder.number_format import shown_number
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.folder.zipped import unpacked
from retrieval.corpora.passages import Block
from retrieval.corpora.workbook import opened_workbook, plain_text


def read(path: Path) -> Document:
    """Return the document. Of formulas it has the values that were computed last.

    Raises:
        Unreadable: it is not an .xlsx, is encrypted or damaged, or is too large.
        OSError: the file cannot be read.
    """
    with unpacked(path):
        book = opened_workbook(path)
    try:
        shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        blocks = [
            Block(text, (sheet.title,) if len(shown) > 1 else ())
            for sheet in shown
            for rows in in_tables(_rows(sheet))
            for text in row_sentences(rows)
        ]
        return Document(clean(book.properties.title or ""), blocks)
    finally:
        book.close()


def _rows(sheet: Any) -> Iterator[list[str]]:
    sheet.reset_dimensions()  # which some programs declare wrongly
    for row in sheet.iter_rows():
        yield [_shown(cell) for cell in row]


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
