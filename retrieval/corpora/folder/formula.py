"""Writes formulas of Word and MathML in plain characters: x² + y, 1/(2a), √(b), [1, 2; 3, 4].

Numbers that stand apart in a formula never become one number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from lxml import etree

from retrieval.corpora.superscripts import exponent, lowered, marked

# Names of the elements of Word, and of those of MathML, which begin with "m".
_PARTS = {
    **dict.fromkeys(("sSubSup", "sPre", "limits"), ("e", "sub", "sup")),
    "sSup": ("e", "sup"),
    "sSub": ("e", "sub"),
    "f": ("num", "den"),
    "rad": ("e", "deg"),
    "limLow": ("e", "lim"),
}
_SAME = {"msup": "sSup", "msub": "sSub", "msubsup": "sSubSup", "mfrac": "f", "mroot": "rad"} | {
    "munder": "limLow",
    "munderover": "limits",
}
_LEFT_OUT = {
    *("annotation", "annotation-xml", "rPr", "ctrlPr", "mphantom"),
    *("del", "moveFrom"),  # tracked changes
}
_FORMS: dict[str, Callable[..., str]] = {
    "sSup": lambda base, above: base + marked(above),
    "sSub": lambda base, below: _with_scripts(base, below),
    "sSubSup": lambda base, below, above: _with_scripts(base, below, above),
    "sPre": lambda base, below, above: marked(above) + lowered(below) + base,
    "limLow": lambda base, below: _with_limits(base, below),
    "limits": lambda base, below, above: _with_limits(base, below, above),
    "f": lambda over, under: f"{_grouped(over)}/{_grouped(under)}",
    "rad": lambda under, degree: _root(under, degree),
}
_LISTS = {  # what parts the elements of such an element, and what stands around them
    **dict.fromkeys(("m", "mtable"), ("; ", "[", "]")),
    **dict.fromkeys(("mr", "mtr"), (", ", "", "")),
    "eqArr": ("; ", "", ""),
}
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_OF_ONE_NUMBER = {"r", "t", "mn", "ins"}  # elements that may hold some digits of a number
_NO_SCRIPT = {"none", "mprescripts"}
_LONGEST = 200  # characters of a formula that is part of a sentence
FORMULA = "[formula]"  # stands where one stood that has no text
_SIGNS = {"times": "\N{MULTIPLICATION SIGN}", "cdot": "·", "pm": "±", "leq": "≤", "geq": "≥"} | (
    {"neq": "≠", "approx": "≈", "infty": "∞", "to": "→", "in": "∈"}
)
_WITHOUT_SIGN = {
    *("displaystyle", "textstyle", "left", "right", "text", "mathrm", "mathbf", "mathbb"),
    "operatorname",
}
_DISPLAYED = re.compile(r"\{\\(?:display|text)style (.*)\}")
_SPACES = re.compile(r"\\[,;:! ]|~")
_COMMAND = re.compile(r"\\([A-Za-z]+) ?")
_GROUP = re.compile(r"\{([^{}]*)\}")
_POWER = re.compile(r"\^(?:\{([^{}^_]*)\}|(\w))")


def formula(element: Any) -> str:
    """Return the text of a formula in one line, with exponents ``marked`` and indices ``lowered``.

    Put it into its line by ``beside``.
    """
    name = _name(element)
    form = _SAME.get(name, name)
    shown = _shown(element)
    thickness = element.get("linethickness", "1") if name == "mfrac" else "1"
    if (name == "f" and _said(element, "type", "") == "noBar") or not thickness.strip("0.px"):
        return f"({' over '.join(map(formula, shown))})"
    if form in _FORMS and (parts := _parts(element, form)) is not None:
        return _FORMS[form](*map(formula, parts))
    if name == "msqrt":
        return _root(_inner(element), "")
    if name in _LISTS:
        between, begin, end = _LISTS[name]
        return f"{begin}{between.join(map(formula, shown))}{end}"
    if name == "d":  # Word's brackets
        inner = _said(element, "sepChr", "|").join(map(formula, shown))
        return f"{_said(element, 'begChr', '(')}{inner}{_said(element, 'endChr', ')')}"
    if name == "mfenced":
        inner = ", ".join(map(formula, shown))
        return f"{element.get('open', '(')}{inner}{element.get('close', ')')}"
    if name == "mmultiscripts":
        return _with_all_scripts(shown) if shown else ""
    if name == "mover":
        return _with_sign(*map(formula, shown))
    if name == "nary":  # a sum or an integral
        said = {_name(each): formula(each) for each in element.iterchildren("*")}
        sign = _with_limits(_said(element, "chr", "∫"), said.get("sub", ""), said.get("sup", ""))
        return sign + said.get("e", "")
    return f" {_inner(element)} " if name == "mtext" else _inner(element)


def _name(element: Any) -> str:
    name: str = etree.QName(element).localname
    return name


def beside(before: str, text: str) -> str:
    """Return a formula as it follows what stands before it: 3 and 1/2 are not 31/2."""
    return f" {text}" if before[-1:].isdigit() and text[:1].isdigit() else text


def _shown(element: Any) -> list[Any]:
    """Return the elements in an element that are shown."""
    children = [child for child in element if isinstance(child.tag, str)]
    return [c for c in children if _name(c) not in _LEFT_OUT and not _name(c).endswith("Pr")]


def _parts(element: Any, form: str) -> list[Any] | None:
    """Return the parts of an element, ``None`` if it lacks one."""
    names = _PARTS[form]
    inner = [child for child in element if isinstance(child.tag, str)]
    if _name(element) in _SAME:  # MathML gives them in order
        return inner if len(inner) == len(names) else None
    by_name = {_name(child): child for child in inner}
    if form == "rad" and "e" in by_name:  # a square root may lack its degree
        by_name.setdefault("deg", etree.Element("deg"))
    return [by_name[name] for name in names] if by_name.keys() >= {*names} else None


def _inner(element: Any) -> str:
    text = (element.text or "") if len(element) == 0 else ""
    number = True  # whether what comes next may continue a number
    for child in _shown(element):
        digits = _name(child) in _OF_ONE_NUMBER
        text += formula(child) if number and digits else beside(text, formula(child))
        number = digits
    return text


def _said(element: Any, name: str, otherwise: str) -> str:
    """Return the value that the properties of an element of Word give to a name."""
    kind = etree.QName(element)
    space = f"{{{kind.namespace}}}"
    found = element.find(f"{space}{kind.localname}Pr/{space}{name}")
    return otherwise if found is None else str(next(iter(found.values()), otherwise))


def _root(under: str, degree: str) -> str:
    if degree in _ROOTS:
        return f"{_ROOTS[degree]}{_grouped(under)}"
    return f"{_grouped(under)}^(1/{_grouped(degree)})"


def _with_all_scripts(parts: Sequence[Any]) -> str:
    """Return an element of MathML that has indices and exponents after and before it."""
    names = list(map(_name, parts))
    before = names.index("mprescripts") if "mprescripts" in names else len(parts)

    def scripts(some: Sequence[Any]) -> list[tuple[str, str]]:
        texts = ["" if _name(each) in _NO_SCRIPT else formula(each) for each in some]
        pairs = zip(texts[::2], texts[1::2], strict=False)
        return [(lowered(b) if b else "", marked(a) if a else "") for b, a in pairs]

    first = "".join(above + below for below, above in scripts(parts[before + 1 :]))
    last = "".join(below + above for below, above in scripts(parts[1:before]))
    return first + formula(parts[0]) + last


def _with_scripts(base: str, below: str, above: str | None = None) -> str:
    """Return a name with an index and an exponent, or the sign of a sum with its limits."""
    if len(base) == 1 and not base.isalnum() and base not in ")]}":
        return _with_limits(base, below, above or "")
    return base + lowered(below) + ("" if above is None else marked(above))


def _with_sign(base: str = "", over: str = "") -> str:
    """Return what has an accent above it, or a number: 3^7."""
    return f"{base}^{_grouped(over)}" if over.strip().isalnum() else base + over


def _with_limits(sign: str, below: str, above: str = "") -> str:
    """Return the sign of a sum or an integral: "∫_0^1 ", whose limits are not one number."""
    marks = ((mark, text) for mark, text in (("_", below), ("^", above)) if text)
    return "".join([sign, *(f"{mark}{_grouped(text)}" for mark, text in marks), " "])


def _grouped(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def formula_of_tex(tex: str) -> str:
    """Return a formula in TeX as it can stand in a sentence, "" if it is too long for that."""
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
    if name in _WITHOUT_SIGN or name in _SIGNS:
        return _SIGNS.get(name, "")
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    name = "lamda" if name == "lambda" else name
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return command[0]
