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
    "sSup": ("e", "sup"),
    "sSub": ("e", "sub"),
    "sSubSup": ("e", "sub", "sup"),
    "sPre": ("e", "sub", "sup"),
    "f": ("num", "den"),
    "rad": ("e", "deg"),
    "limLow": ("e", "lim"),
    "limits": ("e", "sub", "sup"),
}
_SAME = {"msup": "sSup", "msub": "sSub", "msubsup": "sSubSup", "mfrac": "f", "mroot": "rad"} | {
    "munder": "limLow",
    "munderover": "limits",
}
_LEFT_OUT = {"annotation", "annotation-xml", "rPr", "ctrlPr", "mphantom"} | {
    *("del", "moveFrom"),  # tracked changes
}
_FORMS: dict[str, Callable[..., str]] = {
    "sSup": lambda base, above: base + marked(above),
    "sSub": lambda base, below: (
        _with_limits(base, below) if _is_sign(base) else base + lowered(below)
    ),
    "sSubSup": lambda base, below, above: (
        _with_limits(base, below, above)
        if _is_sign(base)
        else base + lowered(below) + marked(above)
    ),
    "sPre": lambda base, below, above: marked(above) + lowered(below) + base,
    "limLow": lambda base, below: _with_limits(base, below),
    "limits": lambda base, below, above: _with_limits(base, below, above),
    "f": lambda over, under: f"{_grouped(over)}/{_grouped(under)}",
    "rad": lambda under, degree: _root(under, degree),
}
_LISTS = {  # what parts the elements of such an element, and what stands around them
    "eqArr": ("; ", "", ""),
    "m": ("; ", "[", "]"),
    "mr": (", ", "", ""),
    "mtable": ("; ", "[", "]"),
    "mtr": (", ", "", ""),
}
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_OF_ONE_NUMBER = {"r", "t", "mn", "ins"}  # elements that may hold some digits of a number
_NO_SCRIPT = {"none", "mprescripts"}
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


def formula(element: Any) -> str:
    """Return the text of a formula in one line, with exponents ``marked`` and indices ``lowered``.

    Put it into its line by ``beside``.
    """
    name = etree.QName(element).localname
    form = _SAME.get(name, name)
    if name == "f" and _said(element, "type", "") == "noBar":
        form = "binomial"
    elif name == "mfrac" and element.get("linethickness", "").strip("0.px") == "":
        form = "binomial" if "linethickness" in element.attrib else form
    if form == "binomial":
        return f"({' over '.join(map(formula, _shown(element)))})"
    if form in _FORMS:
        parts = _parts(element, form)
        if parts is not None:
            return _FORMS[form](*map(formula, parts))
    if name == "msqrt":
        return _root(_inner(element), "")
    if name in _LISTS:
        between, begin, end = _LISTS[name]
        return f"{begin}{between.join(map(formula, _shown(element)))}{end}"
    if name == "d":  # Word's brackets
        inner = _said(element, "sepChr", "|").join(map(formula, _shown(element)))
        return f"{_said(element, 'begChr', '(')}{inner}{_said(element, 'endChr', ')')}"
    if name == "mfenced":
        inner = ", ".join(map(formula, _shown(element)))
        return f"{element.get('open', '(')}{inner}{element.get('close', ')')}"
    if name == "mmultiscripts":
        return _with_scripts(_shown(element))
    if name == "mover":
        return _with_sign(*map(formula, _shown(element)))
    if name == "nary":  # a sum or an integral
        said = {etree.QName(e).localname: formula(e) for e in element.iterchildren("*")}
        sign = _with_limits(_said(element, "chr", "∫"), said.get("sub", ""), said.get("sup", ""))
        return sign + said.get("e", "")
    return f" {_inner(element)} " if name == "mtext" else _inner(element)


def beside(before: str, text: str) -> str:
    """Return a formula as it follows what stands before it: 3 and 1/2 are not 31/2."""
    return f" {text}" if before[-1:].isdigit() and text[:1].isdigit() else text


def _shown(element: Any) -> list[Any]:
    """Return the elements in an element that are shown."""
    children = [child for child in element if isinstance(child.tag, str)]
    names = [etree.QName(child).localname for child in children]
    return [
        child
        for child, name in zip(children, names, strict=True)
        if name not in _LEFT_OUT and not name.endswith("Pr")
    ]


def _parts(element: Any, form: str) -> list[Any] | None:
    """Return the parts of an element, ``None`` if it lacks one."""
    names = _PARTS[form]
    inner = [child for child in element if isinstance(child.tag, str)]
    if etree.QName(element).localname in _SAME:  # MathML gives them in order
        return inner if len(inner) == len(names) else None
    by_name = {etree.QName(child).localname: child for child in inner}
    if form == "rad" and "e" in by_name:  # a square root may lack its degree
        by_name.setdefault("deg", etree.Element("deg"))
    return [by_name[name] for name in names] if by_name.keys() >= {*names} else None


def _inner(element: Any) -> str:
    text = (element.text or "") if len(element) == 0 else ""
    number = True  # whether what comes next may continue a number
    for child in _shown(element):
        digits = etree.QName(child).localname in _OF_ONE_NUMBER
        more = formula(child)
        text += more if number and digits else beside(text, more)
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


def _with_scripts(parts: Sequence[Any]) -> str:
    """Return an element of MathML that has indices and exponents after and before it."""
    if not parts:
        return ""
    names = [etree.QName(part).localname for part in parts]
    before = names.index("mprescripts") if "mprescripts" in names else len(parts)

    def scripts(some: Sequence[Any]) -> list[tuple[str, str]]:
        texts = ["" if etree.QName(e).localname in _NO_SCRIPT else formula(e) for e in some]
        pairs = zip(texts[::2], texts[1::2], strict=False)
        return [(lowered(b) if b else "", marked(a) if a else "") for b, a in pairs]

    first = "".join(above + below for below, above in scripts(parts[before + 1 :]))
    last = "".join(below + above for below, above in scripts(parts[1:before]))
    return first + formula(parts[0]) + last


def _with_sign(base: str = "", over: str = "") -> str:
    """Return what has an accent above it, or a number: 3^7."""
    return f"{base}^{_grouped(over)}" if over.strip().isalnum() else base + over


def _is_sign(base: str) -> bool:
    """Return whether a base is the sign of a sum or an integral rather than a name."""
    return len(base) == 1 and not base.isalnum() and base not in ")]}"


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
    text = _COMMAND.sub(_sign_of_command, _SPACES.sub(" ", tex))
    if "\\" in text:  # it is better read as TeX
        return " ".join(tex.split())
    text = _POWER.sub(lambda found: exponent((found[1] or found[2] or "").strip()), text)
    while (fewer := _GROUP.sub(r"\1", text)) != text:
        text = fewer
    return " ".join(text.split())


def _sign_of_command(command: re.Match[str]) -> str:
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
