"""Reads .odt and .ods: texts, tables, text boxes and notes, without what is not shown."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, hidden_text, iso_day
from retrieval.corpora.folder.formula import FORMULA, beside, formula
from retrieval.corpora.folder.office import parsed, unpacked
from retrieval.corpora.folder.tables import Cell, table_text, tables_in
from retrieval.corpora.folder.tree import shown
from retrieval.corpora.passages import Block
from retrieval.corpora.superscripts import lowered, marked, unmarked

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
_NAMES = {name: _OASIS.format(name) for name in ("office", "style", "table", "text")} | {
    "draw": _OASIS.format("drawing"),
    "fo": _OASIS.format("xsl-fo-compatible"),
    "dc": "http://purl.org/dc/elements/1.1/",
    "xlink": "http://www.w3.org/1999/xlink",
}


def _named(name: str) -> str:
    space, _, local = name.partition(":")
    return f"{{{_NAMES[space]}}}{local}"


_HEADING, _PARAGRAPH, _TABLE = map(_named, ("text:h", "text:p", "table:table"))
_ROW, _CELL = map(_named, ("table:table-row", "table:table-cell"))
_HEAD_ROWS = _named("table:table-header-rows")
_GROUPS = {_HEAD_ROWS, *map(_named, ("table:table-rows", "table:table-row-group"))}
_NOTE, _BODY, _BOX = map(_named, ("text:note", "text:note-body", "draw:text-box"))
_STYLE, _STYLE_NAME = _named("text:style-name"), _named("style:name")
_SPACES = set(map(_named, ("text:s", "text:tab", "text:line-break")))
_LEFT_OUT = set(map(_named, ("text:tracked-changes", "office:annotation", "text:table-of-content")))
_LEFT_OUT |= set(map(_named, ("text:hidden-text", "text:ruby-text")))
_SECTION, _DISPLAY, _OBJECT = map(_named, ("text:section", "text:display", "draw:object"))
_VISIBILITY, _COLLAPSED = _named("table:visibility"), {"collapse", "filter"}
_TINY = re.compile(r"(?:0?\.\d+|[01](?:\.\d+)?)pt")
_NO_HEIGHT = re.compile(r"-?[0.]*%?")
_SHEETS = ".//style:style[@style:name=$style]/*/@table:display"  # "false" of hidden ones
_ITEM = _named("text:list-item")
_MOST_REPEATED = 500  # of a cell: empty ones are repeated up to the edge of the sheet
_MOST_BASES = 10  # styles that a style is based on, one on the other


@dataclass(frozen=True, slots=True)
class _Look:
    """What a style says of its text; ``trick``: whether it is tiny, or white on nothing."""

    height: str | None = None
    struck: bool | None = None
    unseen: bool | None = None
    trick: bool = False


def read(path: Path) -> FileText:
    """Return the document."""
    tree = html.Element("div")
    blocks: list[Block] = []
    with unpacked(path) as archive:
        names = ("content.xml", "styles.xml", "meta.xml")
        known = {*archive.namelist(), "content.xml"}
        content, common, meta = (
            parsed(archive.read(name)) if name in known else etree.Element("none") for name in names
        )
        reader = _Reader(archive, _looks(content, common))
        for body in content.iterfind("office:body/office:text", _NAMES):
            reader.read(body, tree)
        for sheet in content.iterfind("office:body/office:spreadsheet/table:table", _NAMES):
            name, style = (sheet.get(_named(f"table:{one}"), "") for one in ("name", "style-name"))
            if "false" not in content.xpath(_SHEETS, style=style, namespaces=_NAMES):
                tables = map(
                    partial(table_text, said=[name], of_data=True), tables_in(reader.sheet(sheet))
                )
                texts = (text for sentences, _ in tables for text in sentences)
                blocks += (Block(text, (name,), kind="row") for text in texts)
    title, day = (meta.findtext(f".//dc:{part}", "", _NAMES) for part in ("title", "date"))
    unread = hidden_text("hidden text", reader.hidden)
    document = shown(tree).document(clean(title), iso_day(day), unread)
    return replace(document, blocks=[*blocks, *document.blocks])


def _looks(*roots: etree._Element) -> dict[str, _Look]:
    """Return the looks of a file's styles by their names, with what they are based on."""
    styles: dict[str, etree._Element] = {}
    for root in roots:
        for style in root.iter(_named("style:style")):
            styles.setdefault(style.get(_STYLE_NAME, ""), style)
    return {name: _look(name, styles) for name in styles}


def _look(name: str, styles: dict[str, etree._Element]) -> _Look:
    said: dict[str, str] = {}
    ground = ""
    for _ in range(_MOST_BASES):
        if name not in styles:
            break
        for text in styles[name].iterfind("style:text-properties", _NAMES):
            said = {**text.attrib, **said}
        for whole in styles[name].iterfind("style:paragraph-properties", _NAMES):
            ground = ground or whole.get(_named("fo:background-color"), "")
        name = styles[name].get(_named("style:parent-style-name"), "")
    height = next(iter(said.get(_named("style:text-position"), "").split()), None)
    if height is not None and height not in ("super", "sub"):
        height = "" if _NO_HEIGHT.fullmatch(height) else "sub" if height[0] == "-" else "super"
    line, display = said.get(_named("style:text-line-through-style")), said.get(_DISPLAY)
    grounds = {said.get(_named("fo:background-color"), ""), ground}
    is_white = said.get(_named("fo:color"), "").lower() == "#ffffff"
    is_tiny = bool(_TINY.fullmatch(said.get(_named("fo:font-size"), "")))
    return _Look(
        height,
        line != "none" if line else None,
        display == "none" if display else None,
        (is_white and grounds <= {"", "transparent", "#ffffff"}) or is_tiny,
    )


