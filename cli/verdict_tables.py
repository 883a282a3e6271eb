"""Writes the verdicts of ``esoteric batch`` as a table: .csv or .xlsx."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from cli.claim_files import Row
from retrieval.result import ClaimResult
from retrieval.spreadsheet import safe_cell
from retrieval.types import NOT_ENOUGH_INFO

_COLUMNS = ("verdict", "confidence", "leans", "rationale", "evidence", "sources", "error")
_DIGITS = 15  # of a number that spreadsheets keep


def write_table(lines: Path, rows: list[Row], output: Path) -> None:
    """Write a row for each line of results: the claim, the other columns of ``rows``, the verdict.

    A column that has the name of one of the verdict's gets "(input)" after its name.
    """
    others = list(dict.fromkeys(name for row in rows for name in row.others))
    given = [f"{name} (input)" if name in ("claim", *_COLUMNS) else name for name in others]
    unfinished = output.with_name(f"{output.name}.part")
    header = ["claim", *given, *_COLUMNS]
    TABLES[output.suffix.casefold()](unfinished, _table(lines, header, others))
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
    sources = [f"{one.reference} {one.url or ''}".rstrip() for one in result.selected]
    return {
        "verdict": verdict.label,
        # A cell without the page around it would read as a certainty.
        "confidence": None if verdict.label == NOT_ENOUGH_INFO else verdict.confidence,
        "leans": verdict.leans,
        "rationale": verdict.rationale,
        "evidence": "\n".join(one.sentence for one in result.selected),
        "sources": "\n".join(dict.fromkeys(sources)),
    }


def _cell(value: object) -> object:
    """Return a text or number that every spreadsheet shows as it is."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and len(str(abs(value))) > _DIGITS:
        value = str(value)
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # half characters, which no file can have
    return safe_cell(value)


def _write_csv(path: Path, rows: Iterable[list[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)


def _write_xlsx(path: Path, rows: Iterable[list[object]]) -> None:
    import openpyxl
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Verdicts")
    sheet.freeze_panes = "B2"
    for row in rows:
        sheet.append(
            [ILLEGAL_CHARACTERS_RE.sub("", one) if isinstance(one, str) else one for one in row]
        )
    book.save(path)


TABLES: dict[str, Callable[[Path, Iterable[list[object]]], None]] = {
    ".csv": _write_csv,
    ".xlsx": _write_xlsx,
}
