"""Lists of claims as people have them: tables of every kind, JSON, text."""

from __future__ import annotations

import codecs
import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from retrieval.claim_lists import tables
from retrieval.claim_lists.files import list_file, read_claims, separator_of
from retrieval.errors import BadSource


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def claims(path: Path, column: str | None = None) -> list[str]:
    return [row.claim for row in read_claims(list_file(path), column)]


def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path: Path) -> None:
    path = written(tmp_path, "claims.txt", "Tea is\u2028a drink.\r\n\nIce\x85is\x0ccold.\n")
    assert claims(path) == ["Tea is\u2028a drink.", "Ice\x85is\x0ccold."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Claim\nTea is hot.\nIce, which is water, is cold.",
            ["Tea is hot.", "Ice, which is water, is cold."],
        ),
        ("\nStatements:\nTea is hot.", ["Tea is hot."]),
        (
            "statement;speaker\nTea is hot.;Ann\nIce, too, is cold.;Bo",
            ["Tea is hot.", "Ice, too, is cold."],
        ),
        (
            'Speaker,Claim\nAnn,Tea is hot.\nBo,"Ice, too, is cold."',
            ["Tea is hot.", "Ice, too, is cold."],
        ),
        # Claims, though they begin with the name of a column.
        ("Text, says Ann, is read.\nIce, says Bo, is cold.", 2),
        ("The claim, he said, is old.\nIce is cold.", 2),
        ("Claim\tspeaker", 1),
    ],
)
def test_a_first_line_that_names_what_is_below_it_is_no_claim(
    tmp_path: Path, text: str, expected: int | list[str]
) -> None:
    found = claims(written(tmp_path, "claims.txt", text))
    assert found == expected if isinstance(expected, list) else len(found) == expected


def test_json_lines_end_at_a_line_feed_too(tmp_path: Path) -> None:
    lines = '{"claim": "Tea is\u2028a drink."}\n{"claim": "Ice is cold."}'
    path = written(tmp_path, "claims.JSONL", lines)
    assert claims(path) == ["Tea is\u2028a drink.", "Ice is cold."]


def test_a_cell_of_a_table_may_hold_lines_commas_and_quotes(tmp_path: Path) -> None:
    table = '\ufeffid,claim\r\n1,"Tea, they say,\r\nis a ""drink""."\r\n2,Ice is cold.\r\n'
    path = written(tmp_path, "claims.CSV", table)
    assert claims(path) == ['Tea, they say,\nis a "drink".', "Ice is cold."]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("a.csv", "No,Claim ,Desk\n7,Tea is a drink.,food\n"),
        ("a.csv", "No;CLAIM;Desk\r7;Tea is a drink.;food\r"),
        ("a.csv", "No\tclaim\tDesk\n7\tTea is a drink.\tfood\n"),
        ("a.csv", "sep=;\r\nNo;claim;Desk\r\n7;Tea is a drink.;food\r\n"),
        ("a.csv", '"sep=|"\nNo|claim|Desk\n7|Tea is a drink.|food\n'),
        ("a.csv", "\n,,\nNo,statement,Desk\n7,Tea is a drink.,food\n"),
        ("a.csv", "Claims of May, all;;\n;;\nNo;Claim;Desk\n7;Tea is a drink.;food\n"),
        ("a.csv", "Claims, May, food\nby Ann\n\nNo;claim;Desk\n7;Tea is a drink.;food\n"),
        ("a.csv", "sep=;\nClaims of May\nNo;claim;Desk\n7;Tea is a drink.;food\n"),
        ("a.tsv", "Claims of May\t\t\nNo\tText\tDesk\n7\tTea is a drink.\tfood\n"),
        ("a.tsv", "No\ttext\tDesk\n7\tTea is a drink.\tfood\n"),
        ("a.json", '[{"No": "7", "claim": "Tea is a drink.", "Desk": "food"}]'),
        ("a.ndjson", '{"No": "7", "Claim": "Tea is a drink.", "Desk": "food"}\n'),
    ],
)
def test_the_claims_and_the_other_columns_are_found(tmp_path: Path, name: str, table: str) -> None:
    (row,) = read_claims(list_file(written(tmp_path, name, table)))
    assert row.claim == "Tea is a drink."
    assert row.others == {"No": "7", "Desk": "food"}


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


