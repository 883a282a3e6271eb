"""Reads the rows of tables in text, whose cells are parted by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from retrieval.errors import Problem

_SEPARATORS = ",;\t|"
_NO_SEPARATOR = "\x1f"
# With such a line a file tells Excel its separator.
_NAMED = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


def separated_rows(
    text: str, separator: str | None = None
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the cells of each row, or why it cannot be read, with the number of its first line.

    Without a ``separator``, a line ``sep=;`` before the table names it; otherwise it is the one
    that the first row has most of. If it has none, the whole line is the cell, unless it is quoted.

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
    def columns(separator: str) -> int:
        try:
            return len(next(filter(any, csv.reader(lines, delimiter=separator)), []))
        except csv.Error:  # is reported when the row is read
            return 0

    best = max(_SEPARATORS, key=columns)
    return best if columns(best) > 1 else _NO_SEPARATOR
