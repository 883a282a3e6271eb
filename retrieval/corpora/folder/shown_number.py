"""Writes numbers about as a spreadsheet shows them: 12%, $320."""

from __future__ import annotations

import re

_LOCALE = re.compile(r"\[\$-[^\]]*\]|\[\$([^\]-]*)[^\]]*\]|\\|\"")
_PERCENT = re.compile(r"0(?:\.(0+))?\s?%")
_CURRENCY = re.compile(r"^[^0#;]*?([$€£¥])")


def shown_number(value: float, form: str) -> str:
    """Return a number in the form that the format code of a cell or a chart asks for."""
    form = _LOCALE.sub(r"\1", form)
    if percent := _PERCENT.search(form):
        return f"{value:.{len(percent[1] or '')}%}"
    # A spreadsheet computes with 15 digits.
    digits = format(value, ".15g")
    text = digits if "e" in digits else format(value, f",.{len(digits.partition('.')[2])}f")
    text = text if "," in form else text.replace(",", "")
    currency = _CURRENCY.search(form)
    return f"{currency[1]}{text}" if currency else text
