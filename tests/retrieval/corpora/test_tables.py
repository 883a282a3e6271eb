"""How the rows of tables are written as sentences."""

from __future__ import annotations

from retrieval.corpora.folder.tables import Cell, row_sentences, table_text
from tests.support.cases import cases


@cases("tables", "rows", "sentences")
def test_the_first_row_names_the_columns_if_it_looks_like_it(
    rows: list[str], sentences: list[str]
) -> None:
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert list(row_sentences(cells)) == sentences


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
