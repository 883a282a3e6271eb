"""Reads .docx: paragraphs, tables, text boxes and notes, in the sections of its headings."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.charts import charts_in
from retrieval.corpora.folder.document import FileText, Headings, Unreadable, hidden_text
from retrieval.corpora.folder.tree import shown
from retrieval.corpora.folder.word_text import Styles, Words, words
from retrieval.corpora.folder.zipped import office_file, saved_on
from retrieval.corpora.passages import ends_sentence

_P, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_WITHIN = {qn(f"w:{name}") for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo")}
_HIDDEN_ROW = "./w:trPr/w:del | ./w:trPr/w:hidden"
_NOTES = {  # the types of relationships to a file's notes, and the element of a note
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes": "footnote",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/endnotes": "endnote",
}
_LONGEST_HEADING = 100  # characters; longer sentences are paragraphs that look like headings
_DAMAGED = "Open it in a word processor and save it again."


def read(path: Path) -> FileText:
    """Return the document.

    Raises:
        Unreadable: it is not a .docx, is encrypted or damaged, is too large, or has no text.
        OSError: the file cannot be read.
    """
    try:
        with office_file(path) as file:
            document = docx.Document(file)
            body = document.element.body
            styles = Styles(document)
            notes = _notes(document)
            with zipfile.ZipFile(file) as archive:
                charts, without = charts_in(archive)
    except (Unreadable, OSError, MemoryError):
        raise
    except Exception as error:  # of zipfile, lxml and python-docx, which does not list its own
        raise Unreadable(
            f"the file is damaged, or is not a .docx ({_first_line(error)}).", _DAMAGED
        ) from error
    tree = html.Element("div")
    reader = _Reader(styles, notes)
    reader.read(body, tree)
    for text in charts:
        etree.SubElement(tree, "p").text = text
    found = shown(tree)
    title = clean(document.core_properties.title or "")
    if not title or title.lower() == "word document":  # what python-docx's own template has
        title = next((piece.text for piece in found.pieces if piece.level), "")
    blocks = list(found.blocks(Headings(title)))
    if not blocks:
        raise Unreadable("the file has no text.", "If it holds pictures of text, run OCR first.")
    unread = [*found.unread, *hidden_text("hidden text", reader.hidden), *without]
    return FileText(title, blocks, None, unread, saved=saved_on(document.core_properties))


class _Reader:
    """Makes HTML of what is in a file; ``hidden``: how many of its texts are invisible."""

    def __init__(self, styles: Styles, notes: dict[tuple[str, str], Any]) -> None:
        self.hidden = 0
        self._styles = styles
        self._notes = notes

    def read(self, parent: Any, into: etree._Element) -> None:
        """Add the paragraphs and tables; text boxes and notes follow what they hang on."""
        for element in _elements(parent, _P, _TABLE):
            if element.tag == _TABLE:
                self._table(element, into)
                continue
            found = words(element, self._styles)
            self.hidden += found.hidden
            level = self._styles.level(element)
            is_text = len(found.text) > _LONGEST_HEADING and ends_sentence(found.text)
            tag = "li" if self._styles.is_item(element) else "p"
            tag = f"h{min(level, 6)}" if level and not is_text else tag
            etree.SubElement(into, tag).text = _written(found.text)
            self._hanging(found.boxes, found.notes, into)

    def _hanging(self, boxes: list[Any], references: list[Any], into: etree._Element) -> None:
        for box in boxes:
            self.read(box, into)
        for reference in references:
            note = self._notes.pop(_note_id(reference), None)  # once, if several places refer to it
            if note is not None:
                self.read(note, into)

    def _table(self, table: Any, into: etree._Element) -> None:
        rows = [row for row in _elements(table, _ROW) if not row.xpath(_HIDDEN_ROW)]
        if all(len(list(_elements(row, _CELL))) < 2 for row in rows):  # a frame around paragraphs
            for row in rows:
                for cell in _elements(row, _CELL):
                    self.read(cell, into)
            return
        made = etree.SubElement(into, "table", role="table")
        hanging: list[Words] = []
        inner: list[Any] = []
        for row, cells in zip(rows, _cells(rows), strict=True):
            line = etree.SubElement(made, "tr")
            heading = bool(row.xpath("./w:trPr/w:tblHeader"))
            for cell, spans in cells:
                found = (
                    [] if cell is None else [words(p, self._styles) for p in _elements(cell, _P)]
                )
                is_head = heading or (cell is not None and _is_bold(cell))
                place = etree.SubElement(line, "th" if is_head else "td", spans)
                if cell is not None and not cell.xpath("./w:tcPr/w:cellDel"):
                    place.text = _written(" ".join(each.text for each in found))
                self.hidden += sum(each.hidden for each in found)
                hanging += found
                inner += [] if cell is None else _elements(cell, _TABLE)
        for each in hanging:
            self._hanging(each.boxes, [], into)
        for one in inner:
            self._table(one, into)
        for each in hanging:
            self._hanging([], each.notes, into)


def _written(text: str) -> str:
    """Return a text without the characters that XML cannot have."""
    return "".join(c for c in text if c >= " " or c.isspace())


def _elements(parent: Any, *tags: str) -> Iterator[Any]:
    """Yield the elements with these tags in order, also those in a form's fields."""
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag in _WITHIN:
            yield from _elements(child, *tags)


