"""Reads .docx: paragraphs, tables, text boxes and notes, in the sections of its headings.

Its styles say what is a heading, hidden, or above or below the line. The characters of the font
Symbol are numbered in Word's own way.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsmap, qn
from lxml import etree, html

from retrieval.corpora.boxes import box
from retrieval.corpora.folder.charts import charts_in
from retrieval.corpora.folder.document import FileText, first_title, hidden_text
from retrieval.corpora.folder.formula import FORMULA, beside, formula
from retrieval.corpora.folder.office import office_file, saved_on
from retrieval.corpora.folder.tree import LOWEST, shown
from retrieval.corpora.passages import ends_sentence, may_be_bold_heading
from retrieval.corpora.superscripts import lowered, marked

_P, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_WITHIN = {qn(f"w:{name}") for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo")}
_HIDDEN_ROW = "./w:trPr/w:del | ./w:trPr/w:hidden"
# Whether all letters are bold, and whether a cell is a part of the one above.
_NOT_BOLD = ".//w:r[w:t][not(w:rPr/w:b[not(@w:val='0' or @w:val='false')])]"
_IS_BOLD = f"boolean(.//w:r[w:t]) and not({_NOT_BOLD})"
_CONTINUES = "boolean(./w:tcPr/w:vMerge[not(@w:val) or @w:val='continue'])"
_KINDS = ("footnote", "endnote")
_LONGEST_HEADING = 100  # characters; longer sentences are paragraphs that look like headings
# Of the font Symbol, its numbers 0x20 to 0x7E and 0xA0 to 0xFE; a space is for what has none.
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
_TYPED = re.compile("[\uf020-\uf0ff]")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,8}")
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
_NOTE_MARKS = {qn("w:footnoteReference"), qn("w:endnoteReference")}
_MATH = {qn("m:oMath"), qn("m:oMathPara")}
_SDT = qn("w:sdt")
_BOX, _OBJECT = qn("w:txbxContent"), qn("w:object")
_TINY = 3  # half points
_COLOURED = ".//w:highlight | .//w:shd[not(@w:fill='auto' or @w:fill='FFFFFF' or @w:val='nil')]"
_STYLED = "ancestor::w:txbxContent | ancestor::w:tbl/w:tblPr/w:tblStyle[@w:val!='TableGrid']"
_RAISED = 4  # half points above the line from which on text is set above it


def read(path: Path) -> FileText:
    """Return the document."""
    with office_file(path) as file:
        document = docx.Document(file)
        reader = _Reader(_Styles(document), _notes(document))
        with zipfile.ZipFile(file) as archive:
            charts, without = charts_in(archive)
    tree = html.Element("div")
    reader.read(document.element.body, tree)
    for text in charts:
        etree.SubElement(tree, "p").text = text
    properties = document.core_properties
    unread = [*hidden_text("hidden text", reader.hidden), *without]
    return shown(tree).document(first_title(properties.title), saved_on(properties), unread)


class _Reader:
    """Makes HTML of what is in a file; ``hidden``: how many of its texts are invisible."""

    def __init__(self, styles: _Styles, notes: dict[tuple[str, str], Any]) -> None:
        self.hidden = 0
        self._styles = styles
        self._notes = notes

    def read(self, parent: Any, into: etree._Element) -> None:
        """Add the paragraphs and tables; text boxes and notes follow what they hang on.

        An item that is further in than the one before it is added to that one.
        """
        elements = list(_elements(parent, _P, _TABLE))
        bold = [element.tag == _P and element.xpath(_IS_BOLD) for element in elements]
        items: list[tuple[int, etree._Element]] = []  # those around the next one, with their depths
        for at, element in enumerate(elements):
            if element.tag == _TABLE:
                self._table(element, into)
                continue
            found = self._words(element)
            level, depth = self._styles.level(element), self._styles.depth(element)
            is_text = len(found.text) > _LONGEST_HEADING and ends_sentence(found.text)
            begins = bold[at : at + 2] == [True, False]  # of several bold lines the last
            if not level and begins and not depth and may_be_bold_heading(found.text):
                level = LOWEST
            tag = f"h{min(level, LOWEST)}" if level and not is_text else "p"
            tag = "li" if depth and tag == "p" else tag
            items = [item for item in items if tag == "li" and item[0] < depth]
            made = etree.SubElement(items[-1][1] if items else into, tag)
            made.text = found.text
            items += [(depth, made)] if tag == "li" else []
            self._hanging(found, into)

    def _words(self, paragraph: Any) -> _Words:
        """Return what a paragraph says."""
        found, pieces = _Words(), list[str]()
        self._read(paragraph, paragraph, found, pieces)
        text = "".join(pieces)
        found.text = "".join(c for c in text if c >= " " or c.isspace())  # as XML can have
        return found

    def _read(self, parent: Any, paragraph: Any, found: _Words, pieces: list[str]) -> None:
        for child in parent:
            tag = child.tag
            if tag == _RUN:
                look = self._styles.look(child, paragraph)
                inner: list[str] = []
                if look == "unseen":
                    self.hidden += bool("".join(child.itertext()).strip())
                elif look != "hidden":
                    self._read(child, paragraph, found, inner)
                if text := "".join(inner):
                    # Programs that make Word files of PDFs move whole words up and down.
                    touches = look == "up" and "".join(pieces[-1:])[-1:].strip()
                    above = look == "superscript" or touches
                    pieces.append(
                        marked(text) if above else lowered(text) if look == "subscript" else text
                    )
            elif tag == _FIELD:
                part = child.get(_FIELD_PART)
                if part == "begin":
                    found.fields.append(False)
                elif found.fields and part == "separate":
                    found.fields[-1] = True
                elif found.fields and part == "end":
                    found.fields.pop()
                pieces.append(_filled_in(child))
            elif tag == _TEXT:
                text = (child.text or "") if all(found.fields) else ""
                pieces.append(text if text.isascii() else _with_symbols(parent, text))
            elif tag in _SPACES:
                pieces.append(" ")
            elif tag == _HYPHEN:
                pieces.append("-")
            elif tag == _SYMBOL:
                code = child.get(qn("w:char"), "")
                number = int(code, 16) if _HEXADECIMAL.fullmatch(code) else 0
                pieces.append(_symbol(child.get(qn("w:font"), ""), number))
            elif tag in _NOTE_MARKS:
                found.notes.append(child)
                pieces.append(marked("[]"))  # so that it parts what stands around it
            elif tag in _MATH:
                pieces.append(beside("".join(pieces[-1:]), formula(child) or FORMULA))
            elif tag == _OBJECT and "Equation" in "".join(child.xpath(".//@ProgID")):
                pieces.append(FORMULA)
            elif tag == _BOX:
                found.boxes.append(child)
            elif tag not in _LEFT_OUT and not (
                tag == _SDT and child.find(_PLACEHOLDER, nsmap) is not None
            ):
                self._read(child, paragraph, found, pieces)

    def _hanging(self, found: _Words, into: etree._Element) -> None:
        for each in found.boxes:
            self.read(each, into)
        for reference in found.notes:
            kind = etree.QName(reference).localname.removesuffix("Reference")
            note = self._notes.pop((kind, reference.get(qn("w:id"), "")), None)  # each is read once
            if note is not None:
                self.read(note, into)

    def _table(self, table: Any, into: etree._Element) -> None:
        rows = [row for row in _elements(table, _ROW) if not row.xpath(_HIDDEN_ROW)]
        cells = [list(_elements(row, _CELL)) for row in rows]
        if all(len(row) < 2 for row in cells):  # a frame around paragraphs
            for cell in (cell for row in cells for cell in row):
                self.read(cell, into)
            return
        made = etree.SubElement(into, "table", role="table")
        hanging: list[_Words] = []
        inner: list[Any] = []
        above: dict[int, etree._Element] = {}  # by column the last cell that begins there
        for row, own in zip(rows, cells, strict=True):
            line = etree.SubElement(made, "tr")
            heading = bool(row.xpath("./w:trPr/w:tblHeader"))
            column = _number(row, "./w:trPr/w:gridBefore", 0)
            if column:
                etree.SubElement(line, "td", colspan=str(column))
            for cell in own:
                at, span = column, _number(cell, "./w:tcPr/w:gridSpan", 1)
                column += span
                if row is not rows[0] and cell.xpath(_CONTINUES):
                    if at in above:
                        above[at].set("rowspan", str(int(above[at].get("rowspan", "1")) + 1))
                    continue
                tag = "th" if heading or cell.xpath(_IS_BOLD) else "td"
                above[at] = etree.SubElement(line, tag, colspan=str(span))
                found = [self._words(paragraph) for paragraph in _elements(cell, _P)]
                if not cell.xpath("./w:tcPr/w:cellDel"):
                    above[at].text = " ".join(each.text for each in found)
                hanging += found
                inner += _elements(cell, _TABLE)
        for one in inner:
            self._table(one, into)
        for each in hanging:
            self._hanging(each, into)


def _elements(parent: Any, *tags: str) -> Iterator[Any]:
    """Yield the elements with these tags in order, also those in a form's fields."""
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag in _WITHIN:
            yield from _elements(child, *tags)


