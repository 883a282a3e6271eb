"""Writes the rows of a table as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_ENDS = (".", "!", "?", "…")


def row_sentences(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a sentence for each row, such as "Lamp: red, year: 1921.".

    The cells of the first row name the columns if each of them has words and no digits, and
    there are rows below it. Cells are given with white space folded.
    """
    first, *others = [list(row) for row in rows] or [[]]
    named = len(first) > 1 and bool(others) and all(map(_is_a_name, first))
    for row in others if named else [first, *others]:
        names = first if named and len(row) == len(first) else [""] * len(row)
        cells = [
            f"{name}: {cell}" if name else cell
            for name, cell in zip(names, row, strict=True)
            if cell
        ]
        if cells:
            sentence = ", ".join(cells)
            yield sentence if sentence.endswith(_ENDS) else f"{sentence}."


def _is_a_name(cell: str) -> bool:
    return any(c.isalpha() for c in cell) and not any(c.isdigit() for c in cell)
