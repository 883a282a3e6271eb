"""Reads .csv and .tsv: a sentence for each row, with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Unread
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.folder.tables import Cell, row_sentences, tables_in
from retrieval.corpora.passages import Block
from retrieval.corpora.table_files import SEPARATORS, separated_rows, separator_of
from retrieval.errors import Problem

_MOST_NAMED = 20  # rows that cannot be read


def read(path: Path) -> FileText:
    """Return the document; the first row names the columns if it looks like names.

    Raises:
        Unreadable: it is not a text.
        OSError: the file cannot be read.
    """
    rows: list[list[Cell]] = []
    bad: list[tuple[int, Problem]] = []
    text = text_of(path)
    separator = "\t" if path.suffix.lower() == ".tsv" else _separator_below_titles(text)
    for number, row in separated_rows(text, separator):
        if isinstance(row, Problem):
            bad.append((number, row))
        else:
            rows.append([Cell(clean(cell)) for cell in row])
    blocks = [Block(text, kind="row") for table in tables_in(rows) for text in row_sentences(table)]
    return FileText("", blocks, unread=list(_unread(bad)))


def _separator_below_titles(text: str) -> str | None:
    """Return what parts the cells below the lines of a title, ``None`` if the table is first."""
    lines = text.split("\n")
    begin = next((at for at, line in enumerate(lines) if set(line) & set(SEPARATORS)), 0)
    return separator_of("\n".join(lines[begin:])) if begin else None


def _unread(bad: list[tuple[int, Problem]]) -> Iterator[Unread]:
    """Yield what is said of the rows that cannot be read; many are counted."""
    for number, row in bad[:_MOST_NAMED]:
        yield Unread(f"line {number}", row.message, row.hint)
    if len(bad) > _MOST_NAMED:
        more, last = len(bad) - _MOST_NAMED, bad[-1][0]
        message = f"{more:,} more rows cannot be read; the last begins in line {last}."
        yield Unread(f"after line {bad[_MOST_NAMED - 1][0]}", message, bad[-1][1].hint)