def test_a_line_of_a_table_with_one_column_is_a_claim_with_its_commas(tmp_path: Path) -> None:
    path = written(tmp_path, "claims.csv", 'claim\nTea, they say, is old.\n"Ice, too; melts."\n')
    assert claims(path) == ["Tea, they say, is old.", "Ice, too; melts."]


def test_commas_within_cells_are_no_separators_where_semicolons_fit_as_well(
    tmp_path: Path,
) -> None:
    table = "claim;desk, number\nTea is a drink.;food, 7\nIce is cold.;news, 8\n"
    rows = read_claims(list_file(written(tmp_path, "a.csv", table)))
    assert [(row.claim, row.others) for row in rows] == [
        ("Tea is a drink.", {"desk, number": "food, 7"}),
        ("Ice is cold.", {"desk, number": "news, 8"}),
    ]


def test_an_exponent_in_a_workbook_is_not_part_of_the_number_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet, raised = book.add_worksheet(), book.add_format({"font_script": 1})
        sheet.write(0, 0, "claim")
        sheet.write_rich_string(1, 0, "It holds 10", raised, "6", " litres.")
    assert claims(path) == ["It holds 10⁶ litres."]


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.json"])
def test_a_file_of_another_program_is_no_list(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSource, match="not a text, but a PDF, a zip or an Office file"):
        claims(written(tmp_path, name, b"PK\x03\x04\0\0claim"))


def test_blank_rows_and_blank_cells_at_the_end_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "claims.csv", "id,claim\n1,Tea is a drink.,,\n,\n\n , \n2,\n")
    assert [(row.where, row.claim) for row in read_claims(list_file(path))] == [
        ("Line 2", "Tea is a drink."),
        ("Line 6", ""),
    ]


def test_no_row_is_taken_for_a_title_that_has_as_many_cells_as_the_one_below_it(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "claims.csv", "kind,sentence\nclaim,Tea is a drink.\n")
    with pytest.raises(BadSource, match="The columns are: 'kind', 'sentence'"):
        read_claims(list_file(path))


def test_the_column_that_is_asked_for_is_found_below_a_title(tmp_path: Path) -> None:
    table = "The text of May\nNo;Sentence\n7;Tea is a drink.\n"
    (row,) = read_claims(list_file(written(tmp_path, "claims.csv", table)), "sentence")
    assert (row.where, row.claim) == ("Line 3", "Tea is a drink.")


@pytest.mark.parametrize(
    ("cell", "claim"),
    [
        ('"Tea is "hot"."', 'Tea is "hot".'),
        ('"Tea is \\"hot, or cold\\"."', 'Tea is "hot, or cold".'),
        ('""Hot" is the tea."', '"Hot" is the tea.'),
        ('"Tea "is" ""hot""."', 'Tea "is" "hot".'),
    ],
)
def test_quotation_marks_within_a_cell_are_read_where_its_end_is_certain(
    tmp_path: Path, cell: str, claim: str
) -> None:
    table = f"id,claim,desk\n1,{cell},\n,Ice is cold.,food\n"
    first, second = read_claims(list_file(written(tmp_path, "claims.csv", table)))
    assert (first.claim, first.others) == (claim, {"id": "1", "desk": ""})
    assert second.claim == "Ice is cold."


@pytest.mark.parametrize(
    ("name", "table", "separator"),
    [
        ("a.csv", "Claims, May\nNo;claim\n7;Tea is a drink.\n", ";"),
        ("a.csv", "sep=|\nNo|claim\n7|Tea is a drink.\n", "|"),
        ("a.csv", "claim\nTea; a drink.\n", ","),
        ("a.tsv", "No\tclaim\n7\tTea is a drink.\n", ","),
    ],
)
def test_a_table_of_verdicts_is_separated_as_the_list_was(
    tmp_path: Path, name: str, table: str, separator: str
) -> None:
    assert separator_of(list_file(written(tmp_path, name, table))) == separator


