"""The verdicts on a list of claims as rows of a table, and these rows as .csv or .xlsx."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import IO, Any

from retrieval.errors import Problem
from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO
from retrieval.words import STANCES

# Spreadsheets take a cell that begins with one of these, also full-width, for a formula. Where a
# semicolon parts their cells, they read a quotation mark within a line as any other character: what
# follows a semicolon, a tab or the end of a line in a cell begins another cell.
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"^(?=\s*{_SIGN})|(?<=[;\t\r\n])(?=[^\S\t\r\n]*{_SIGN})")


def safe_cell(value: object) -> object:
    """Return the value so that no spreadsheet runs it as a formula; ``None`` becomes ""."""
    if isinstance(value, str):
        return _FORMULA.sub("'", value)
    return "" if value is None else value


# New columns come last: programs may count them.
_COLUMNS = (
    *("verdict", "level", "confidence", "leans", "rationale", "evidence", "sources", "error"),
    *("in words", "evidence labels", "part by part"),
    *("checked_as", "corpus", "text_date", "recipe", "judge", "esoteric_version"),
    *("finished_at", "link", "text_sentence", "same_as_row"),
)
_LONG = ("claim", "rationale", "evidence", "sources", "error", "checked_as", "text_sentence")
_WIDE, _NARROW = 60, 16  # characters of a column of an .xlsx
_DIGITS = 15  # of a number that spreadsheets keep
# A sheet of an .xlsx has so many columns; a list with more others could not be exported.
MOST_OTHERS = 16_384 - len(("claim", *_COLUMNS))
# What XML cannot have.
NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BYTE_ORDER_MARK = "\ufeff"  # Excel reads UTF-8 only after it


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A claim of a list with its verdict, or with the reason why there is none.

    ``claim``: as it was written. ``others``: the values of the other columns. ``finished_at``: when
    its check ended, ISO 8601, and ``link``: the address of its page, each "" where that is not
    known. ``text_sentence``: the sentence of a text that says it, "" if it is from none.
    ``same_as_row``: the number of the first row with the same claim, ``None`` if there is none.
    """

    claim: str
    others: dict[str, Any] = field(default_factory=dict)
    result: ClaimResult | None = None
    problem: Problem | None = None
    finished_at: str = ""
    link: str = ""
    text_sentence: str = ""
    same_as_row: int | None = None


def verdict_table(
    rows: Iterable[CheckedRow], others: Iterable[str], column: str = "claim", before: int = 0
) -> Iterator[list[object]]:
    """Yield the names of the columns, then a row for each claim; no cell is a formula.

    ``others``: the columns that came in with the claims; one that has the name of a column of the
    verdict gets "(input)" after its name, and one that repeats another a number. ``column``: the
    name of that with the claims; ``before``: how many of the others stand before it.
    """
    others = list(others)
    taken = {column.casefold(), *_COLUMNS}
    given = [f"{name} (input)" if name.casefold() in taken else name for name in others]
    named = f"{column} (claim)" if column.casefold() in _COLUMNS else column
    names = _different((*given[:before], named, *given[before:]))
    yield [_cell(name) for name in (*names, *_COLUMNS)]
    for row in rows:
        verdict = _verdict(row)
        values = [row.others.get(name) for name in others]
        values.insert(before, row.claim)
        values += [verdict.get(name) for name in _COLUMNS]
        yield [_cell(value) for value in values]


def _different(names: Iterable[str]) -> Iterator[str]:
    """Yield these names, numbered where one repeats another; many programs ignore their case."""
    seen = set(_COLUMNS)
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        new = next(one for one in chain([name], numbered) if one.casefold() not in seen)
        seen.add(new.casefold())
        yield new


def csv_pieces(
    rows: Iterable[list[object]], separator: str = ",", decimal_mark: str = "."
) -> Iterator[str]:
    """Yield a table as the text of a .csv, a row at a time."""
    piece = io.StringIO(_BYTE_ORDER_MARK, newline="")
    piece.seek(0, io.SEEK_END)
    writer = csv.writer(piece, delimiter=separator)
    for row in rows:
        writer.writerow(
            str(one).replace(".", decimal_mark) if isinstance(one, float) else one for one in row
        )
        yield piece.getvalue()
        piece.seek(0)
        piece.truncate()


def write_xlsx(file: Path | IO[bytes], rows: Iterable[list[object]]) -> None:
    """Write a table as .xlsx, a row at a time."""
    import openpyxl
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
        sheet.append([NO_XML.sub("", one) if isinstance(one, str) else one for one in row])
    book.save(file)


def _verdict(row: CheckedRow) -> dict[str, object]:
    if row.result is None:
        problem = row.problem
        error = f"{problem.message} {problem.hint}".rstrip() if problem else None
        return {"error": error, **_of_row(row)}
    result = row.result
    verdict = result.verdict
    return {
        **_of_row(row),
        "verdict": verdict.label,
        "level": verdict.level,
        # A cell without the page around it would read as a certainty.
        # With two digits after the point no spreadsheet takes it for thousands.
        "confidence": None if verdict.label == NOT_ENOUGH_INFO else round(verdict.confidence, 2),
        "leans": verdict.leans,
        "rationale": verdict.rationale,
        "evidence": sentences_in_lines(result),
        "sources": sources_in_lines(result),
        "in words": verdict.words,
        "evidence labels": "\n".join(map(stance_in_words, result.selected)),
        "part by part": part_by_part(result),
        "checked_as": checked_as(result, row.claim),
        "corpus": result.corpus_title,
        "text_date": _text_date(result),
        "recipe": result.recipe,
        "judge": verdict.judge,
        "esoteric_version": result.version,
    }


def _of_row(row: CheckedRow) -> dict[str, object]:
    return {
        "finished_at": row.finished_at,
        "link": row.link,
        "text_sentence": row.text_sentence,
        "same_as_row": row.same_as_row,
    }


def _text_date(result: ClaimResult) -> str:
    """Return the day of the newest text of the corpus; of several, that of each."""
    dates = [one.text_date for one in result.corpora]
    return " and ".join(day or "unknown" for day in dates) if any(dates) else ""


def checked_as(result: ClaimResult, written: str) -> str | None:
    """Return the claim as it was checked, or the statements that were made of it; else ``None``."""
    checked = " ".join(one.text for one in result.statements) or result.claim
    return None if checked == written else checked


def sentences_in_lines(result: ClaimResult) -> str:
    """Return the selected sentences, one a line."""
    return "\n".join(_on_one_line(one.sentence) for one in result.selected)


def sources_in_lines(result: ClaimResult) -> str:
    """Return where each selected sentence stands, one a line, in their order."""
    credited = ((one, result.credits.get(one.document)) for one in result.selected)
    named = (
        f"{one.reference} {one.url or (f'({credit})' if credit else '')}"
        for one, credit in credited
    )
    return "\n".join(map(_on_one_line, named))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def stance_in_words(item: Evidence) -> str:
    """Return what a sentence says about its claim, as pages show it: "Refutes 93%"."""
    return STANCES[item.shown_stance] + (f" {item.percent}%" if item.percent else "")


def part_by_part(result: ClaimResult) -> str:
    """Return whether the check part by part has the same verdict; "" where there is none."""
    if not result.proof:
        return ""
    return "agrees" if result.proof_agrees else "disagrees"


def _cell(value: object) -> object:
    """Return a text or number that every spreadsheet shows as it is."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and len(str(abs(value))) > _DIGITS:
        value = str(value)
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # half characters, which no file can have
    return safe_cell(value)