def _number(element: Any, path: str, otherwise: int) -> int:
    found = element.xpath(f"{path}/@w:val")
    return int(found[0]) if found and found[0].isdecimal() else otherwise


def _notes(document: Any) -> dict[tuple[str, str], Any]:
    """Return the notes of a file by their kind and id."""
    found = {}
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2].removesuffix("s")
        if kind in _KINDS and not relation.is_external:
            for note in parse_xml(relation.target_part.blob).iterchildren(qn(f"w:{kind}")):
                found[kind, note.get(qn("w:id"), "")] = note
    return found


def _symbol(font: str, code: int) -> str:
    """Return a character by its number in a font, as in ``w:sym``."""
    if font.lower() == "symbol":
        return _SYMBOLS.get(code & 0xFF, " ")
    if (known := _SIGNS.get(font.lower(), {}).get(code & 0xFF)) is not None:
        return known
    # A number of the font's own: the reader knows that there is something.
    own = code < 0x20 or 0xD800 <= code < 0xF900
    return "\N{REPLACEMENT CHARACTER}" if own else chr(code)


class _Styles:
    """The styles of a file."""

    def __init__(self, document: Any) -> None:
        """Read the styles of python-docx's ``document``."""
        self._elements = {style.style_id: style.element for style in document.styles}
        self._looks: dict[str, list[Any]] = {"": []}
        self._levels = {style_id: self._level(style_id) for style_id in self._elements}

    def level(self, paragraph: Any) -> int:
        """Return the level of a paragraph that is a heading, from 1, which is the title's; or 0."""
        return self._levels.get(paragraph.style or "", 0)

    def depth(self, paragraph: Any) -> int:
        """Return how deep an item of a list is, from 1; 0 for what is no item.

        The style says it ("List Bullet 2"), or the paragraph itself.
        """
        numbers = paragraph.find("w:pPr/w:numPr", nsmap)
        name = _value(self._bases(paragraph.style or "")[:1], "name").lower()
        if numbers is None and not name.startswith("list"):
            return 0
        last = name.rpartition(" ")[2]
        of_style = int(last) if name.startswith("list") and last.isdecimal() else 1
        own = _value([] if numbers is None else [numbers], "ilvl")
        return max(of_style, 1 + int(own) if own.isdecimal() else 1)

    def look(self, run: Any, paragraph: Any) -> str:
        """Return how a run of a paragraph looks, "" for as usual.

        "hidden" or struck out, "unseen" (tiny, or white on white), "superscript", "subscript", or
        "up": set higher, but not as an exponent.
        """
        own = [each for each in [run.find(_PROPERTIES)] if each is not None]
        style = _value(own, "rStyle", "")
        properties = own + self._properties(style) + self._properties(paragraph.style or "")
        if any(_value(properties, name) not in _OFF for name in ("vanish", "strike", "dstrike")):
            return "hidden"
        if self._is_unseen(properties, paragraph):
            return "unseen"
        align, height = _value(properties, "vertAlign"), _value(properties, "position")
        half_points = int(height) if height.lstrip("-").isdecimal() else 0
        if align in ("superscript", "subscript") or abs(half_points) < _RAISED:
            return align if align in ("superscript", "subscript") else ""
        return "up" if half_points > 0 else "subscript"

    def _is_unseen(self, properties: list[Any], paragraph: Any) -> bool:
        """Return whether a run is tiny, or white where no colour can be around it."""
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
            style_id = _value(found[-1:], "basedOn", "")
        return found

    def _level(self, style_id: str) -> int:
        for element in self._bases(style_id):
            words = _value([element], "name", "")
            if found := _HEADING.fullmatch(words):
                return int(found[1]) + 1
            if words == "Title":
                return 1
        return 0


