"""Reads .odt: headings, paragraphs, tables, text boxes and notes, without what is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Document, Headings
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.folder.zipped import parsed, unpacked
from retrieval.corpora.passages import Block
from retrieval.corpora.raised import marked, settled

_NAMES = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
}


def _named(name: str) -> str:
    space, _, local = name.partition(":")
    return f"{{{_NAMES[space]}}}{local}"


_HEADING, _PARAGRAPH, _TABLE = map(_named, ("text:h", "text:p", "table:table"))
_ROW, _CELL, _COVERED = map(
    _named, ("table:table-row", "table:table-cell", "table:covered-table-cell")
)
_NOTE, _BODY, _BOX = map(_named, ("text:note", "text:note-body", "draw:text-box"))
_STYLE, _STYLE_NAME = _named("text:style-name"), _named("style:name")
_REPEATED = _named("table:number-columns-repeated")
_SPACES = set(map(_named, ("text:s", "text:tab", "text:line-break")))
_LEFT_OUT = set(map(_named, ("text:tracked-changes", "office:annotation", "text:table-of-content")))
_MOST_REPEATED = 500  # of a cell: empty ones are repeated up to the edge of the sheet


@dataclass(frozen=True, slots=True)
class _Styles:
    """The names of the styles whose text is above the line, and of those that are not shown."""

    raised: frozenset[str]
    hidden: frozenset[str]


def read(path: Path) -> Document:
    """Return the document.

    Raises:
        Unreadable: it is not an .odt, is encrypted or damaged, or is too large.
        OSError: the file cannot be read.
    """
    with unpacked(path) as archive:
        content = parsed(archive.read("content.xml"))
        meta = parsed(archive.read("meta.xml")) if "meta.xml" in archive.namelist() else None
    body = content.find("office:body/office:text", _NAMES)
    styles = _styles(content)
    said = meta.findtext(".//dc:title", "", _NAMES) if meta is not None else ""
    headings = [] if body is None else [_line(one, styles) for one in body.iter(_HEADING)]
    title = clean(said) or next(filter(None, headings), "")
    blocks = [] if body is None else list(_blocks(body, styles, Headings(title)))
    return Document(title, blocks)


def _styles(content: etree._Element) -> _Styles:
    raised, hidden = set(), set()
    for style in content.iterfind("office:automatic-styles/style:style", _NAMES):
        name = style.get(_STYLE_NAME, "")
        for text in style.iterfind("style:text-properties", _NAMES):
            position = text.get(_named("style:text-position"), "").split(" ")[0]
            if position == "super" or (position[:1].isdigit() and position != "0%"):
                raised.add(name)
            struck = text.get(_named("style:text-line-through-style"), "none") != "none"
            if struck or text.get(_named("text:display"), "true") == "none":
                hidden.add(name)
    return _Styles(frozenset(raised), frozenset(hidden))


def _blocks(parent: etree._Element, styles: _Styles, headings: Headings) -> Iterator[Block]:
    for child in parent:
        if child.tag in _LEFT_OUT:
            continue
        if child.tag == _TABLE:
            for text in row_sentences([_cells(row, styles) for row in child.iter(_ROW)]):
                yield Block(text, headings.section)
        elif child.tag == _HEADING:
            headings.add(int(child.get(_named("text:outline-level"), "1")), _line(child, styles))
        elif child.tag == _PARAGRAPH:
            yield Block(_line(child, styles), headings.section)
        else:
            yield from _blocks(child, styles, headings)
            continue
        # What stands beside or below a paragraph.
        for aside in child.iter(_BOX, _BODY):
            yield from _blocks(aside, styles, headings)


def _cells(row: etree._Element, styles: _Styles) -> list[str]:
    cells: list[str] = []
    for cell in row.iterchildren(_CELL, _COVERED):
        text = " ".join(_line(one, styles) for one in cell.iter(_PARAGRAPH, _HEADING))
        repeated = min(int(cell.get(_REPEATED, "1")), _MOST_REPEATED)
        cells += [clean(text)] * repeated
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _line(paragraph: etree._Element, styles: _Styles) -> str:
    """Return the text of a paragraph without its notes and boxes, which are blocks of their own."""
    if paragraph.get(_STYLE) in styles.hidden:
        return ""
    return clean(settled("".join(_pieces(paragraph, styles))))


def _pieces(element: etree._Element, styles: _Styles) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        style = child.get(_STYLE)
        if child.tag in _SPACES:
            yield " "
        elif child.tag not in {_NOTE, _BOX} | _LEFT_OUT and style not in styles.hidden:
            text = "".join(_pieces(child, styles))
            yield marked(text) if style in styles.raised and text else text
        yield child.tail or ""
