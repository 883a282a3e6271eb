"""Lists of claims as people have them: tables of every kind, JSON, text."""

from __future__ import annotations

import codecs
import datetime
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from retrieval.claim_lists import tables
from retrieval.claim_lists.files import list_file, read_claims, separator_of
from retrieval.errors import BadSource
from tests.support.cases import cases


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def claims(path: Path, column: str | None = None) -> list[str]:
    return [row.claim for row in read_claims(list_file(path), column)]


@cases("claim_lists", "name", "content", "column", "claims")
def test_the_claims_of_a_list_are_found(
    tmp_path: Path, name: str, content: str, column: str | None, claims: list[str]
) -> None:
    rows = read_claims(list_file(written(tmp_path, name, content)), column)
    assert [row.claim for row in rows] == claims


@cases("claim_lists", "name", "content", "rows")
def test_the_claims_come_with_the_values_of_the_other_columns(
    tmp_path: Path, name: str, content: str, rows: list[list[Any]]
) -> None:
    found = read_claims(list_file(written(tmp_path, name, content)))
    assert [[row.claim, row.others] for row in found] == rows


@cases("claim_lists", "name", "content", "column", "error")
def test_a_list_that_cannot_be_read_gets_one_error(
    tmp_path: Path, name: str, content: str, column: str | None, error: str
) -> None:
    with pytest.raises(BadSource, match=re.escape(error)):
        read_claims(list_file(written(tmp_path, name, content)), column, most=3)


def test_a_list_has_at_most_so_many_cells_as_its_claims_allow(tmp_path: Path) -> None:
    wide = "claim" + "".join(f",c{n}" for n in range(300)) + "\n" + "a," * 300 + "b\n"
    path = written(tmp_path, "claims.csv", wide + "a," * 300 + "b\n")
    assert len(read_claims(list_file(path), most=4)) == 2  # 602 cells, of 800
    with pytest.raises(BadSource, match=r"more than 400 cells; no more are read\."):
        read_claims(list_file(path), most=2)


def test_a_workbook_unpacks_to_at_most_so_many_bytes_as_its_claims_allow(tmp_path: Path) -> None:
    path = tmp_path / "claims.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet().write_column(
            0, 0, ["claim", *(f"Tea is a drink {n}" for n in range(900))]
        )
    assert len(read_claims(list_file(path), most=900)) == 900
    with pytest.raises(BadSource, match=r"unpacks to 0 MB; at most 0 MB are read"):
        read_claims(list_file(path), most=3)


@cases("claim_lists", "name", "content", "separator")
def test_a_table_of_verdicts_is_separated_as_the_list_was(
    tmp_path: Path, name: str, content: str, separator: str
) -> None:
    assert separator_of(list_file(written(tmp_path, name, content))) == separator


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("claims.json", "[" * 100_000, "is not JSON"),
        ("claims.csv", f"claim{',b' * 16_400}\na\n", "has 16,401 columns; at most 16,363 are read"),
        ("claims.csv", f'"{"x" * 140_000}",b\n', "line 1: The row cannot be read: field larger"),
    ],
)
def test_a_list_that_is_made_to_do_harm_gets_one_error(
    tmp_path: Path, name: str, content: str, error: str
) -> None:
    with pytest.raises(BadSource, match=error):
        read_claims(list_file(written(tmp_path, name, content)))


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF16_LE + "claim;Ort\nZoë is 7 years old.;Köln\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "claim;Ort\nZoë is 7 years old.;Köln\n".encode("utf-16-be"),
        "claim;Ort\nZoë is 7 years old.;Köln\n".encode("cp1252"),
        "claim;Ort\nZoë is 7 years old.;Köln\n".encode(),
    ],
)
def test_the_encodings_of_spreadsheets_are_read(tmp_path: Path, content: bytes) -> None:
    (row,) = read_claims(list_file(written(tmp_path, "claims.csv", content)))
    assert (row.claim, row.others) == ("Zoë is 7 years old.", {"Ort": "Köln"})


def test_an_exponent_in_a_workbook_is_not_part_of_the_number_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet, raised = book.add_worksheet(), book.add_format({"font_script": 1})
        sheet.write(0, 0, "claim")
        sheet.write_rich_string(1, 0, "It holds 10", raised, "6", " litres.")
    assert claims(path) == ["It holds 10⁶ litres."]


@cases("claim_lists", "name", "content", "read")
def test_a_bad_row_is_named_and_the_rest_is_read(
    tmp_path: Path, name: str, content: str, read: list[list[str]]
) -> None:
    rows = read_claims(list_file(written(tmp_path, name, content)))
    found = [[r.where, r.problem.code if r.problem else r.claim] for r in rows]
    assert found == read


def workbook(tmp_path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("Notes").append(["claim"])
    book.save(tmp_path / "claims.xlsx")
    return tmp_path / "claims.xlsx"


def test_the_first_sheet_of_a_workbook_is_a_table(tmp_path: Path) -> None:
    day, moment = datetime.date(2021, 3, 4), datetime.datetime.fromisoformat("2021-03-04T05:06")
    path = workbook(
        tmp_path,
        [
            [],
            ["No", "Claim", "Day", "Seen", None],
            [7, "Tea is a drink.", day, moment, None],
            [None, None, None, None, None],
            [8.5, 12],
            [9, "Ice is cold.", True, "", "", "too far"],
        ],
    )
    rows = read_claims(list_file(path))
    assert [(row.where, row.claim) for row in rows] == [
        ("Row 3", "Tea is a drink."),
        ("Row 5", ""),
        ("Row 6", ""),
    ]
    assert rows[0].others == {"No": 7, "Day": "2021-03-04", "Seen": "2021-03-04T05:06:00"}
    assert [row.problem.code for row in rows[1:] if row.problem] == ["claim_not_text", "bad_row"]


def test_further_sheets_with_the_same_column_belong_to_the_list(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for title, rows in {
        "May": [["Claim", "No"], ["Tea is a drink.", 1]],
        "Words": [["Statement"], ["These are no claims."]],
        "June": [["Claims of June"], ["Claim", "No"], ["Ice is cold.", 2]],
        "Old": [["Claim"], ["Ink is blue."]],
    }.items():
        sheet = book.create_sheet(title)
        sheet.sheet_state = "hidden" if title == "Old" else "visible"
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "claims.xlsx")
    rows = read_claims(list_file(tmp_path / "claims.xlsx"))
    assert [(row.where, row.claim, row.others) for row in rows] == [
        ("May, row 2", "Tea is a drink.", {"No": 1}),
        ("June, row 3", "Ice is cold.", {"No": 2}),
    ]


def test_a_workbook_may_have_titles_above_the_names_of_its_columns(tmp_path: Path) -> None:
    path = workbook(
        tmp_path,
        [["Claims of May"], ["Food", None, "Ann"], [], ["No", "Claim", "Desk"], [7, "Tea", None]],
    )
    (row,) = read_claims(list_file(path))
    assert (row.where, row.claim, row.others) == ("Row 5", "Tea", {"No": 7, "Desk": ""})


def test_a_workbook_with_too_many_cells_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_MOST_CELLS", 3)
    path = workbook(tmp_path, [["claim", "n"], ["Tea is a drink.", 1]])
    with pytest.raises(BadSource, match="more than 3 cells"):
        read_claims(list_file(path))
