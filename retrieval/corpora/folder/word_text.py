"""The words of a paragraph of a Word file as Word shows them, and what hangs on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from docx.oxml.ns import qn

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.formula import beside, formula
from retrieval.corpora.folder.symbols import symbol, typed_symbols
from retrieval.corpora.folder.word_styles import Styles
from retrieval.corpora.superscripts import lowered, marked, unmarked

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Neither deleted text, nor spelling aids, nor the copy of a text box for old versions of Word.
_LEFT_OUT = {qn(f"w:{name}") for name in ("del", "moveFrom", "rt", "pPr", "rPr", "tbl")} | {
    f"{_COMPATIBILITY}Fallback"
}
_RUN, _TEXT, _SYMBOL, _HYPHEN = qn("w:r"), qn("w:t"), qn("w:sym"), qn("w:noBreakHyphen")
_FIELD, _FIELD_PART = qn("w:fldChar"), qn("w:fldCharType")
_SPACES = {qn(f"w:{name}") for name in ("tab", "br", "cr", "ptab")}
_NOTES = {qn("w:footnoteReference"), qn("w:endnoteReference")}
_MATH = {qn("m:oMath"), qn("m:oMathPara")}
_BOX, _OBJECT = qn("w:txbxContent"), qn("w:object")
_FORMULA = "[formula]"  # stands where one stood that has no text


@dataclass(slots=True)
class Words:
    """What a paragraph says.

    Attributes:
        text: with white space folded.
        boxes: the text boxes that hang on it.
        notes: the references to its footnotes and endnotes.
        fields: of those that are open while it is read, whether their result has begun: the
            instructions before it may contain text of other fields.
    """

    text: str = ""
    boxes: list[Any] = field(default_factory=list)
    notes: list[Any] = field(default_factory=list)
    fields: list[bool] = field(default_factory=list)


def words(paragraph: Any, styles: Styles) -> Words:
    """Return what a paragraph says."""
    found = Words()
    pieces: list[str] = []
    _read(paragraph, paragraph, styles, found, pieces)
    found.text = clean(unmarked("".join(pieces)))
    return found


def _read(parent: Any, paragraph: Any, styles: Styles, found: Words, pieces: list[str]) -> None:
    for child in parent:
        tag = child.tag
        if tag == _RUN:
            look = styles.look(child, paragraph)
            if look.shown:
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
        elif tag not in _LEFT_OUT:
            _read(child, paragraph, styles, found, pieces)


def _follow(part: str | None, fields: list[bool]) -> None:
    """Open a field, go on to its result, or close it."""
    if part == "begin":
        fields.append(False)
    elif fields and part == "separate":
        fields[-1] = True
    elif fields and part == "end":
        fields.pop()


def _font(run: Any) -> str:
    """Return the font of the symbols that are typed in a run."""
    fonts = run.xpath("./w:rPr/w:rFonts/@w:ascii")
    return "Symbol" if not fonts or "dings" not in fonts[0] else str(fonts[0])


def _number(digits: str | None) -> int:
    try:
        return int(digits or "", 16)
    except ValueError:
        return 0
