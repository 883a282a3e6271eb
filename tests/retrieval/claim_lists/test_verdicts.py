"""The verdicts of a batch as a table, with the columns that came in."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from retrieval.claim_lists.verdicts import CheckedRow, csv_pieces, verdict_table, write_xlsx
from retrieval.errors import Problem
from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document, document_without_evidence

CLAIM = "The Lighthouse of Varn was built in 1874."
OTHERS: dict[str, Any] = {
    "No": 7,
    "verdict": "open",
    "note": '=HYPERLINK("https://x.example")',
    "id": 1_234_567_890_123_456_789,
    "tags": ["a", "b"],
    "control": "a\x00b\ud800",
}


def _supported() -> dict[str, Any]:
    """Return a result with evidence of a file, and of the web."""
    result = claim_document(CLAIM)
    result["verdict"]["confidence"] = 0.9321
    for item in (*result["evidence"], *result["documents"]):
        if item["title"] == "Lighthouse of Varn":
            item["url"] = None
            item["source"] = "varn.pdf, page 3, modified on 2024-03-05"
    return result


def table(tmp_path: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of three claims, of which the last one failed."""
    cold = document_without_evidence("-5 degrees is cold.")
    rows = [
        CheckedRow(CLAIM, OTHERS, ClaimResult.model_validate(_supported())),
        CheckedRow("-5 degrees is cold.", {"desk": "food"}, ClaimResult.model_validate(cold)),
        CheckedRow("", problem=Problem("claim_empty", "Line 4: There is no claim.", "Write one.")),
    ]
    cells = verdict_table(rows, [*OTHERS, "desk"])
    if name.endswith(".csv"):
        text = "".join(csv_pieces(cells, ";"))
        assert text.startswith("\ufeffclaim;No;")
        return list(csv.DictReader(io.StringIO(text[1:], newline=""), delimiter=";"))
    write_xlsx(tmp_path / name, cells)
    header, *cells = openpyxl.load_workbook(tmp_path / name).active.iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in cells]


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx"])
def test_a_table_has_the_columns_of_the_input_and_the_verdict(tmp_path: Path, name: str) -> None:
    first, second, third = table(tmp_path, name)
    assert list(first) == [
        *("claim", "No", "verdict (input)", "note", "id", "tags", "control", "desk"),
        *("verdict", "level", "confidence", "leans", "rationale", "evidence", "sources", "error"),
        *("in words", "evidence labels", "part by part"),
        *("checked_as", "corpus", "text_date", "recipe", "judge", "esoteric_version"),
        *("finished_at", "link", "text_sentence", "same_as_row"),
    ]
    assert (first["claim"], first["verdict (input)"]) == (CLAIM, "open")
    assert (first["verdict"], first["level"]) == ("SUPPORTS", "settled")
    assert float(first["confidence"]) == 0.93  # of 0.9321
    assert (str(first["No"]), first["tags"]) == ("7", '["a", "b"]')
    lines = [first[name].splitlines() for name in ("evidence", "evidence labels", "sources")]
    assert len({len(one) for one in lines}) == 1  # a source for each sentence
    assert "Lighthouse of Varn (varn.pdf, page 3, modified on 2024-03-05)" in lines[-1]
    assert "Ida Holm https://en.wikipedia.org/wiki/Ida_Holm" in lines[-1]
    assert (second["verdict"], second["desk"]) == ("NOT ENOUGH INFO", "food")
    assert not second["confidence"]
    assert third["error"] == "Line 4: There is no claim. Write one."


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx"])
def test_no_cell_is_a_formula_and_no_number_loses_digits(tmp_path: Path, name: str) -> None:
    first, second, _ = table(tmp_path, name)
    assert first["note"] == '\'=HYPERLINK("https://x.example")'
    assert second["claim"] == "'-5 degrees is cold."
    assert first["id"] == "1234567890123456789"
    assert first["control"].replace("\x00", "") == "ab?"


def test_no_two_columns_have_the_same_name_whatever_their_case() -> None:
    rows = [CheckedRow("Tea is hot.", {"verdict": "a", "Verdict": "b", "Note": "c", "note": "d"})]
    header, cells = verdict_table(rows, rows[0].others, "Level")
    assert header[:5] == [
        *("Level (claim)", "verdict (input)", "Verdict (input) (2)", "Note", "note (2)"),
    ]
    assert cells[:5] == ["Tea is hot.", "a", "b", "c", "d"]