class _Reader:
    """Makes HTML of what is in a file, in order; ``hidden``: how many invisible texts it has."""

    def __init__(self, archive: zipfile.ZipFile, looks: dict[str, _Look]) -> None:
        self.hidden = 0
        self._archive = archive
        self._looks = looks

    def read(self, parent: etree._Element, into: etree._Element) -> None:
        """Add paragraphs and tables; text boxes and notes follow what they hang on."""
        for child in parent:
            hidden = child.tag == _SECTION and (
                child.get(_DISPLAY) == "none" or child.get(_named("text:is-hidden")) == "true"
            )
            if child.tag in _LEFT_OUT or hidden:
                continue
            if child.tag == _TABLE:
                self._table(child, into)
            elif child.tag in (_HEADING, _PARAGRAPH):
                level = min(int(child.get(_named("text:outline-level"), "1")), 6)
                name = f"h{level}" if child.tag == _HEADING else "p"
                etree.SubElement(into, name).text = self._line(child)
                for aside in child.iter(_BOX, _BODY):
                    self.read(aside, into)
            else:
                self.read(child, etree.SubElement(into, "li") if child.tag == _ITEM else into)

    def _table(self, table: etree._Element, into: etree._Element) -> None:
        rows = [row for row in _rows(table) if row.get(_VISIBILITY) not in _COLLAPSED]
        made = etree.SubElement(into, "table", role="table")
        for row in rows:
            line = etree.SubElement(made, "tr")
            for cell in self.cells(row):
                spans = {"colspan": str(cell.columns), "rowspan": str(cell.rows)}
                etree.SubElement(line, "th" if cell.heading else "td", spans).text = cell.text
        for cell in (cell for row in rows for cell in row.iterchildren(_CELL)):
            for inner in cell.iterchildren(_TABLE):
                self._table(inner, into)
            for aside in cell.iter(_BOX, _BODY):
                if next(aside.iterancestors(_CELL)) is cell:
                    self.read(aside, into)

    def sheet(self, table: etree._Element) -> Iterator[list[Cell]]:
        """Yield the rows of a sheet, one for all empty rows that follow each other."""
        for row in _rows(table):
            cells = self.cells(row)
            says = any(cell.text for cell in cells)
            if row.get(_VISIBILITY) not in _COLLAPSED:
                repeated = _count(row, "table:number-rows-repeated")
                yield from [cells] * (min(repeated, _MOST_REPEATED) if says else 1)

    def cells(self, row: etree._Element) -> list[Cell]:
        """Return the cells of a row; those that a merged one covers are parts of it."""
        cells: list[Cell] = []
        for cell in row.iterchildren(_CELL):
            texts = [
                self._line(text)
                for text in cell.iter(_PARAGRAPH, _HEADING)
                if next(text.iterancestors(_CELL, _BOX, _BODY)) is cell  # not a note or a table
            ]
            found = Cell(
                clean(unmarked(" ".join(texts))),
                row.getparent().tag == _HEAD_ROWS,
                _count(cell, "table:number-columns-spanned"),
                _count(cell, "table:number-rows-spanned"),
            )
            repeated = _count(cell, "table:number-columns-repeated")
            cells += [found] * min(repeated, _MOST_REPEATED)
        while cells and not cells[-1].text and cells[-1].columns == cells[-1].rows == 1:
            cells.pop()
        return cells

    def _line(self, paragraph: etree._Element) -> str:
        """Return the text of a paragraph without its notes and boxes, with marks of heights."""
        look = self._looks.get(paragraph.get(_STYLE, ""), _Look())
        if paragraph.find("text:hidden-paragraph", _NAMES) is not None or look.unseen:
            return ""
        return self._seen(paragraph, look, bool(look.struck))

    def _seen(self, element: etree._Element, look: _Look, struck: bool) -> str:
        pieces: list[str] = []
        self._collect(element, pieces, struck)
        text = "".join(pieces)
        self.hidden += bool(look.trick and text.strip())
        return "" if look.trick else text

    def _collect(self, element: etree._Element, pieces: list[str], struck: bool) -> None:
        pieces.append("" if struck else element.text or "")
        for child in element:
            look = self._looks.get(child.get(_STYLE, ""), _Look())
            if child.tag in _SPACES:
                pieces.append(" ")
            elif child.tag == _OBJECT:
                pieces.append(beside("".join(pieces[-1:]), self._object(child)))
            elif child.tag not in {_NOTE, _BOX} | _LEFT_OUT and not look.unseen:
                text = self._seen(child, look, struck if look.struck is None else look.struck)
                if text and look.height:
                    text = marked(text) if look.height == "super" else lowered(text)
                pieces.append(text)
            elif child.tag == _NOTE:
                pieces.append(marked("[]"))  # so that it parts what stands around it
            pieces.append("" if struck else child.tail or "")

    def _object(self, element: etree._Element) -> str:
        """Return a formula that is a file of its own, "" for other objects."""
        root = element.find("{http://www.w3.org/1998/Math/MathML}math")
        name = posixpath.normpath(element.get(_named("xlink:href"), "")) + "/content.xml"
        if root is None and name in self._archive.namelist():
            root = parsed(self._archive.read(name))
        if root is None or etree.QName(root).localname != "math":
            return ""
        return " ".join(formula(root).split()) or FORMULA


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """Yield the rows of a table, not those of tables in it."""
    for child in table:
        if child.tag == _ROW:
            yield child
        elif child.tag in _GROUPS:
            yield from _rows(child)


def _count(element: etree._Element, name: str) -> int:
    digits = element.get(_named(name), "1")
    return max(1, int(digits)) if digits.isdecimal() else 1
