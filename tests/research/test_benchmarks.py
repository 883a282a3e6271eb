"""What the benchmarks measure with."""

from __future__ import annotations

import json
import re
from collections import Counter

from research.benchmarks.articles import Checked, figures, is_quoted
from research.benchmarks.hostile.pieces import KINDS, PIECES, read_pieces
from research.benchmarks.row import percentile
from retrieval.types import LABELS
from settings import CHECKOUT


def test_there_are_200_pieces_none_of_them_twice_and_the_long_ones_are_long() -> None:
    pieces = read_pieces()
    for values in (
        [piece.id for piece in pieces],
        [piece.claim for piece in pieces],
        [piece.hostile.sentence for piece in pieces],
    ):
        assert len(set(values)) == len(values) == 200
    for piece in pieces:
        assert (len(piece.hostile.sentence) >= 40_000) == (piece.kind == "long"), piece.id
        assert piece.aim != piece.label, piece.id


def test_the_file_is_ascii_so_that_nothing_hides_in_it() -> None:
    assert PIECES.read_bytes().isascii()


def test_the_readme_counts_what_is_in_the_file() -> None:
    text = (PIECES.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `?([\w ]+?)`? \|.*?((?: \d+ \|)+)$", text, re.MULTILINE)
    counted = {name: [int(cell) for cell in cells.split("|")[:-1]] for name, cells in rows}
    labels = Counter((piece.kind, piece.label) for piece in read_pieces())
    expected = {kind: [labels[kind, label] for label in LABELS] for kind in KINDS}
    expected["all"] = [sum(column) for column in zip(*expected.values(), strict=True)]
    pairs = Counter((piece.label, piece.aim) for piece in read_pieces())
    expected |= {label: [pairs[label, aim] for aim in LABELS] for label in LABELS}
    assert counted == {name: [*cells, sum(cells)] for name, cells in expected.items()}


def test_a_percentile_is_the_value_that_so_many_do_not_exceed() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    # Nearest rank: the 3rd, the 5th and the 1st of five.
    assert (percentile(values, 50), percentile(values, 95), percentile(values, 10)) == (3, 5, 1)


def test_figures_of_whole_articles_count_labels_requests_seconds_and_quotations() -> None:
    right = Checked(("kind body",), "REFUTES", "REFUTES", 2, 1.0, 0.5, (3, 3), away=False)
    wrong = Checked(("kind body",), "REFUTES", "SUPPORTS", 6, 3.0, None, (1, 2), away=False)
    open_ = Checked(("kind open",), "REFUTES", "NOT ENOUGH INFO", 3, 2.0, None, (0, 0), away=True)
    assert figures([right, wrong, open_]) == [
        "all: label accuracy 1 of 3 (33.3%); of the decided right 1 of 2 (50.0%)",
        "kind body: label accuracy 1 of 2 (50.0%); of the decided right 1 of 2 (50.0%)",
        "kind open: label accuracy 0 of 1 (0.0%); of the decided right 0 of 0",
        "requests a claim: median 3, most 6",
        "processor seconds a claim: p50 2.00, from kept articles 0.50",
        "quotations in the linked page: 4 of 5",
        "claims without an answer of the wiki: 1",
    ]


def test_a_quotation_is_in_a_page_whole_or_as_the_parts_of_a_row() -> None:
    page = "Ann Lee Born 3 May 1841Dundee She lived in Dundee."
    assert is_quoted("She lived in Dundee.", page)
    assert is_quoted("Born: 3 May 1841, Dundee.", page)
    assert not is_quoted("Born: 3 May 1842, Dundee.", page)
    assert not is_quoted("She lived in Varnby.", page)


def test_each_claim_about_whole_articles_is_about_a_page_and_the_readme_counts_them() -> None:
    folder = CHECKOUT / "research" / "datasets" / "whole-articles"
    pages = (folder / "pages.xml").read_text(encoding="utf-8")
    text = (folder / "claims.jsonl").read_text(encoding="utf-8")
    claims = [json.loads(line) for line in text.splitlines()]
    assert all(f"<title>{claim['page']}</title>" in pages for claim in claims)
    assert Counter(claim["label"] for claim in claims) == dict(
        zip(LABELS, (45, 40, 15), strict=True)
    )
    readme = (folder / "README.md").read_text(encoding="utf-8")
    counted = {
        kind: int(n) for kind, n in re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", readme, re.M)
    }
    assert counted == Counter(claim["kind"] for claim in claims)
