"""How the rows of tables are written as sentences."""

from __future__ import annotations

from retrieval.corpora.folder.tables import row_sentences
from tests.support.cases import cases


@cases("tables", "rows", "sentences")
def test_the_first_row_names_the_columns_if_it_looks_like_it(
    rows: list[str], sentences: list[str]
) -> None:
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert list(row_sentences(cells)) == sentences
