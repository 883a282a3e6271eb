"""What the styles of a Word file say: headings, hidden text, text above and below the line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from docx.oxml.ns import qn

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MOST_BASES = 10  # styles that a style is based on, one on the other
_OFF = {"0", "false", "off"}
_PROPERTIES, _VALUE = qn("w:rPr"), qn("w:val")


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks.

    ``shown``: whether it is neither hidden nor struck out. ``moved_up``: whether it is set higher,
    but not as an exponent.
    """

    shown: bool
    raised: bool
    lowered: bool = False
    moved_up: bool = False


_PLAIN = Look(shown=True, raised=False)
_RAISED = 4  # half points above the line from which on text is set above it


class Styles:
    """The styles of a file."""

    def __init__(self, document: Any) -> None:
        """Read the styles of python-docx's ``document``."""
        self._elements = {style.style_id: style.element for style in document.styles}
        self._looks: dict[str, list[Any]] = {"": []}
        self._levels = {style_id: self._level(style_id) for style_id in self._elements}

    def level(self, paragraph: Any) -> int:
        """Return the level of a paragraph that is a heading, from 1, which is the title's; or 0."""
        return self._levels.get(paragraph.style or "", 0)

    def look(self, run: Any, paragraph: Any) -> Look:
        """Return how a run of a paragraph looks."""
        own = run.find(_PROPERTIES)
        named = None if own is None else own.find(qn("w:rStyle"))
        style = "" if named is None else named.get(_VALUE, "")
        properties = [] if own is None else [own]
        properties += self._properties(style) + self._properties(paragraph.style or "")
        if not properties:
            return _PLAIN
        shown = all(_value(properties, name) in _OFF for name in ("vanish", "strike", "dstrike"))
        align, height = _value(properties, "vertAlign"), _value(properties, "position")
        half_points = int(height) if height.lstrip("-").isdecimal() else 0
        return Look(
            shown,
            raised=align == "superscript",
            lowered=align == "subscript" or half_points <= -_RAISED,
            moved_up=half_points >= _RAISED,
        )

    def _properties(self, style_id: str) -> list[Any]:
        """Return what a style and those that it is based on say of the look."""
        if style_id not in self._looks:
            found = (element.find(_PROPERTIES) for element in self._bases(style_id))
            self._looks[style_id] = [each for each in found if each is not None]
        return self._looks[style_id]

    def _bases(self, style_id: str) -> list[Any]:
        """Return a style and those that it is based on."""
        found: list[Any] = []
        while style_id in self._elements and len(found) < _MOST_BASES:
            found.append(self._elements[style_id])
            based = found[-1].find(qn("w:basedOn"))
            style_id = "" if based is None else based.get(_VALUE, "")
        return found

    def _level(self, style_id: str) -> int:
        for element in self._bases(style_id):
            name = element.find(qn("w:name"))
            words = "" if name is None else name.get(_VALUE, "")
            if found := _HEADING.fullmatch(words):
                return int(found[1]) + 1
            if words == "Title":
                return 1
        return 0


def _value(properties: list[Any], name: str) -> str:
    """Return the value of a property where it is said first, "0" if it is not said."""
    for each in properties:
        found = each.find(qn(f"w:{name}"))
        if found is not None:
            return str(found.get(_VALUE, "1"))
    return "0"
