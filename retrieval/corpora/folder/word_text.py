"""The words of a paragraph of a Word file as Word shows them, and what hangs on it.

Its styles say what is a heading, hidden, or above or below the line. The characters of the font
Symbol are numbered in Word's own way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from docx.oxml.ns import nsmap, qn

from retrieval.corpora.boxes import box
from retrieval.corpora.folder.formula import beside, formula
from retrieval.corpora.superscripts import lowered, marked

# Of the font's numbers 0x20 to 0x7E and 0xA0 to 0xFE; a space stands for what has none.
_LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟ"  # noqa: RUF001
    "ΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"  # noqa: RUF001
)
_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…   ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉"  # noqa: RUF001
    "∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑           〉∫⌠ ⌡         "  # noqa: RUF001
)
_SYMBOLS = {0x20 + at: c for at, c in enumerate(_LOW)} | {
    0xA0 + at: c for at, c in enumerate(_HIGH)
}
# Of fonts of signs only those are known that forms are made of.
_SIGNS = {
    "wingdings": {0x6F: "☐", 0xA8: "☐", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    "wingdings 2": {0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
}
# Stands for another character of such a font, so that the reader knows of it.
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_TYPED = re.compile("[\uf020-\uf0ff]")
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MOST_BASES = 10  # styles that a style is based on, one on the other
_OFF = {"0", "false", "off"}
_PROPERTIES, _VALUE = qn("w:rPr"), qn("w:val")
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Neither deleted text, nor spelling aids, nor the copy of a text box for old versions of Word.
_PLACEHOLDER = "w:sdtPr/w:showingPlcHdr"
_LEFT_OUT = {qn(f"w:{name}") for name in ("del", "moveFrom", "rt", "pPr", "rPr", "tbl")} | {
    f"{_COMPATIBILITY}Fallback"
}
_RUN, _TEXT, _SYMBOL, _HYPHEN = qn("w:r"), qn("w:t"), qn("w:sym"), qn("w:noBreakHyphen")
_FIELD, _FIELD_PART = qn("w:fldChar"), qn("w:fldCharType")
_SPACES = {qn(f"w:{name}") for name in ("tab", "br", "cr", "ptab")}
_NOTES = {qn("w:footnoteReference"), qn("w:endnoteReference")}
_MATH = {qn("m:oMath"), qn("m:oMathPara")}
_SDT = qn("w:sdt")
_BOX, _OBJECT = qn("w:txbxContent"), qn("w:object")
_FORMULA = "[formula]"  # stands where one stood that has no text


def symbol(font: str, code: int) -> str:
    """Return a character by its number in a font, as in ``w:sym``."""
    if font.lower() == "symbol":
        return _SYMBOLS.get(code & 0xFF, " ")
    if (known := _SIGNS.get(font.lower(), {}).get(code & 0xFF)) is not None:
        return known
    if code < 0x20 or 0xD800 <= code < 0xF900:  # a number of the font's own
        return UNKNOWN
    return chr(code)


def typed_symbols(font: str, text: str) -> str:
    """Return a text in which characters of a font of symbols are written as Word numbers them."""
    return _TYPED.sub(lambda found: symbol(font, ord(found[0])), text)


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks.

    ``shown``: whether it is neither hidden nor struck out. ``moved_up``: whether it is set higher,
    but not as an exponent. ``seen``: whether its letters have a size, and are not white on white.
    """

    shown: bool
    raised: bool
    lowered: bool = False
    moved_up: bool = False
    seen: bool = True


_PLAIN = Look(shown=True, raised=False)
_TINY = 3  # half points
_COLOURED = ".//w:highlight | .//w:shd[not(@w:fill='auto' or @w:fill='FFFFFF' or @w:val='nil')]"
_STYLED = "ancestor::w:txbxContent | ancestor::w:tbl/w:tblPr/w:tblStyle[@w:val!='TableGrid']"
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

    def is_item(self, paragraph: Any) -> bool:
        """Return whether a paragraph is an item of a list."""
        named = self._elements.get(paragraph.style or "")
        name = None if named is None else named.find(qn("w:name"))
        numbered = paragraph.find("w:pPr/w:numPr", nsmap) is not None
        return numbered or (name is not None and name.get(_VALUE, "").lower().startswith("list"))

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
            seen=not self._is_unseen(properties, paragraph),
        )

    def _is_unseen(self, properties: list[Any], paragraph: Any) -> bool:
        """Return whether a run is tiny, or white where nothing has a colour around it.

        Tables and shapes may have colours by their styles.
        """
        size = _value(properties, "sz")
        if size.isdecimal() and 0 < int(size) <= _TINY:
            return True
        if _value(properties, "color").upper() != "FFFFFF":
            return False
        around = [*properties, *self._bases(paragraph.style or ""), paragraph]
        around += paragraph.xpath("ancestor::w:tc/w:tcPr")
        coloured = any(each.xpath(_COLOURED) for each in around)
        return not coloured and not paragraph.xpath(_STYLED)

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


