"""Writes text that is set above the line in plain characters: 10⁶, km², x^k, 19th.

Without that, "10<sup>6</sup>" would be read as 106. Text below the line stays as it is, because
formulas are usually written like that: H2O, CO2.
"""

from __future__ import annotations

import re

_PLAIN = "0123456789+-\N{MINUS SIGN}\N{EN DASH}=()ni"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ"
_TABLE = str.maketrans(_PLAIN, _RAISED)
_BACK = str.maketrans(_RAISED[:10], _PLAIN[:10])
_NOTE = re.compile(r"\[[^\[\]]{0,40}\]")
_SIMPLE = re.compile(r"[A-Za-z0-9.,]+")
_SLASH = "\N{FRACTION SLASH}"
_FRACTION = re.compile(rf"([⁰¹²³⁴-⁹]+)(?={_SLASH}\d)")


def raised(text: str, variable: bool = False) -> str:
    """Return what stands for a text above the line, "" for the mark of a note, such as "[1]".

    Args:
        text: with white space folded.
        variable: whether it is set as a variable is, in italics.
    """
    if _NOTE.fullmatch(text):
        return ""
    if text in {"n", "i"}:
        return text.translate(_TABLE)
    if text.isalpha():  # "19th", "McDonald"; but e^x
        return f"^{text}" if variable else text
    if not any(map(str.isalnum, text)) or " " in text:
        return text
    if set(text) <= set(_PLAIN):
        return text.translate(_TABLE)
    return f"^{text}" if _SIMPLE.fullmatch(text) else f"^({text})"


def with_fractions(text: str) -> str:
    """Return a text with the numerators of fractions on the line: 1/2 with a fraction slash."""
    if _SLASH not in text:
        return text
    return _FRACTION.sub(lambda found: found[1].translate(_BACK), text)
