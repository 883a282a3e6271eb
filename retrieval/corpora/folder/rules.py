"""Finds the horizontal lines that are drawn on a page of a PDF, such as those between the rows."""

from __future__ import annotations

from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

_MOST = 3000  # drawings of a page that are looked at; a map has more
_SHORTEST = 15.0  # points


class Rule(NamedTuple):
    """A horizontal line, or an edge of a box; lengths in points, ``height`` grows upwards."""

    left: float
    right: float
    height: float


def rules(page: pdfium.PdfPage) -> list[Rule]:
    """Return the horizontal lines and edges of a page, none if it has very many drawings."""
    found = []
    drawings = page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1)
    for number, drawing in enumerate(drawings):
        if number == _MOST:
            return []
        left, bottom, right, top = drawing.get_bounds()
        if right - left >= _SHORTEST:
            found += [Rule(left, right, bottom), Rule(left, right, top)]
    return found