@dataclass(slots=True)
class Words:
    """What a paragraph says.

    Attributes:
        text: as it is, with the marks of ``superscripts``.
        boxes: the text boxes that hang on it.
        notes: the references to its footnotes and endnotes.
        fields: of those that are open while it is read, whether their result has begun: the
            instructions before it may contain text of other fields.
        hidden: how many runs have invisible letters.
    """

    text: str = ""
    boxes: list[Any] = field(default_factory=list)
    notes: list[Any] = field(default_factory=list)
    fields: list[bool] = field(default_factory=list)
    hidden: int = 0


def words(paragraph: Any, styles: Styles) -> Words:
    """Return what a paragraph says."""
    found = Words()
    pieces: list[str] = []
    _read(paragraph, paragraph, styles, found, pieces)
    found.text = "".join(pieces)
    return found


def _read(parent: Any, paragraph: Any, styles: Styles, found: Words, pieces: list[str]) -> None:
    for child in parent:
        tag = child.tag
        if tag == _RUN:
            look = styles.look(child, paragraph)
            found.hidden += look.shown and not look.seen and bool("".join(child.itertext()).strip())
            if look.shown and look.seen:
                inner: list[str] = []
                _read(child, paragraph, styles, found, inner)
                shown = "".join(inner)
                if shown:
                    # Programs that make Word files of PDFs move whole words up and down.
                    touches = look.moved_up and "".join(pieces[-1:])[-1:].strip()
                    raised = look.raised or touches
                    pieces.append(
                        marked(shown) if raised else lowered(shown) if look.lowered else shown
                    )
        elif tag == _FIELD:
            _follow(child.get(_FIELD_PART), found.fields)
            pieces.append(_filled_in(child))
        elif tag == _TEXT:
            text = (child.text or "") if all(found.fields) else ""
            pieces.append(text if text.isascii() else typed_symbols(_font(parent), text))
        elif tag in _SPACES:
            pieces.append(" ")
        elif tag == _HYPHEN:
            pieces.append("-")
        elif tag == _SYMBOL:
            pieces.append(symbol(child.get(qn("w:font"), ""), _number(child.get(qn("w:char")))))
        elif tag in _NOTES:
            found.notes.append(child)
            pieces.append(marked("[]"))  # so that it parts what stands around it
        elif tag in _MATH:
            pieces.append(beside("".join(pieces[-1:]), formula(child) or _FORMULA))
        elif tag == _OBJECT and "Equation" in "".join(child.xpath(".//@ProgID")):
            pieces.append(_FORMULA)
        elif tag == _BOX:
            found.boxes.append(child)
        elif tag not in _LEFT_OUT and not (
            tag == _SDT and child.find(_PLACEHOLDER, nsmap) is not None
        ):
            _read(child, paragraph, styles, found, pieces)


def _follow(part: str | None, fields: list[bool]) -> None:
    """Open a field, go on to its result, or close it."""
    if part == "begin":
        fields.append(False)
    elif fields and part == "separate":
        fields[-1] = True
    elif fields and part == "end":
        fields.pop()


def _filled_in(begin: Any) -> str:
    """Return the box of an old form's field, or what is chosen of its list; "" for other fields."""
    for ticks in begin.iterfind("w:ffData/w:checkBox", nsmap):
        said = ticks.find(qn("w:checked"))
        said = ticks.find(qn("w:default")) if said is None else said
        return box(said is not None and said.get(_VALUE, "1") not in _OFF)
    for choices in begin.iterfind("w:ffData/w:ddList", nsmap):
        entries = [entry.get(_VALUE, "") for entry in choices.iterfind("w:listEntry", nsmap)]
        chosen = choices.find(qn("w:result"))
        at = _number("0" if chosen is None else chosen.get(_VALUE))
        return entries[at] if at < len(entries) else ""
    return ""


def _font(run: Any) -> str:
    """Return the font of the symbols that are typed in a run."""
    fonts = run.xpath("./w:rPr/w:rFonts/@w:ascii")
    return "Symbol" if not fonts or "dings" not in fonts[0] else str(fonts[0])


def _number(digits: str | None) -> int:
    try:
        return int(digits or "", 16)
    except ValueError:
        return 0
