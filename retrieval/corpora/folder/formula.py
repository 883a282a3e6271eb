"""Writes formulas of Word and MathML in plain characters: x² + y, 1/(2a), √(b)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree

from retrieval.corpora.raised import marked

# Names of the elements of Word, and of those of MathML, which begin with "m".
_PARTS = {
    "sSup": ("e", "sup"),
    "sSub": ("e", "sub"),
    "sSubSup": ("e", "sub", "sup"),
    "f": ("num", "den"),
    "rad": ("e",),
    "limLow": ("e", "lim"),
    "limits": ("e", "sub", "sup"),
}
_SAME = {"msup": "sSup", "msub": "sSub", "msubsup": "sSubSup", "mfrac": "f", "msqrt": "rad"} | {
    "munder": "limLow",
    "munderover": "limits",
}
_LEFT_OUT = {"annotation", "annotation-xml", "rPr", "ctrlPr", "deg", "mphantom"}
_FORMS: dict[str, Callable[..., str]] = {
    "sSup": lambda base, above: base + marked(above),
    "sSub": lambda base, below: _with_limits(base, below) if _is_sign(base) else base + below,
    "sSubSup": lambda base, below, above: (
        _with_limits(base, below, above) if _is_sign(base) else base + below + marked(above)
    ),
    "limLow": lambda base, below: _with_limits(base, below),
    "limits": lambda base, below, above: _with_limits(base, below, above),
    "f": lambda over, under: f"{_grouped(over)}/{_grouped(under)}",
    "rad": lambda under: f"√{_grouped(under)}",
}


def formula(element: Any) -> str:
    """Return the text of a formula in one line, with ``marked`` exponents in it."""
    name = etree.QName(element).localname
    form = _SAME.get(name, name)
    if form in _FORMS:
        parts = _parts(element, form)
        if parts is not None:
            return _FORMS[form](*map(formula, parts))
    if name == "d":  # Word's brackets
        return f"{_said(element, 'begChr', '(')}{_inner(element)}{_said(element, 'endChr', ')')}"
    if name == "nary":  # a sum or an integral
        said = {etree.QName(e).localname: formula(e) for e in element.iterchildren("*")}
        sign = _with_limits(_said(element, "chr", "∫"), said.get("sub", ""), said.get("sup", ""))
        return sign + said.get("e", "")
    return f" {_inner(element)} " if name == "mtext" else _inner(element)


def _parts(element: Any, form: str) -> list[Any] | None:
    """Return the parts of an element, ``None`` if it lacks one."""
    names = _PARTS[form]
    inner = [child for child in element if isinstance(child.tag, str)]
    if etree.QName(element).localname in _SAME:  # MathML gives them in order
        if form == "rad":
            return inner if len(inner) == 1 else None
        return inner if len(inner) == len(names) else None
    by_name = {etree.QName(child).localname: child for child in inner}
    return [by_name[name] for name in names] if names and by_name.keys() >= {*names} else None


def _inner(element: Any) -> str:
    pieces = [element.text or ""] if len(element) == 0 else []
    pieces += [
        formula(child)
        for child in element
        if isinstance(child.tag, str) and etree.QName(child).localname not in _LEFT_OUT
    ]
    return "".join(pieces)


def _said(element: Any, name: str, otherwise: str) -> str:
    """Return the character that the properties of an element of Word name."""
    found = next(element.iter(f"{{{etree.QName(element).namespace}}}{name}"), None)
    return otherwise if found is None else str(next(iter(found.values()), otherwise))


def _is_sign(base: str) -> bool:
    """Return whether a base is the sign of a sum or an integral rather than a name."""
    return len(base) == 1 and not base.isalnum() and base not in ")]}"


def _with_limits(sign: str, below: str, above: str = "") -> str:
    """Return the sign of a sum or an integral: "∫_0^1 ", whose limits are not one number."""
    marks = ((mark, text) for mark, text in (("_", below), ("^", above)) if text)
    return "".join([sign, *(f"{mark}{_grouped(text)}" for mark, text in marks), " "])


def _grouped(text: str) -> str:
    return text if text.isalnum() else f"({text})"
