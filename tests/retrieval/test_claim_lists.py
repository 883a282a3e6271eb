"""Lists of claims as people have them, and the verdicts of a list as a table."""

import codecs
import csv
import datetime
import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from retrieval.claim_lists import tables
from retrieval.claim_lists.files import list_file, read_claims
from retrieval.claim_lists.verdicts import CheckedRow, csv_pieces, verdict_table, write_xlsx
from retrieval.errors import BadSource, Problem
from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document, document_without_evidence
from tests.support.cases import cases


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_list_has_at_most_so_many_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = "claim" + "".join(f",c{n}" for n in range(300)) + "\n" + "a," * 300 + "b\n"
    path = written(tmp_path, "claims.csv", wide + "a," * 300 + "b\n")
    assert len(read_claims(list_file(path), most=4)) == 2  # 602 cells, of 800
    with pytest.raises(BadSource, match=r"more than 400 cells; no more are read\."):
        read_claims(list_file(path), most=2)
    many = [["claim"], *([f"Tea is a drink {n}"] for n in range(900))]
    path = workbook(tmp_path, {"May": many})
    assert len(read_claims(list_file(path), most=900)) == 900
    with pytest.raises(BadSource, match=r"unpacks to 0 MB; at most 0 MB are read"):
        read_claims(list_file(path), most=3)
    monkeypatch.setattr(tables, "_MOST_CELLS", 3)
    with pytest.raises(BadSource, match="more than 3 cells"):
        read_claims(list_file(path))


def test_a_harmful_list_gets_one_error(tmp_path: Path) -> None:
    for name, content, error in (
        ("claims.json", "[" * 100_000, "is not JSON"),
        ("claims.csv", f"claim{',b' * 16_400}\na\n", "has 16,401 columns; at most 16,363 are read"),
        ("claims.csv", f'"{"x" * 140_000}",b\n', "line 1: The row cannot be read: field larger"),
    ):
        with pytest.raises(BadSource, match=error):
            read_claims(list_file(written(tmp_path, name, content)))


def test_the_encodings_of_spreadsheets_are_read(tmp_path: Path) -> None:
    text = "claim;Ort\nZoë is 7 years old.;Köln\n"
    big_endian = codecs.BOM_UTF16_BE + text.encode("utf-16-be")
    for content in (text.encode("utf-16"), big_endian, text.encode("cp1252"), text.encode()):
        (row,) = read_claims(list_file(written(tmp_path, "claims.csv", content)))
        assert (row.claim, row.others) == ("Zoë is 7 years old.", {"Ort": "Köln"})


def test_an_exponent_in_a_workbook_is_not_part_of_the_number_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet, raised = book.add_worksheet(), book.add_format({"font_script": 1})
        sheet.write(0, 0, "claim")
        sheet.write_rich_string(1, 0, "It holds 10", raised, "6", " litres.")
    assert [row.claim for row in read_claims(list_file(path))] == ["It holds 10⁶ litres."]


def workbook(tmp_path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    """A workbook with these sheets, of which "Old" is hidden; texts that are days become days."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        sheet.sheet_state = "hidden" if title == "Old" else "visible"
        for row in rows:
            sheet.append([DAYS.get(str(cell), cell) for cell in row])
    book.save(tmp_path / "claims.xlsx")
    return tmp_path / "claims.xlsx"


DAYS = {
    "2021-03-04": datetime.date(2021, 3, 4),
    "2021-03-04T05:06:00": datetime.datetime.fromisoformat("2021-03-04T05:06"),
}


@cases("claim_lists", "sheets", "rows")
def test_the_sheets_of_a_workbook_that_have_the_column_of_claims_are_a_table(
    tmp_path: Path, sheets: dict[str, list[list[Any]]], rows: list[list[Any]]
) -> None:
    found = read_claims(list_file(workbook(tmp_path, sheets)))
    read = [[one.where, one.claim, one.others] for one in found]
    codes = [[one.where, one.problem.code, {}] if one.problem else None for one in found]
    assert [code or one for code, one in zip(codes, read, strict=True)] == rows


CLAIM = "The Lighthouse of Varn was built in 1874."
OTHERS: dict[str, Any] = {"No": 7, "verdict": "open", "note": '=HYPERLINK("https://x.example")'}
OTHERS |= {"id": 1_234_567_890_123_456_789, "tags": ["a", "b"], "control": "a\x00b\ud800"}


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
def test_a_table_has_the_columns_of_input_and_verdict(tmp_path: Path, name: str) -> None:
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
    # No cell is a formula, and no number loses digits.
    assert first["note"] == '\'=HYPERLINK("https://x.example")'
    assert second["claim"] == "'-5 degrees is cold."
    assert first["id"] == "1234567890123456789"
    assert first["control"].replace("\x00", "") == "ab?"


def test_no_two_columns_have_the_same_name_whatever_their_case() -> None:
    rows = [CheckedRow("Tea is hot.", {"verdict": "a", "Verdict": "b", "Note": "c", "note": "d"})]
    header, cells = verdict_table(rows, rows[0].others, "Level")
    assert header[:5] == [
        *("Level (claim)", "verdict (input)", "Verdict (input) (2)", "Note", "note (2)")
    ]
    assert cells[:5] == ["Tea is hot.", "a", "b", "c", "d"]