def _value(properties: list[Any], name: str, otherwise: str = "0") -> str:
    """Return the value of a property where it is said first."""
    for each in properties:
        found = each.find(qn(f"w:{name}"))
        if found is not None:
            return str(found.get(_VALUE, "1"))
    return otherwise


@dataclass(slots=True)
class _Words:
    """What a paragraph says, with the marks of ``superscripts``.

    ``boxes``: the text boxes that hang on it. ``notes``: the references to its footnotes and
    endnotes. ``fields``: of those that are open while it is read, whether their result has begun:
    the instructions before it may contain text of other fields.
    """

    text: str = ""
    boxes: list[Any] = field(default_factory=list)
    notes: list[Any] = field(default_factory=list)
    fields: list[bool] = field(default_factory=list)


def _filled_in(begin: Any) -> str:
    """Return the box of an old form's field, or what is chosen of its list; "" for other fields."""
    for ticks in begin.iterfind("w:ffData/w:checkBox", nsmap):
        return box(_value([ticks], "checked", _value([ticks], "default")) not in _OFF)
    for choices in begin.iterfind("w:ffData/w:ddList", nsmap):
        entries = [entry.get(_VALUE, "") for entry in choices.iterfind("w:listEntry", nsmap)]
        chosen = _value([choices], "result")
        at = int(chosen) if chosen.isdecimal() else 0
        return entries[at] if at < len(entries) else ""
    return ""


def _with_symbols(run: Any, text: str) -> str:
    """Return a text with the characters of its font of symbols, as Word numbers them."""
    fonts = run.xpath("./w:rPr/w:rFonts/@w:ascii")
    font = str(fonts[0]) if fonts and "dings" in fonts[0] else "Symbol"
    return _TYPED.sub(lambda found: _symbol(font, ord(found[0])), text)
