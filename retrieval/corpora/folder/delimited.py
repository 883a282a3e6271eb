"""Reads .csv and .tsv: a sentence for each row, with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Document, Unread
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import Block
from retrieval.corpora.separated import separated_rows
from retrieval.errors import Problem

_MOST_NAMED = 20  # rows that cannot be read
_MOST_CELLS = 400_000  # of a table that is read at once


def read(path: Path) -> Document:
    """Return the document; the first row names the columns if it looks like names.

    Raises:
        Unreadable: it is not a text.
        OSError: the file cannot be read.
    """
    rows: list[list[str]] = []
    bad: list[tuple[int, Problem]] = []
    tabs = "\t" if path.suffix.lower() == ".tsv" else None
    for number, row in separated_rows(text_of(path), tabs):
        if isinstance(row, Problem):
            bad.append((number, row))
        else:
            rows.append([clean(cell) for cell in row])
    blocks = [Block(text) for table in in_tables(rows) for text in row_sentences(table)]
    return Document("", blocks, unread=list(_unread(bad)))


def _unread(bad: list[tuple[int, Problem]]) -> Iterator[Unread]:
    """Yield what is said of the rows that cannot be read; many are counted."""
    for number, row in bad[:_MOST_NAMED]:
        yield Unread(f"line {number}", row.message, row.hint)
    if len(bad) > _MOST_NAMED:
        more, last = len(bad) - _MOST_NAMED, bad[-1][0]
        message = f"{more:,} more rows cannot be read; the last begins in line {last}."
        yield Unread(f"after line {bad[_MOST_NAMED - 1][0]}", message, bad[-1][1].hint)


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
