"""Reads lists of claims: tables, JSON, JSON lines, and text with one claim a line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from retrieval.claim_lists.feeds import claims_in, tree_of
from retrieval.claim_lists.tables import (
    Record,
    csv_records,
    separator_of_text,
    table_separator,
    xlsx_records,
)
from retrieval.claim_lists.verdicts import MOST_OTHERS
from retrieval.corpora.decoding import decoded
from retrieval.corpora.table_files import NO_SEPARATOR
from retrieval.errors import BadSource, Problem

_NOT_READ = frozenset((".xls", ".xlsb", ".ods", ".numbers", ".parquet"))
_NO_TEXTS = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how other files begin
_LARGEST = 256 << 20  # bytes of a list; its rows are kept in memory
MOST = 200_000  # claims; they take days
# Of a list that may have so many claims, for each: cells, and bytes of an .xlsx after unpacking.
_CELLS_EACH = 200
_UNPACKED_EACH = 10_000
# Names of the column with the claims; one of the second set is used if there is no ``claim``.
_USUAL = (frozenset({"claim"}), frozenset({"statement", "text"}))
# What alone in the first line of a text is above its claims, and none of them.
_HEADINGS = frozenset({"claim", "claims", "statement", "statements", "text"})
_DEEPEST = 50  # levels of lists and objects in a row
_DECIMAL = re.compile(r"[-+]?\d+([.,])\d+")
_SHOWN = 500  # characters of the names of columns in a message


class UnclearColumn(BadSource):
    """None or several columns may have the claims; the message names all columns."""


class TooManyClaims(BadSource):
    """A list has more claims than are read."""


@dataclass(frozen=True, slots=True)
class ListFile:
    """A file with claims. ``name``: as messages call it; its ending says how it is read."""

    name: str
    content: bytes

    @property
    def kind(self) -> str:
        """Its ending in small letters, such as ".csv"; "" if it has none."""
        return PurePath(self.name).suffix.casefold()


@dataclass(frozen=True, slots=True)
class Row:
    """A claim of a list.

    ``where``: its line or row, for messages. ``claim``: as it was written, "" if there is none.
    ``others``: the values of the other columns, as JSON has them. ``problem``: why the row cannot
    be read, ``None`` if it can. ``column``: the name of the column with the claim, "" if there are
    no columns; ``before``: how many of the others come before it.
    """

    where: str
    claim: str
    others: dict[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    column: str = ""
    before: int = 0


def list_file(path: Path) -> ListFile:
    """Return the file with its content.

    Raises:
        BadSource: it is too large.
    """
    if (size := path.stat().st_size) > _LARGEST:
        message = f"{path} has {size / 1e6:,.0f} MB; at most {_LARGEST / 1e6:,.0f} MB are read."
        raise BadSource("bad_claims", message, "Divide it.")
    return ListFile(str(path), path.read_bytes())


def read_claims(file: ListFile, column: str | None = None, most: int = MOST) -> list[Row]:
    """Return the claims of a table (.csv, .tsv, .xlsx), of .jsonl, .json or a feed, or one a line.

    A text whose first line names columns is a table too; a first line "Claim" alone is left out.

    ``column``: the column or key that has the claims; if it is ``None``, it must have one of the
    usual names. The case of names and the spaces around them are ignored. ``.ndjson`` is read as
    ``.jsonl``. Blank lines and rows are left out. Only a line feed ends a line of text or of JSON
    lines: a claim may contain other characters that Unicode calls line ends.

    Raises:
        BadSource: the file cannot be read.
        TooManyClaims: it has more than ``most`` claims.
        UnclearColumn: it is unclear which column has the claims.
    """
    if file.kind in _NOT_READ:
        raise BadSource(
            "bad_claims",
            f"{file.name}: {file.kind} files are not read.",
            "Save the claims as .xlsx, .csv, .tsv, .jsonl, .json or .txt (one a line).",
        )
    if file.kind in _TABLES:
        records = _TABLES[file.kind](file, _may_have_claims(column), most)
        return _rows(file, _at_most(file, records, most), column)
    if file.kind in _JSON:
        return _rows(file, _at_most(file, _JSON[file.kind](file), most), column)
    if (separator := separator_of_text(_text(file), _may_have_claims(column))) is not None:
        records = csv_records(file.name, _text(file), _may_have_claims(column), separator)
        return _rows(file, _at_most(file, records, most), column)
    if column is not None:
        raise BadSource(
            "bad_claims",
            f"{file.name} has no columns: a {file.kind or 'text'} file has one claim a line.",
            "Name no column, or save the list as .csv.",
        )
    lines = (Row(f"Line {number}", line) for number, line in _without_heading(_lines(file)))
    return _at_most(file, lines, most)


def _without_heading(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    first = next(lines, None)
    if first is not None and not is_heading(first[1]):
        yield first
    yield from lines


def is_heading(line: str) -> bool:
    """Return whether a line only says that claims follow: "Claim", "Statements:"."""
    return _folded(line).rstrip(" :") in _HEADINGS


def is_table(text: str) -> bool:
    """Return whether the first line of a text names columns, one of them for claims."""
    return separator_of_text(text, _may_have_claims(None)) is not None


def separator_of(file: ListFile, column: str | None = None) -> str:
    """Return what parts the cells of a .csv with claims; "," for any other list."""
    if file.kind != ".csv":
        return ","
    found = table_separator(_text(file), _may_have_claims(column))
    return "," if found == NO_SEPARATOR else found


def decimal_mark_of(separator: str, rows: Iterable[Row]) -> str:
    """Return the decimal mark of numbers in a .csv whose cells are parted so.

    Spreadsheets that part them by semicolons write a decimal comma, unless this list does not.
    """
    if separator != ";":
        return "."
    marks = {
        found[1]
        for row in rows
        for value in row.others.values()
        if isinstance(value, str) and (found := _DECIMAL.fullmatch(value.strip()))
    }
    return "." if marks == {"."} else ","


def _may_have_claims(column: str | None) -> Callable[[str], bool]:
    names = {_folded(column)} if column else {name for usual in _USUAL for name in usual}
    return lambda name: _folded(name) in names


def _rows(file: ListFile, records: list[Record], asked: str | None) -> list[Row]:
    values = [one.values for one in records if not isinstance(one.values, Problem)]
    if not values:
        # All of them, if there are any, are problems.
        return [_row(one, "") for one in records]
    names = list(dict.fromkeys(name for one in values for name in one))
    column = _claim_column(file, names, asked)
    if len(names) > MOST_OTHERS + 1:
        raise BadSource(
            "bad_claims",
            f"{file.name} has {len(names):,} columns; at most {MOST_OTHERS + 1:,} are read.",
            "Leave out columns: with those of the verdicts a spreadsheet has no more.",
        )
    return [_row(record, column) for record in records]


def _row(record: Record, column: str) -> Row:
    if isinstance(record.values, Problem):
        return Row(record.where, "", {}, record.values)
    others = {name: value for name, value in record.values.items() if name != column}
    before = [*record.values].index(column) if column in record.values else 0
    claim = record.values.get(column)
    if claim is None or isinstance(claim, str):
        return Row(record.where, claim or "", others, None, column, before)
    problem = Problem("claim_not_text", f"The value of {column!r} is not text.", "Correct it.")
    return Row(record.where, "", others, problem, column, before)


def _claim_column(file: ListFile, names: list[str], asked: str | None) -> str:
    """Return the column that has the claims.

    Raises:
        UnclearColumn: none or several may be meant.
    """
    if asked in names:
        return str(asked)
    for meant in _USUAL if asked is None else (frozenset({_folded(asked)}),):
        found = [name for name in names if _folded(name) in meant]
        if len(found) == 1:
            return found[0]
        if found:
            break
    columns = ", ".join(map(repr, names))
    if len(columns) > _SHOWN:
        columns = f"{columns[:_SHOWN]} …"
    wrong = (
        "it is unclear which column has the claims" if asked is None else f"no one column {asked!r}"
    )
    raise UnclearColumn(
        "bad_claims",
        f"{file.name}: {wrong}. The columns are: {columns}.",
        "Name the one with the claims. The first row of a table names its columns.",
    )


def _folded(name: str) -> str:
    return name.strip().casefold()


def _at_most(file: ListFile, items: Iterable[Any], most: int) -> list[Any]:
    found, cells = [], 0
    for item in items:
        found.append(item)
        if len(found) > most:
            message = f"{file.name} has more than {most:,} claims; at most so many are read."
            raise TooManyClaims("bad_claims", message, "Divide it.")
        if isinstance(item, Record) and not isinstance(item.values, Problem):
            cells += len(item.values)
        if cells > _CELLS_EACH * most:
            message = f"{file.name} has more than {_CELLS_EACH * most:,} cells; no more are read."
            raise BadSource("bad_claims", message, "Divide it, or leave out columns.")
    return found


def _text(file: ListFile) -> str:
    """Return the text of a file.

    Raises:
        BadSource: it is a file of another program, under the name of a text.
    """
    if file.content.startswith(_NO_TEXTS):
        raise BadSource(
            "bad_claims",
            f"{file.name} is not a text, but a PDF, a zip or an Office file.",
            "Save the claims as .xlsx, .csv, .tsv, .jsonl, .json or .txt (one a line).",
        )
    return decoded(file.content)


def _lines(file: ListFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, numbered from 1."""
    text = _text(file).replace("\r\n", "\n")
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _json_lines(file: ListFile) -> Iterator[Record]:
    for number, line in _lines(file):
        try:
            value = _json(line)
        except (ValueError, RecursionError):
            value = None
        yield _json_record(f"Line {number}", value)


