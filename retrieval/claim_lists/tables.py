"""Reads tables, whose first row names the columns: .csv, .tsv and .xlsx.

Above that row may be a few lines that name the table. They are left out where the row is certain:
it has a column for claims, and more cells than each line above it.
"""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, time
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from retrieval.corpora.table_files import SEPARATORS, separated_rows, separator_of
from retrieval.errors import BadSource, Problem

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet as Worksheet

_LARGEST = 512 << 20  # bytes of an .xlsx after unpacking; a million short rows have 150 MB
_LOOKED_AT = 50  # lines of a text that may be a table
_LONGEST_NAME = 4  # words of the name of a column of such a text
_TITLES = 10  # rows above the names of the columns, blank ones too
_MOST_CELLS = 20_000_000  # of an .xlsx


@dataclass(frozen=True, slots=True)
class Record:
    """A row: its place, for messages, and its values by column, or why it cannot be read."""

    where: str
    values: dict[str, Any] | Problem


def csv_records(
    name: str, text: str, has_claims: Callable[[str], bool], separator: str | None = None
) -> Iterator[Record]:
    """Yield the rows of a table in text (``separated_rows``), without blank ones.

    ``has_claims``: whether a column of this name may have the claims.

    Raises:
        BadSource: the row with the names cannot be read.
    """
    separator = separator or table_separator(text, has_claims)
    return _records(name, "Line", separated_rows(text, separator), has_claims)


def table_separator(text: str, has_claims: Callable[[str], bool]) -> str:
    """Return what parts the cells of a table, as the row with the names of the columns says."""
    lines = list(islice(io.StringIO(text, newline=None), _TITLES))

    def titles(separator: str) -> int:
        return _titles([_cells(line, separator) for line in lines], has_claims)

    best = max(SEPARATORS, key=titles)
    return best if titles(best) else separator_of(text)


def separator_of_text(text: str, has_claims: Callable[[str], bool]) -> str | None:
    """Return what parts the cells of a text that is a table; ``None`` if its lines are claims.

    Its first line with words then names the columns: it has a name for claims, and no cell of it is
    long or ends like a sentence. Another line has as many cells, and more than a word for a claim.
    """
    lines = [line for line in islice(io.StringIO(text, newline=None), _LOOKED_AT) if line.strip()]
    for separator in SEPARATORS:
        rows = [_cells(line, separator) for line in lines]
        names = rows[0] if rows else []
        named = len(names) > 1 and not any(
            len(name.split()) > _LONGEST_NAME or name.rstrip().endswith((".", "!", "?"))
            for name in names
        )
        claims = [at for at, name in enumerate(names) if has_claims(name)]
        filled = (row for row in rows[1:] if len(row) == len(names))
        if named and any(len(row[at].split()) > 1 for row in filled for at in claims):
            return separator
    return None


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # is reported when the row is read
        return []


