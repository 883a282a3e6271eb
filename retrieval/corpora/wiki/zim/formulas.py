"""Writes TeX of a formula in plain characters as far as that is simple: E=mc²."""

from __future__ import annotations

import re
import unicodedata

from retrieval.corpora.superscripts import exponent

_LONGEST = 200  # characters of a formula that is part of a sentence
_SIGNS = {
    "times": "\N{MULTIPLICATION SIGN}",
    "cdot": "·",
    "pm": "±",
    "leq": "≤",
    "geq": "≥",
    "neq": "≠",
    "approx": "≈",
    "infty": "∞",
    "to": "→",
    "in": "∈",
}
_WITHOUT_SIGN = {
    *("displaystyle", "textstyle", "left", "right", "text", "mathrm", "mathbf", "mathbb"),
    "operatorname",
}
_DISPLAYED = re.compile(r"\{\\(?:display|text)style (.*)\}")
_SPACES = re.compile(r"\\[,;:! ]|~")
_COMMAND = re.compile(r"\\([A-Za-z]+) ?")
_GROUP = re.compile(r"\{([^{}]*)\}")
_POWER = re.compile(r"\^(?:\{([^{}^_]*)\}|(\w))")


def formula(tex: str) -> str:
    """Return a formula as it can stand in a sentence, "" if it is too long for that."""
    if len(tex) > _LONGEST:
        return ""
    if found := _DISPLAYED.fullmatch(tex.strip()):
        tex = found[1]
    text = _COMMAND.sub(_sign, _SPACES.sub(" ", tex))
    if "\\" in text:  # it is better read as TeX
        return " ".join(tex.split())
    text = _POWER.sub(lambda found: exponent((found[1] or found[2] or "").strip()), text)
    while (fewer := _GROUP.sub(r"\1", text)) != text:
        text = fewer
    return " ".join(text.split())


def _sign(command: re.Match[str]) -> str:
    name = command[1]
    if name in _WITHOUT_SIGN:
        return ""
    if name in _SIGNS:
        return _SIGNS[name]
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    name = "lamda" if name == "lambda" else name
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return command[0]
