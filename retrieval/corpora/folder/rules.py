"""Finds the horizontal lines drawn on a page of a PDF: between rows, and through words."""

from __future__ import annotations

from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

_MOST = 3000  # drawings of a page that are looked at; a map has more
_SHORTEST = 15.0  # points
_THIN = 2.5  # points; the height of a line, with what PDFium adds
_SHORTEST_THIN = 3.0  # points; a line through a word


class Rule(NamedTuple):
    """A horizontal line, or an edge of a box; lengths in points, ``height`` grows upwards."""

    left: float
    right: float
    height: float


def rules(page: pdfium.PdfPage) -> tuple[list[Rule], list[Rule]]:
    """Return the long horizontal lines and edges of a page, and its thin lines of any length.

    There are none if it has very many drawings.
    """
    found, thin = [], []
    drawings = page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1)
    for number, drawing in enumerate(drawings):
        if number == _MOST:
            return [], []
        left, bottom, right, top = drawing.get_bounds()
        if right - left >= _SHORTEST:
            found += [Rule(left, right, bottom), Rule(left, right, top)]
        if right - left >= _SHORTEST_THIN and top - bottom <= _THIN:
            thin.append(Rule(left, right, (bottom + top) / 2))
    return found, thin