def test_a_bad_row_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    quoted = '1,"Tea is "hot", or cold."\n2,"Ice is cold.\n'
    table = f"id,claim\n{quoted}3,Milk, too, is white.\n4,Ink is blue.\n"
    rows = read_claims(list_file(written(tmp_path, "claims.csv", table)))
    assert [(row.where, row.problem is None) for row in rows] == [
        ("Line 2", False),
        ("Line 3", False),
        ("Line 4", False),
        ("Line 5", True),
    ]
    assert rows[2].problem is not None
    assert rows[2].problem.message == "The row has more cells than the first one."
    assert rows[3].claim == "Ink is blue."


def test_a_bad_line_of_json_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = '{"claim": 7}\nnonsense\n[]\n{"claim": null, "n": NaN}\n{"text": "x"}\n'
    rows = read_claims(
        list_file(written(tmp_path, "claims.jsonl", lines + '{"claim": "Tea is a drink."}'))
    )
    assert [row.problem.code if row.problem else row.claim for row in rows] == [
        *("claim_not_text", "bad_row", "bad_row", "", "", "Tea is a drink."),
    ]
    assert rows[3].others == {"n": "NaN"}


def test_a_list_of_strings_is_a_list_of_claims(tmp_path: Path) -> None:
    path = written(tmp_path, "claims.json", '["Tea is a drink.", "Ice is cold.", 3]')
    assert claims(path) == ["Tea is a drink.", "Ice is cold.", ""]


@pytest.mark.parametrize(
    ("header", "column", "said"),
    [
        ("id,sentence", None, "The columns are: 'id', 'sentence'. Name the one with"),
        ("text,statement", None, "unclear which column has the claims"),
        ("claim,claim", None, r"'claim \(column 1\)', 'claim \(column 2\)'"),
        ("id,claim", "text", "no one column 'text'. The columns are: 'id', 'claim'"),
    ],
)
def test_where_the_column_is_unclear_the_error_lists_the_columns(
    tmp_path: Path, header: str, column: str | None, said: str
) -> None:
    path = written(tmp_path, "claims.csv", f"{header}\nTea is a drink.,Ice is cold.\n")
    with pytest.raises(BadSource, match=said):
        read_claims(list_file(path), column)


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("id,Sentence", " sentence"),
        ("claim,claim", "claim (column 2)"),
        ("text,claim", None),
        ("Sentence,sentence", "sentence"),
        ("text,", "(column 2)"),
    ],
)
def test_the_column_that_is_meant_is_used(tmp_path: Path, header: str, column: str | None) -> None:
    path = written(tmp_path, "claims.csv", f"{header}\nTea is a drink.,Ice is cold.\n")
    assert claims(path, column) == ["Ice is cold."]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("claims.ods", "", "ods files are not read"),
        ("claims.json", "{}", "is not a list"),
        ("claims.json", "[1,", "is not JSON"),
        ("claims.json", "[" * 100_000, "is not JSON"),
        ("claims.xlsx", "claim\nTea is a drink.\n", "is not an .xlsx"),
        ("claims.csv", f"claim\n{'a,b' * 9}\n" * 2, "more than 3 claims"),
        ("claims.txt", "a\nb\nc\nd\n", "more than 3 claims; at most so many are read. Divide it"),
        ("claims.csv", f"claim{',b' * 16_400}\na\n", "has 16,401 columns; at most 16,363 are read"),
        ("claims.csv", f'"{"x" * 140_000}",b\n', "line 1: The row cannot be read: field larger"),
    ],
)
def test_a_list_that_cannot_be_read_gets_one_error(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    content *= 2 if said == "more than 3 claims" else 1
    with pytest.raises(BadSource, match=said):
        read_claims(list_file(written(tmp_path, name, content)), most=3)


def test_a_file_of_lines_has_no_columns(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"has no columns: a \.txt file has one claim a line"):
        read_claims(list_file(written(tmp_path, "claims.txt", "Tea is a drink.\n")), "claim")


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