def xlsx_records(
    name: str, content: bytes, has_claims: Callable[[str], bool], most: int
) -> Iterator[Record]:
    """Yield the rows of the sheets that have claims, without blank ones, reading them one by one.

    Those are the visible sheets with the same column for claims, or else the first sheet.

    ``name``: of the file, for messages. ``has_claims``: whether a column of this name may have the
    claims. ``most``: bytes that it may have after unpacking, if that is less than is ever read.

    Raises:
        BadSource: it is not an .xlsx, is damaged, or is too large.
    """
    from retrieval.corpora.table_files import opened_workbook

    try:
        # Reads no more of a file than it declares.
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > (most := min(most, _LARGEST)):
            raise BadSource(
                "bad_claims",
                f"{name} unpacks to {size / 1e6:,.0f} MB; at most {most / 1e6:,.0f} MB are read.",
                "Divide it.",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and rules that are not read
            with closing(opened_workbook(io.BytesIO(content))) as book:
                sheets = list(_with_claims(book, has_claims)) or book.worksheets[:1]
                for sheet in sheets:
                    place = f"{sheet.title}, row" if len(sheets) > 1 else "Row"
                    rows = enumerate(_at_most(name, _rows(sheet)), 1)
                    yield from _records(name, place, rows, has_claims)
    except (BadSource, MemoryError):
        raise
    except (
        Exception
    ) as error:  # of zipfile, an XML parser and openpyxl, which does not list its own
        raise BadSource(
            "bad_claims",
            f"{name} is damaged, has a password, or is not an .xlsx ({error}).",
            "Save it again as .xlsx, without a password, or as .csv.",
        ) from error


def _with_claims(book: Workbook, has_claims: Callable[[str], bool]) -> Iterator[Worksheet]:
    """Yield the visible sheets that have the column for claims of the first of them."""
    wanted: set[str] = set()
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible":
            cells = {str(cell) for row in islice(_rows(sheet), _TITLES) for cell in row if cell}
            own = set(filter(has_claims, cells))
            if own & (wanted or own):
                wanted = wanted or own
                yield sheet


def _rows(sheet: Worksheet) -> Iterator[tuple[Any, ...]]:
    from retrieval.corpora.table_files import plain_text

    sheet.reset_dimensions()  # some programs write wrong ones
    return (tuple(map(plain_text, row)) for row in sheet.iter_rows(values_only=True))


def _at_most(name: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Yield the rows; a small file may name cells far to the right in each of a million rows."""
    cells = 0
    for row in rows:
        cells += len(row)
        if cells > _MOST_CELLS:
            raise BadSource(
                "bad_claims",
                f"{name} has more than {_MOST_CELLS:,} cells; at most so many are read.",
                "Divide it, or remove rows and columns that are empty.",
            )
        yield [_plain(cell) for cell in row]


def _records(
    file: str,
    place: str,
    rows: Iterable[tuple[int, list[Any] | Problem]],
    has_claims: Callable[[str], bool],
) -> Iterator[Record]:
    """Yield the rows below the one that names the columns: the first one, or one below titles."""
    names: list[str] = []
    named: list[bool] = []
    rest = iter(rows)
    first = list(islice(rest, _TITLES))
    titles = _titles([[] if isinstance(row, Problem) else row for _, row in first], has_claims)
    for number, cells in chain(first[titles:], rest):
        if isinstance(cells, Problem):
            if not names:
                message = f"{file}, {place.casefold()} {number}: {cells.message}"
                raise BadSource("bad_claims", message, cells.hint)
            yield Record(f"{place} {number}", cells)
            continue
        if not any(map(_filled, cells)):
            continue
        if not names:
            named = list(map(_filled, cells))
            names = _names(cells)
        elif any(map(_filled, cells[len(names) :])):
            problem = Problem(
                "bad_row",
                "The row has more cells than the first one.",
                "Put a cell that contains the separator in quotation marks.",
            )
            yield Record(f"{place} {number}", problem)
        else:
            columns = zip(names, named, [*cells, *[""] * len(names)], strict=False)
            values = {name: cell for name, is_named, cell in columns if is_named or _filled(cell)}
            yield Record(f"{place} {number}", values)


def _titles(rows: Sequence[Sequence[Any]], has_claims: Callable[[str], bool]) -> int:
    """Return how many of the first rows are above the one that names the columns."""
    for at, row in enumerate(rows):
        if any(has_claims(str(cell)) for cell in row):
            cells = sum(map(_filled, row))
            return at if all(sum(map(_filled, above)) < cells for above in rows[:at]) else 0
    return 0


def _filled(cell: object) -> bool:
    return cell is not None and bool(str(cell).strip())


def _names(cells: list[Any]) -> list[str]:
    """Return a different name for each column."""
    names = ["" if cell is None else str(cell).strip() for cell in cells]
    times = Counter(names)
    return [
        name if name and times[name] == 1 else f"{name} (column {number})".strip()
        for number, name in enumerate(names, 1)
    ]


def _plain(value: Any) -> Any:
    """Return the value of a cell as JSON has it; dates and times in ISO 8601."""
    if isinstance(value, datetime) and value.time() == time.min:
        return value.date().isoformat()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
