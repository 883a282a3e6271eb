"""Writes the rows of a table as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_ENDS = (".", "!", "?", "…")
# A year, "2019/20", "FY 2020", "Q1", "Q1 2020".
_PERIOD = re.compile(
    r"(?:FY ?)?(?:1[5-9]|20)\d\d(?: ?[/–-] ?\d\d(?:\d\d)?)?\*?|[QH][1-4](?: ?/?(?:1[5-9]|20)\d\d)?"  # noqa: RUF001
)
_FIGURE = re.compile(r"[^\w]*\d[\d\s.,]*[^\w]*|[-–—.]|n/?a", re.IGNORECASE)  # noqa: RUF001


def row_sentences(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a sentence for each row, such as "Lamp: red, 1921: two.".

    The cells of the first row name the columns if there are rows below it and each of them has
    words and no digits, is a year or another period, or has words above figures only; the first
    one may be empty. Cells are given with white space folded.
    """
    first, *others = [list(row) for row in rows] or [[]]
    named = _are_names(first, others)
    for row in others if named else [first, *others]:
        names = first if named and len(row) == len(first) else [""] * len(row)
        cells = [
            f"{name}: {cell}" if name else cell
            for name, cell in zip(names, row, strict=True)
            if cell
        ]
        if cells:
            sentence = ", ".join(cells).replace(":, ", ": ")
            yield sentence if sentence.endswith(_ENDS) else f"{sentence}."


def _are_names(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    if len(first) < 2 or not others:
        return False
    below = [
        [row[place] for row in others if len(row) == len(first)] for place in range(len(first))
    ]
    return all(
        _is_a_name(cell, column) or (not cell and place == 0)
        for place, (cell, column) in enumerate(zip(first, below, strict=True))
    )


def _is_a_name(cell: str, below: Sequence[str]) -> bool:
    if _PERIOD.fullmatch(cell):
        return True
    if not any(c.isalpha() for c in cell):
        return False
    return not any(c.isdigit() for c in cell) or all(_FIGURE.fullmatch(one) for one in below if one)
