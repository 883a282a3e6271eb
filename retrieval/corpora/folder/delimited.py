"""Reads .csv and .tsv: a sentence for each row, with the names of its columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Document, Unreadable
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import Block

_DELIMITERS = ",;\t|"
_LOOKED_AT = 64_000  # characters whose delimiter counts
_MOST_CELLS = 400_000  # of a table that is read at once


def read(path: Path) -> Document:
    """Return the document; the first row names the columns if it looks like names.

    Raises:
        Unreadable: it is not a table of text.
        OSError: the file cannot be read.
    """
    text = text_of(path)
    try:
        dialect: type[csv.Dialect] | str = csv.Sniffer().sniff(text[:_LOOKED_AT], _DELIMITERS)
    except csv.Error:  # one column
        dialect = "excel-tab" if path.suffix.lower() == ".tsv" else "excel"
    try:
        rows = list(csv.reader(StringIO(text, newline=""), dialect))
    except csv.Error as error:
        raise Unreadable(f"the file is not a table ({error}).", "Save it again as CSV.") from error
    tables = in_tables([clean(cell) for cell in row] for row in rows)
    return Document("", [Block(text) for table in tables for text in row_sentences(table)])


def in_tables(rows: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Yield the rows in tables of a limited size, each with the first row; empty rows are left out.

    Cells at the end of a row that are empty in all rows of such a table are left out.
    """
    filled = (row for row in rows if any(row))
    head = next(filled, None)
    if head is None:
        return
    table, cells = [head], len(head)
    for row in filled:
        if cells > _MOST_CELLS:
            yield _narrowed(table)
            table, cells = [head], len(head)
        table.append(row)
        cells += len(row)
    yield _narrowed(table)


def _narrowed(table: list[list[str]]) -> list[list[str]]:
    """Return the rows with as many cells each as the widest has."""
    width = max(max((at for at, cell in enumerate(row, 1) if cell), default=0) for row in table)
    return [list(chain(row[:width], [""] * (width - len(row)))) for row in table]
