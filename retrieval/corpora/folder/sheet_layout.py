"""Reads what a sheet of an .xlsx hides and merges, which its library does not say row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from lxml import etree
from openpyxl.utils.cell import range_boundaries

from retrieval.corpora.folder.tables import MOST_COLUMNS, Cell

_READ = ("{*}row", "{*}c", "{*}col", "{*}mergeCell")
_YES = ("1", "true")


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells that are shown as one; columns and rows count from 1, the last ones included."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """``rows`` and ``columns``: the numbers of the hidden ones, from 1. ``merged``: by the top."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    merged: dict[int, list[Merged]] = field(default_factory=dict)


def sheet_layout(sheet: IO[bytes]) -> SheetLayout:
    """Return the layout of a sheet, given its XML.

    Raises:
        XMLSyntaxError: it is damaged.
    """
    found = SheetLayout()
    row = 0
    options = {"resolve_entities": False, "no_network": True, "huge_tree": True}
    for _, element in etree.iterparse(sheet, tag=_READ, **options):
        hidden = element.get("hidden") in _YES
        match etree.QName(element).localname:
            case "row":
                row = int(element.get("r") or row + 1)
                if hidden:
                    found.rows.add(row)
            case "col" if hidden:
                last = min(int(element.get("max", "0")), MOST_COLUMNS)
                found.columns.update(range(int(element.get("min", "1")), last + 1))
            case "mergeCell":
                cells = Merged(*range_boundaries(element.get("ref")))
                found.merged.setdefault(cells.top, []).append(cells)
        # What is read is let go, so that a sheet of a million rows fits into memory.
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return found


def shown_rows(rows: Iterator[Sequence[Cell]], layout: SheetLayout) -> Iterator[list[Cell]]:
    """Yield the rows without what is hidden, and with merged cells in each of their places.

    A row that has nothing but cells merged with those above is left out.
    """
    reaching: list[tuple[Merged, Cell]] = []
    for number, cells in enumerate(rows, start=1):
        row = list(cells)
        says = any(cell.text for cell in row)
        reaching = [(merged, cell) for merged, cell in reaching if merged.bottom >= number]
        for merged in layout.merged.get(number, ()):
            if merged.left <= len(row):
                reaching.append((merged, row[merged.left - 1]))
        for merged, cell in reaching:
            right = min(merged.right, MOST_COLUMNS)
            row += (Cell("") for _ in range(right - len(row)))
            row[merged.left - 1 : right] = [cell] * (right - merged.left + 1)
        if says and number not in layout.rows:
            yield [cell for at, cell in enumerate(row, start=1) if at not in layout.columns]
