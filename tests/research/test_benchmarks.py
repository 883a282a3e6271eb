"""What the benchmarks measure with."""

from __future__ import annotations

import re
from collections import Counter

from research.benchmarks.hostile.pieces import KINDS, PIECES, read_pieces
from research.benchmarks.row import percentile
from retrieval.types import LABELS


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
