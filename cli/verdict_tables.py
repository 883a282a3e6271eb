"""Writes the verdicts of ``esoteric batch`` as a table: .csv or .xlsx."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from cli.claim_files import Row
from retrieval.result import ClaimResult
from retrieval.safe_cell import safe_cell
from retrieval.types import NOT_ENOUGH_INFO

_COLUMNS = ("verdict", "level", "confidence", "leans", "rationale", "evidence", "sources", "error")
_LONG = ("claim", "rationale", "evidence", "sources", "error")
_WIDE, _NARROW = 60, 16  # characters of a column of an .xlsx
TABLES = (".csv", ".xlsx")
_DIGITS = 15  # of a number that spreadsheets keep


def write_table(lines: Path, rows: list[Row], output: Path, separator: str = ",") -> None:
    """Write a row for each line of results: the claim, the other columns of ``rows``, the verdict.

    A column that has the name of one of the verdict's gets "(input)" after its name.
    ``separator``: what parts the cells of a .csv.
    """
    others = list(dict.fromkeys(name for row in rows for name in row.others))
    given = [f"{name} (input)" if name in ("claim", *_COLUMNS) else name for name in others]
    unfinished = output.with_name(f"{output.name}.part")
    header = ["claim", *given, *_COLUMNS]
    table = _table(lines, header, others)
    if output.suffix.casefold() == ".csv":
        _write_csv(unfinished, table, separator)
    else:
        _write_xlsx(unfinished, table)
    unfinished.replace(output)


def _table(lines: Path, header: list[str], others: list[str]) -> Iterator[list[object]]:
    yield [_cell(name) for name in header]
    with lines.open("rb") as stream:
        for line in stream:
            record = json.loads(line)
            row = record.get("row", {})
            verdict = _verdict(record)
            values = [row.get(name) for name in others] + [verdict.get(name) for name in _COLUMNS]
            yield [_cell(value) for value in (_claim(record), *values)]


def _claim(record: dict[str, Any]) -> str:
    """Return the claim as it was written."""
    return str(record.get("claim_as_written") or record["claim"])


def _verdict(record: dict[str, Any]) -> dict[str, object]:
    if "error" in record:
        return {"error": f"{record['error']['message']} {record['error']['hint']}"}
    result = ClaimResult.model_validate(record)
    verdict = result.verdict
    sources = [
        f"{one.reference} {one.url or _in_brackets(result.credits.get(one.document, ''))}".rstrip()
        for one in result.selected
    ]
    return {
        "verdict": verdict.label,
        "level": verdict.level,
        # A cell without the page around it would read as a certainty.
        # With two digits after the point no spreadsheet takes it for thousands.
        "confidence": None if verdict.label == NOT_ENOUGH_INFO else round(verdict.confidence, 2),
        "leans": verdict.leans,
        "rationale": verdict.rationale,
        "evidence": "\n".join(one.sentence for one in result.selected),
        "sources": "\n".join(dict.fromkeys(sources)),
    }


def _in_brackets(text: str) -> str:
    return f"({text})" if text else ""


def _cell(value: object) -> object:
    """Return a text or number that every spreadsheet shows as it is."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and len(str(abs(value))) > _DIGITS:
        value = str(value)
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # half characters, which no file can have
    return safe_cell(value)


def _write_csv(path: Path, rows: Iterable[list[object]], separator: str) -> None:
    # Excel reads UTF-8 only after its mark.
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=separator).writerows(rows)


def _write_xlsx(path: Path, rows: Iterable[list[object]]) -> None:
    import openpyxl
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.utils import get_column_letter

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Verdicts")
    sheet.freeze_panes = "B2"
    cells = iter(rows)
    header = next(cells)
    for number, name in enumerate(header, 1):
        width = _WIDE if name in _LONG else _NARROW
        sheet.column_dimensions[get_column_letter(number)].width = width
    for row in chain([header], cells):
        sheet.append(
            [ILLEGAL_CHARACTERS_RE.sub("", one) if isinstance(one, str) else one for one in row]
        )
    book.save(path)
