"""Reads .csv and .tsv: a sentence for each row, with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Unread
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.folder.tables import Cell, naming_rows, row_sentences
from retrieval.corpora.passages import Block
from retrieval.corpora.table_files import separated_rows
from retrieval.errors import Problem

_MOST_NAMED = 20  # rows that cannot be read
_MOST_CELLS = 400_000  # of a table that is read at once


def read(path: Path) -> FileText:
    """Return the document; the first row names the columns if it looks like names.

    Raises:
        Unreadable: it is not a text.
        OSError: the file cannot be read.
    """
    rows: list[list[Cell]] = []
    bad: list[tuple[int, Problem]] = []
    tabs = "\t" if path.suffix.lower() == ".tsv" else None
    for number, row in separated_rows(text_of(path), tabs):
        if isinstance(row, Problem):
            bad.append((number, row))
        else:
            rows.append([Cell(clean(cell)) for cell in row])
    blocks = [Block(text) for table in in_tables(rows) for text in row_sentences(table)]
    return FileText("", blocks, unread=list(_unread(bad)))


def _unread(bad: list[tuple[int, Problem]]) -> Iterator[Unread]:
    """Yield what is said of the rows that cannot be read; many are counted."""
    for number, row in bad[:_MOST_NAMED]:
        yield Unread(f"line {number}", row.message, row.hint)
    if len(bad) > _MOST_NAMED:
        more, last = len(bad) - _MOST_NAMED, bad[-1][0]
        message = f"{more:,} more rows cannot be read; the last begins in line {last}."
        yield Unread(f"after line {bad[_MOST_NAMED - 1][0]}", message, bad[-1][1].hint)


def in_tables(rows: Iterable[list[Cell]]) -> Iterator[list[list[Cell]]]:
    """Yield the rows in tables of a limited size; empty rows are left out.

    Each begins with the rows that name the columns. What stands alone in a first cell before these
    is a table of its own. Cells at the end of a row that are empty in all rows of such a table are
    left out.
    """
    head: list[list[Cell]] | None = None
    table: list[list[Cell]] = []
    cells = 0
    for row in rows:
        if not any(cell.text for cell in row):
            continue
        if len(table) == 1 and _is_single(table[0]) and not head:
            yield _narrowed(table)
            table = []
        if cells > _MOST_CELLS:
            table = _narrowed(table)
            yield table
            head = naming_rows(table) if head is None else head
            table, cells = [*head], sum(map(len, head))
        table.append(row)
        cells += len(row)
    if table:
        yield _narrowed(table)


def _is_single(row: list[Cell]) -> bool:
    return bool(row[0].text) and not any(cell.text for cell in row[1:])


def _narrowed(table: list[list[Cell]]) -> list[list[Cell]]:
    """Return the rows with as many cells each as the widest has."""
    width = max(max(at for at, cell in enumerate(row, 1) if cell.text) for row in table)
    return [[*row[:width], *(Cell("") for _ in range(width - len(row)))] for row in table]