def _json_list(file: ListFile) -> Iterator[Record]:
    try:
        values = _json(_text(file))
    except (ValueError, RecursionError) as error:
        raise BadSource(
            "bad_claims",
            f"{file.name} is not JSON ({error}).",
            "Correct it, or name it .jsonl if it has one object a line.",
        ) from error
    plain = isinstance(values, list) and not any(
        isinstance(one, dict) and "claimReviewed" in one for one in values
    )
    if not plain and not (values := claims_in(values)):
        raise BadSource(
            "bad_claims",
            f"{file.name} is not a list, nor a feed with claims.",
            "Write the claims as a JSON list.",
        )
    for number, value in enumerate(values, 1):
        yield _json_record(f"Item {number}", {"claim": value} if isinstance(value, str) else value)


def _xml_feed(file: ListFile) -> Iterator[Record]:
    try:
        found = claims_in(tree_of(file.content))
    except (ValueError, RecursionError) as error:
        raise BadSource(
            "bad_claims", f"{file.name} is not XML ({error}).", "Fetch the feed again."
        ) from error
    if not found:
        raise BadSource(
            "bad_claims",
            f"{file.name} has no claims: no item has claimReviewed, claim, text or a title.",
            "Save the claims as .xlsx, .csv, .tsv, .jsonl, .json or .txt (one a line).",
        )
    for number, value in enumerate(found, 1):
        yield _json_record(f"Item {number}", value)


