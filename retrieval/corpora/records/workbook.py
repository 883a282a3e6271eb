"""Opens workbooks (.xlsx), and reads texts in them whose letters do not all look the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import IO, Any

import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.worksheet import _read_only
from openpyxl.worksheet._reader import WorkSheetParser

from retrieval.corpora.superscripts import lowered, marked, unmarked

# openpyxl does not pass its own option on for texts that are written into the cells.
_read_only.WorkSheetParser = partial(WorkSheetParser, rich_text=True)

_HEIGHTS = {"superscript": marked, "subscript": lowered}


def opened_workbook(file: Path | IO[bytes]) -> openpyxl.Workbook:
    """Return a workbook that is read row by row, with the values that formulas had last."""
    return openpyxl.load_workbook(file, read_only=True, data_only=True, rich_text=True)


def plain_text(value: Any) -> Any:
    """Return the text of a cell in plain characters (``unmarked``); any other value as it is."""
    return unmarked("".join(map(_piece, value))) if isinstance(value, CellRichText) else value


def _piece(piece: str | TextBlock) -> str:
    if isinstance(piece, str):
        return piece
    if piece.font.strike:
        return ""
    align = piece.font.vertAlign
    return _HEIGHTS[align](piece.text) if align in _HEIGHTS else piece.text
