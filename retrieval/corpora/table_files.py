"""Reads the rows of tables in text, and the cells of workbooks (.xlsx).

In text, cells are parted by commas, semicolons, tabs or bars.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from retrieval.corpora.superscripts import lowered, marked, unmarked
from retrieval.errors import Problem

# The web process reads tables in text; openpyxl is loaded where a workbook is opened.
if TYPE_CHECKING:
    import openpyxl
    from openpyxl.cell.rich_text import TextBlock

SEPARATORS = "\t;|,"  # if several fit, the first: names and values have commas in them
NO_SEPARATOR = "\x1f"
_LOOKED_AT = 50  # rows that show what the separator is
# With such a line a file tells Excel its separator.
_NAMED = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_HEIGHTS = {"superscript": marked, "subscript": lowered}


def separated_rows(
    text: str, separator: str | None = None
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the cells of each row, or why it cannot be read, with the number of its first line.

    Without a ``separator``, a line ``sep=;`` before the table names it; otherwise it is the one of
    the first row that gives most rows as many cells as that. If the first row has none, the whole
    line is the cell, unless it is quoted.

    A line with quotation marks within its quoted cells, written once or after a backslash, is read
    if it has then as many cells as the row before. After a row that cannot be read, reading goes on
    in the next line: a quotation mark that is missing costs one row, not the rest of the file.
    """
    lines = list(io.StringIO(text.replace("\r\n", "\n"), newline=""))
    if lines and _NAMED.fullmatch(lines[0]):
        lines[0] = "\n"
    separator = separator or separator_of(text)
    begin = width = 0
    while begin < len(lines):
        rest = (lines[at] for at in range(begin, len(lines)))
        reader = csv.reader(rest, delimiter=separator, strict=True)
        first = begin
        try:
            for cells in reader:
                width = len(cells) or width
                yield first + 1, cells
                first = begin + reader.line_num
            return
        except csv.Error as error:
            begin = first + 1
            cells = _loosely_quoted(lines[first].rstrip("\r\n"), separator)
            if cells and len(cells) == width:
                yield begin, cells
                continue
            hint = "Write a quotation mark within a cell twice, and one at each end of the cell."
            yield begin, Problem("bad_row", f"The row cannot be read: {error}.", hint)


def _loosely_quoted(line: str, separator: str) -> list[str]:
    """Return the cells of a line, none if a quotation mark never ends before a separator."""
    mark = re.escape(separator)
    end = rf"(?={mark}|\Z)"
    cell = re.compile(rf'"((?:\\.|"(?!{end})|[^"\\])*)"{end}|(?:[^"{mark}][^{mark}]*)?{end}')
    cells = []
    at = 0
    while found := cell.match(line, at):
        quoted = found[1]
        cells.append(found[0] if quoted is None else quoted.replace('\\"', '"').replace('""', '"'))
        if found.end() == len(line):
            return cells
        at = found.end() + len(separator)
    return []


def separator_of(text: str) -> str:
    """Return what parts the cells of a table, as its first lines say; ``NO_SEPARATOR`` if none."""
    lines = io.StringIO(text.replace("\r\n", "\n"), newline="")
    if named := _NAMED.fullmatch(lines.readline()):
        return named[1]

    def fits(separator: str) -> tuple[int, int]:
        """Return how many rows have as many cells as the first, and how many that are."""
        widths: list[int] = []
        lines.seek(0)
        with suppress(csv.Error):  # is reported when the row is read
            rows = filter(any, csv.reader(lines, delimiter=separator))
            widths += map(len, islice(rows, _LOOKED_AT))
        width = widths[0] if widths else 0
        return (widths.count(width), width) if width > 1 else (0, 0)

    best = max(SEPARATORS, key=fits)
    return best if fits(best)[1] else NO_SEPARATOR


def opened_workbook(file: Path | IO[bytes]) -> openpyxl.Workbook:
    """Return a workbook that is read row by row, with the values that formulas had last."""
    import openpyxl
    from openpyxl.worksheet import _read_only
    from openpyxl.worksheet._reader import WorkSheetParser

    # openpyxl does not pass its own option on for texts that are written into the cells.
    _read_only.WorkSheetParser = partial(WorkSheetParser, rich_text=True)
    return openpyxl.load_workbook(file, read_only=True, data_only=True, rich_text=True)


def plain_text(value: Any) -> Any:
    """Return the text of a cell in plain characters (``unmarked``); any other value as it is."""
    is_rich = isinstance(value, list)  # of openpyxl's own kind; no other value has pieces
    return unmarked("".join(map(_piece, value))) if is_rich else value


def _piece(piece: str | TextBlock) -> str:
    if isinstance(piece, str):
        return piece
    if piece.font.strike:
        return ""
    align = piece.font.vertAlign
    return _HEIGHTS[align](piece.text) if align in _HEIGHTS else piece.text
