"""How the rows of tables are written as sentences."""

from __future__ import annotations

import pytest

from retrieval.corpora.folder.tables import Cell, row_sentences, table_text


def split(*rows: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")] for row in rows]


@pytest.mark.parametrize(
    ("rows", "sentences"),
    [
        (["Lamp | Made", "red | 1921"], ["Lamp: red, Made: 1921."]),
        (["Town | 1921 | 1922", "Rowan | 4 | 11"], ["Town: Rowan, 1921: 4, 1922: 11."]),
        ([" | 1921/22 | Q3 1922", "Rowan | 4 | 11"], ["Rowan, 1921/22: 4, Q3 1922: 11."]),
        (["Town | Age 5–9", "Rowan | 31%"], ["Town: Rowan, Age 5–9: 31%."]),  # noqa: RUF001
        ([" | Q1 | H1 | FY 1921", "Rowan | 4 | – | 9"], ["Rowan, Q1: 4, H1: –, FY 1921: 9."]),  # noqa: RUF001
        (
            ["Town | 1921", "Rowan | 4", "Alder | n/a"],
            ["Town: Rowan, 1921: 4.", "Town: Alder, 1921: n/a."],
        ),
        (
            ["Town | Seen", "Rowan | A fire of 12 days", "Alder | Nothing"],
            ["Town: Rowan, Seen: A fire of 12 days.", "Town: Alder, Seen: Nothing."],
        ),
        (["Name: | Ann | Day: | 5 May"], ["Name: Ann, Day: 5 May."]),
        (["red | 1921", "blue | 1922"], ["red, 1921.", "blue, 1922."]),
        (["Room 1 | Ann", "Room 2 | Bob"], ["Room 1, Ann.", "Room 2, Bob."]),
        (["Maker: | Ann Lee", "Height: | 9 m"], ["Maker: Ann Lee.", "Height: 9 m."]),
        (
            ["Maker | Ann Lee", "Height | 9 m", "Colour | red"],
            ["Maker, Ann Lee.", "Height, 9 m.", "Colour, red."],
        ),
        (
            ["Town | Number of | Share of", " | lamps | houses", "Rowan | 4 | 7%"],
            ["Town: Rowan, Number of lamps: 4, Share of houses: 7%."],
        ),
        (
            ["Town | Oil | Gas", "Rowan | closed | closed", "Alder | 4 | 5"],
            ["Town: Rowan, Oil: closed, Gas: closed.", "Town: Alder, Oil: 4, Gas: 5."],
        ),
        (["Lamp | Made", "red"], ["Lamp: red."]),
        (
            [
                "Lamps of Rowan | |",
                "Counted in May | |",
                "Town | 1921 | 1922",
                "Rowan | 4 m | 11 m",
            ],
            ["Lamps of Rowan.", "Counted in May.", "Town: Rowan, 1921: 4 m, 1922: 11 m."],
        ),
        (
            ["Expenses |", "Rent | 90", "Income |", "Dues | 80"],
            ["Expenses.", "Rent, 90.", "Income.", "Dues, 80."],
        ),
        (["Lamp | Made"], ["Lamp, Made."]),
        (["Lamp", "red"], ["Lamp.", "red."]),
        ([], []),
    ],
)
def test_the_first_row_names_the_columns_if_it_looks_like_it(
    rows: list[str], sentences: list[str]
) -> None:
    assert list(row_sentences(split(*rows))) == sentences


def test_merged_cells_are_repeated_in_each_of_their_places() -> None:
    head = [Cell("Town", True, rows=2), Cell("Lamps", True, columns=2)]
    years = [Cell("1921", True), Cell("1922", True)]
    rowan = [Cell("Rowan", rows=2), Cell("4"), Cell("5")]
    still = [Cell("6", columns=2)]
    assert table_text([head, years, rowan, still]).sentences == [
        "Town: Rowan, Lamps 1921: 4, Lamps 1922: 5.",
        "Town: Rowan, Lamps 1921: 6, Lamps 1922: 6.",
    ]


def test_a_cell_over_all_columns_is_a_heading_of_the_rows_below_it_or_a_sentence() -> None:
    head = [Cell("Town", True), Cell("Lamps", True)]
    group, note = Cell("Northern towns", columns=2), Cell("Without candles", columns=2)
    rows = [head, [group], [Cell("Rowan"), Cell("4")], [note]]
    assert table_text(rows).sentences == [
        "Northern towns, Town: Rowan, Lamps: 4.",
        "Without candles.",
    ]


def test_a_row_below_merged_cells_names_columns_of_figures_and_no_others() -> None:
    head = [Cell("Town"), Cell("1921", columns=2)]
    names, figures = [Cell("Town"), Cell("Oil"), Cell("Gas")], [Cell("Rowan"), Cell("4"), Cell("5")]
    words = [Cell("Alder"), Cell("red"), Cell("blue")]
    assert table_text([head, names, figures]).sentences == [
        "Town: Rowan, 1921 Oil: 4, 1921 Gas: 5."
    ]
    assert table_text([head, words, words]).sentences == [
        "Town: Alder, 1921: red, 1921: blue.",
        "Town: Alder, 1921: red, 1921: blue.",
    ]


def test_a_heading_of_a_row_names_its_only_cell() -> None:
    rows = [[Cell("Height:", True), Cell("9 m")], [Cell("Made", True), Cell("1921")]]
    assert table_text(rows).sentences == ["Height: 9 m.", "Made: 1921."]


def test_a_heading_over_all_columns_names_the_table() -> None:
    rows = [[Cell("Rowan", True, columns=2)], [Cell("Lamps", True), Cell("640")]]
    assert table_text(rows).sentences == ["Rowan, Lamps: 640."]


def test_rows_that_are_too_wide_are_dropped_and_counted() -> None:
    found = table_text([[Cell("red"), Cell("7")], [Cell("wide", columns=10_000)], [Cell("end")]])
    assert found.sentences == ["red, 7.", "end."]
    assert found.dropped == [2]
