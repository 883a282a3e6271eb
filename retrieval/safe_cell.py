"""Cells for spreadsheets, for every table that is written."""

from __future__ import annotations

import re

# Spreadsheets take a cell that begins with one of these, also full-width, for a formula.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


def safe_cell(value: object) -> object:
    """Return the value so that no spreadsheet runs it as a formula; ``None`` becomes ""."""
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return "" if value is None else value
