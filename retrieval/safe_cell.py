"""Cells for spreadsheets, for every table that is written."""

from __future__ import annotations

import re

# Spreadsheets take a cell that begins with one of these, also full-width, for a formula. Where a
# semicolon parts their cells, they read a quotation mark within a line as any other character: what
# follows a semicolon, a tab or the end of a line in a cell begins another cell.
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"^(?=\s*{_SIGN})|(?<=[;\t\r\n])(?=[^\S\t\r\n]*{_SIGN})")


def safe_cell(value: object) -> object:
    """Return the value so that no spreadsheet runs it as a formula; ``None`` becomes ""."""
    if isinstance(value, str):
        return _FORMULA.sub("'", value)
    return "" if value is None else value
