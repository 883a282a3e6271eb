"""Reads the lists of claims of ``esoteric batch``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from cli.claim_tables import Record, csv_records, table_separator, xlsx_records
from retrieval.corpora.decoding import decoded
from retrieval.corpora.records.separated import NO_SEPARATOR
from retrieval.errors import BadSource, Problem

_NOT_READ = frozenset((".xls", ".xlsb", ".ods", ".numbers", ".parquet"))
_NO_TEXTS = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how other files begin
_LARGEST = 256 << 20  # bytes of a list; its rows are kept in memory
_MOST = 200_000  # claims; they take days
# Names of the column with the claims; one of the second set is used if there is no ``claim``.
_USUAL = (frozenset({"claim"}), frozenset({"statement", "text"}))
_SHOWN = 500  # characters of the names of columns in a message


@dataclass(frozen=True, slots=True)
class Row:
    """A claim of a list.

    ``where``: its line or row, for messages. ``claim``: as it was written, "" if there is none.
    ``others``: the values of the other columns, as JSON has them. ``problem``: why the row cannot
    be read, ``None`` if it can.
    """

    where: str
    claim: str
    others: dict[str, Any] = field(default_factory=dict)
    problem: Problem | None = None


def read_claims(path: Path, column: str | None = None) -> list[Row]:
    """Return the claims of a table (.csv, .tsv, .xlsx), of .jsonl or .json, or one a line.

    ``column``: the column or key that has the claims; if it is ``None``, it must have one of the
    usual names. The case of names and the spaces around them are ignored. ``.ndjson`` is read as
    ``.jsonl``. Blank lines and rows are left out. Only a line feed ends a line of text or of JSON
    lines: a claim may contain other characters that Unicode calls line ends.

    Raises:
        BadSource: the file cannot be read, is too large, or it is unclear which column has the
            claims.
    """
    kind = path.suffix.casefold()
    if kind in _NOT_READ:
        raise BadSource(
            "bad_claims",
            f"{path}: {kind} files are not read.",
            "Save the claims as .xlsx, .csv, .tsv, .jsonl, .json or .txt (one a line).",
        )
    if (size := path.stat().st_size) > _LARGEST:
        raise _too_much(path, f"{size / 1e6:,.0f} MB; at most {_LARGEST / 1e6:,.0f} MB")
    if kind in _TABLES:
        records = _TABLES[kind](path, _may_have_claims(column))
        return _rows(path, _at_most(path, records), column)
    if kind in _JSON:
        return _rows(path, _at_most(path, _JSON[kind](path)), column)
    if column is not None:
        raise BadSource(
            "bad_claims",
            f"{path} has no columns: a {kind or 'text'} file has one claim a line.",
            "Leave --column out, or save the list as .csv.",
        )
    return _at_most(path, (Row(f"Line {number}", line) for number, line in _lines(path)))


def separator_of(path: Path, column: str | None = None) -> str:
    """Return what parts the cells of a .csv with claims; "," for any other list."""
    if path.suffix.casefold() != ".csv":
        return ","
    found = table_separator(_text(path), _may_have_claims(column))
    return "," if found == NO_SEPARATOR else found


def _may_have_claims(column: str | None) -> Callable[[str], bool]:
    names = {_folded(column)} if column else {name for usual in _USUAL for name in usual}
    return lambda name: _folded(name) in names


def _rows(path: Path, records: list[Record], asked: str | None) -> list[Row]:
    values = [one.values for one in records if not isinstance(one.values, Problem)]
    if not values:
        return [Row(one.where, "", {}, _problem(one)) for one in records]
    column = _claim_column(path, list(dict.fromkeys(name for one in values for name in one)), asked)
    return [_row(record, column) for record in records]


def _row(record: Record, column: str) -> Row:
    if isinstance(record.values, Problem):
        return Row(record.where, "", {}, record.values)
    others = {name: value for name, value in record.values.items() if name != column}
    claim = record.values.get(column)
    if claim is None or isinstance(claim, str):
        return Row(record.where, claim or "", others)
    problem = Problem("claim_not_text", f"The value of {column!r} is not text.", "Correct it.")
    return Row(record.where, "", others, problem)


def _problem(record: Record) -> Problem | None:
    return record.values if isinstance(record.values, Problem) else None


def _claim_column(path: Path, names: list[str], asked: str | None) -> str:
    """Return the column that has the claims.

    Raises:
        BadSource: none or several may be meant.
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
    raise BadSource(
        "bad_claims",
        f"{path}: {wrong}. The columns are: {columns}.",
        "Name the one with the claims: --column NAME. The first row of a table names its columns.",
    )


def _folded(name: str) -> str:
    return name.strip().casefold()


def _at_most(path: Path, items: Iterable[Any]) -> list[Any]:
    found = list(islice(items, _MOST + 1))
    if len(found) > _MOST:
        raise _too_much(path, f"more than {_MOST:,} claims; at most so many")
    return found


def _too_much(path: Path, what: str) -> BadSource:
    return BadSource("bad_claims", f"{path} has {what} are read.", "Divide it.")


def _text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        BadSource: it is a file of another program, under the name of a text.
    """
    content = path.read_bytes()
    if content.startswith(_NO_TEXTS):
        raise BadSource(
            "bad_claims",
            f"{path} is not a text, but a PDF, a zip or an Office file.",
            "Save the claims as .xlsx, .csv, .tsv, .jsonl, .json or .txt (one a line).",
        )
    return decoded(content)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, numbered from 1."""
    text = _text(path).replace("\r\n", "\n")
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _json_lines(path: Path) -> Iterator[Record]:
    for number, line in _lines(path):
        try:
            value = _json(line)
        except (ValueError, RecursionError):
            value = None
        yield _json_record(f"Line {number}", value)


def _json_list(path: Path) -> Iterator[Record]:
    try:
        values = _json(_text(path))
    except (ValueError, RecursionError) as error:
        raise BadSource(
            "bad_claims",
            f"{path} is not JSON ({error}).",
            "Correct it, or name it .jsonl if it has one object a line.",
        ) from error
    if not isinstance(values, list):
        raise BadSource("bad_claims", f"{path} is not a list.", "Write the claims as a JSON list.")
    for number, value in enumerate(values, 1):
        yield _json_record(f"Item {number}", {"claim": value} if isinstance(value, str) else value)


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=str)  # NaN, which JSON does not have


def _json_record(where: str, value: object) -> Record:
    if isinstance(value, dict):
        return Record(where, value)
    return Record(where, Problem("bad_row", "This is not a JSON object.", "Correct it."))


_TABLES: dict[str, Callable[[Path, Callable[[str], bool]], Iterator[Record]]] = {
    ".csv": lambda path, has_claims: csv_records(path, _text(path), has_claims),
    ".tsv": lambda path, has_claims: csv_records(path, _text(path), has_claims, "\t"),
    ".xlsx": xlsx_records,
    ".xlsm": xlsx_records,
}
_JSON: dict[str, Callable[[Path], Iterator[Record]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_list,
}