def _json(text: str) -> Any:
    # Neither NaN nor a number that is too large, which JSON that is written could not have.
    return json.loads(text, parse_constant=str, parse_float=_number)


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _json_record(where: str, value: object) -> Record:
    if not isinstance(value, dict):
        return Record(where, Problem("bad_row", "This is not a JSON object.", "Correct it."))
    if _is_too_deep(value):
        said = f"Its values are nested more than {_DEEPEST} levels deep."
        return Record(where, Problem("bad_row", said, "Leave out what the list does not need."))
    return Record(where, value)


def _is_too_deep(value: object) -> bool:
    """Return whether what goes through all levels of a value could run out of stack."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def _xlsx(file: ListFile, has_claims: Callable[[str], bool], most: int) -> Iterator[Record]:
    return xlsx_records(file.name, file.content, has_claims, most * _UNPACKED_EACH)


_TABLES: dict[str, Callable[[ListFile, Callable[[str], bool], int], Iterator[Record]]] = {
    ".csv": lambda file, has_claims, _: csv_records(file.name, _text(file), has_claims),
    ".tsv": lambda file, has_claims, _: csv_records(file.name, _text(file), has_claims, "\t"),
    ".xlsx": _xlsx,
    ".xlsm": _xlsx,
}
_JSON: dict[str, Callable[[ListFile], Iterator[Record]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_list,
    ".xml": _xml_feed,
    ".rss": _xml_feed,
}
