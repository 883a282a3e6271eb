"""Reads the rows of tables in text, whose cells are parted by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from retrieval.errors import Problem

_SEPARATORS = "\t;|,"  # if several fit, the first: names and values have commas in them
_LOOKED_AT = 50  # rows that show what the separator is
_NO_SEPARATOR = "\x1f"
# With such a line a file tells Excel its separator.
_NAMED = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


def separated_rows(
    text: str, separator: str | None = None
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the cells of each row, or why it cannot be read, with the number of its first line.

    Without a ``separator``, a line ``sep=;`` before the table names it; otherwise it is the one of
    the first row that gives most rows as many cells as that. If the first row has none, the whole
    line is the cell, unless it is quoted.

    After a row that cannot be read, reading goes on in the next line: a quotation mark that is
    missing costs one row, not the rest of the file.
    """
    lines = list(io.StringIO(text.replace("\r\n", "\n"), newline=""))
    if separator is None and lines and (named := _NAMED.fullmatch(lines[0])):
        separator, lines[0] = named[1], "\n"
    separator = separator or _separator(lines)
    begin = 0
    while begin < len(lines):
        rest = (lines[at] for at in range(begin, len(lines)))
        reader = csv.reader(rest, delimiter=separator, strict=True)
        first = begin
        try:
            for cells in reader:
                yield first + 1, cells
                first = begin + reader.line_num
            return
        except csv.Error as error:
            hint = "Write a quotation mark within a cell twice, and one at each end of the cell."
            yield first + 1, Problem("bad_row", f"The row cannot be read: {error}.", hint)
            begin = first + 1


def _separator(lines: list[str]) -> str:
    def fits(separator: str) -> tuple[int, int]:
        """Return how many rows have as many cells as the first, and how many that are."""
        widths: list[int] = []
        with suppress(csv.Error):  # is reported when the row is read
            rows = filter(any, csv.reader(lines, delimiter=separator))
            widths += map(len, islice(rows, _LOOKED_AT))
        width = widths[0] if widths else 0
        return (widths.count(width), width) if width > 1 else (0, 0)

    best = max(_SEPARATORS, key=fits)
    return best if fits(best)[1] else _NO_SEPARATOR