def _cells(rows: list[Any]) -> list[list[tuple[Any, dict[str, str]]]]:
    """Return the cells of each row with their spans; ``None`` where a row leaves places free.

    One that is merged downwards is in the first of its rows.
    """
    placed = [list(_placed(row)) for row in rows]
    continued = [
        {column for column, cell in row if cell is not None and _continues(cell)} for row in placed
    ]
    found: list[list[tuple[Any, dict[str, str]]]] = []
    for at, cells in enumerate(placed):
        found.append([])
        for column, cell in cells:
            if cell is None:
                found[-1].append((None, {"colspan": str(column)}))
            elif not (at and column in continued[at]):
                below = list(takewhile(partial(_is_in, column), continued[at + 1 :]))
                spans = {"colspan": str(_span(cell)), "rowspan": str(1 + len(below))}
                found[-1].append((cell, spans))
    return found


def _is_in(column: int, columns: set[int]) -> bool:
    return column in columns


def _placed(row: Any) -> Iterator[tuple[int, Any]]:
    """Yield each cell with its column; before the first ``None`` with how many are left free."""
    column = _value(row, "./w:trPr/w:gridBefore", 0)
    if column:
        yield column, None
    for cell in _elements(row, _CELL):
        yield column, cell
        column += _span(cell)


def _is_bold(cell: Any) -> bool:
    runs = cell.xpath(".//w:r[w:t]")
    bold = cell.xpath(".//w:r[w:t][w:rPr/w:b[not(@w:val='0' or @w:val='false')]]")
    return bool(runs) and len(bold) == len(runs)


def _continues(cell: Any) -> bool:
    merged = cell.xpath("./w:tcPr/w:vMerge")
    return bool(merged) and merged[0].get(qn("w:val"), "continue") == "continue"


def _span(cell: Any) -> int:
    return _value(cell, "./w:tcPr/w:gridSpan", 1)


def _value(element: Any, path: str, otherwise: int) -> int:
    found = element.xpath(f"{path}/@w:val")
    return int(found[0]) if found and found[0].isdecimal() else otherwise


def _notes(document: Any) -> dict[tuple[str, str], Any]:
    """Return the notes of a file by their kind and id."""
    found = {}
    for relation in document.part.rels.values():
        kind = _NOTES.get(relation.reltype)
        if kind and not relation.is_external:
            for note in parse_xml(relation.target_part.blob).iterchildren(qn(f"w:{kind}")):
                found[kind, note.get(qn("w:id"), "")] = note
    return found


def _note_id(reference: Any) -> tuple[str, str]:
    kind = "footnote" if reference.tag == qn("w:footnoteReference") else "endnote"
    return kind, reference.get(qn("w:id"), "")


def _first_line(error: Exception) -> str:
    return clean(str(error).partition("\n")[0])[:200] or type(error).__name__
