"""Reads tables, whose first row names the columns: .csv, .tsv and .xlsx."""

from __future__ import annotations

import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any

from retrieval.corpora.separated import separated_rows
from retrieval.errors import BadSource, Problem

_LARGEST = 512 << 20  # bytes of an .xlsx after unpacking; a million short rows have 150 MB
_MOST_CELLS = 20_000_000  # of an .xlsx


@dataclass(frozen=True, slots=True)
class Record:
    """A row: its place, for messages, and its values by column, or why it cannot be read."""

    where: str
    values: dict[str, Any] | Problem


def csv_records(path: Path, text: str, separator: str | None = None) -> Iterator[Record]:
    """Yield the rows of a table in text (``separated_rows``), without blank ones.

    Raises:
        BadSource: the row with the names cannot be read.
    """
    return _records(path, "Line", separated_rows(text, separator))


def xlsx_records(path: Path) -> Iterator[Record]:
    """Yield the rows of the first sheet, without blank ones, reading them one by one.

    Raises:
        BadSource: it is not an .xlsx, is damaged, or is too large.
    """
    from retrieval.corpora.workbook import opened_workbook, plain_text

    try:
        with zipfile.ZipFile(path) as archive:  # reads no more of a file than it declares
            size = sum(member.file_size for member in archive.infolist())
        if size > _LARGEST:
            raise BadSource(
                "bad_claims",
                f"{path} unpacks to {size / 1e6:,.0f} MB; at most {_LARGEST / 1e6:,.0f} MB are"
                " read.",
                "Divide it.",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and rules that are not read
            with closing(opened_workbook(path)) as book:
                sheet = book.worksheets[0]
                sheet.reset_dimensions()  # some programs write wrong ones
                shown = (tuple(map(plain_text, row)) for row in sheet.iter_rows(values_only=True))
                rows = _at_most(path, shown)
                yield from _records(path, "Row", enumerate(rows, 1))
    except (BadSource, MemoryError):
        raise
    except (
        Exception
    ) as error:  # of zipfile, an XML parser and openpyxl, which does not list its own
        raise BadSource(
            "bad_claims",
            f"{path} is damaged, has a password, or is not an .xlsx ({error}).",
            "Save it again as .xlsx, without a password, or as .csv.",
        ) from error


def _at_most(path: Path, rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Yield the rows; a small file may name cells far to the right in each of a million rows."""
    cells = 0
    for row in rows:
        cells += len(row)
        if cells > _MOST_CELLS:
            raise BadSource(
                "bad_claims",
                f"{path} has more than {_MOST_CELLS:,} cells; at most so many are read.",
                "Divide it, or remove rows and columns that are empty.",
            )
        yield [_plain(cell) for cell in row]


def _records(
    path: Path, place: str, rows: Iterable[tuple[int, list[Any] | Problem]]
) -> Iterator[Record]:
    """Yield the rows below the first one, which names the columns."""
    names: list[str] = []
    named: list[bool] = []
    for number, cells in rows:
        if isinstance(cells, Problem):
            if not names:
                message = f"{path}, {place.casefold()} {number}: {cells.message}"
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
