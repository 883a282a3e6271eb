"""Reads .docx: paragraphs, tables, text boxes and notes, in the sections of its headings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import qn

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import (
    FileText,
    Headings,
    Unread,
    Unreadable,
    dropped_rows,
    unread_charts,
)
from retrieval.corpora.folder.tables import Cell, table_text
from retrieval.corpora.folder.word_text import Styles, words
from retrieval.corpora.folder.zipped import office_file
from retrieval.corpora.passages import Block, ends_sentence

_P, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_WITHIN = {qn(f"w:{name}") for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo")}
_CHARTS = ".//a:graphicData[contains(@uri, '/chart')]"
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
    except (Unreadable, OSError, MemoryError):
        raise
    except Exception as error:  # of zipfile, lxml and python-docx, which does not list its own
        raise Unreadable(
            f"the file is damaged, or is not a .docx ({_first_line(error)}).", _DAMAGED
        ) from error
    title = _title(document, body, styles)
    reader = _Reader(styles, notes, title)
    blocks = list(reader.blocks(body))
    if not any(block.text for block in blocks):
        raise Unreadable("the file has no text.", "If it holds pictures of text, run OCR first.")
    charts = unread_charts(len(body.xpath(_CHARTS)))
    return FileText(title, blocks, unread=[*reader.unread, *charts])


class _Reader:
    """Reads what is in a file in order; a heading counts for all that follows it."""

    def __init__(self, styles: Styles, notes: dict[tuple[str, str], Any], title: str) -> None:
        self.unread: list[Unread] = []
        self._styles = styles
        self._notes = notes
        self._headings = Headings(title)
        self._tables = 0

    def blocks(self, parent: Any) -> Iterator[Block]:
        """Yield the paragraphs and rows; text boxes and notes follow what they hang on."""
        for element in _elements(parent, _P, _TABLE):
            if element.tag == _TABLE:
                yield from self._table(element)
                continue
            found = words(element, self._styles)
            level = self._styles.level(element)
            is_text = len(found.text) > _LONGEST_HEADING and ends_sentence(found.text)
            if level and not is_text:
                self._headings.add(level, found.text)
            else:
                yield Block(found.text, self._headings.section)
            yield from self._hanging(found.boxes, found.notes)

    def _hanging(self, boxes: list[Any], references: list[Any]) -> Iterator[Block]:
        for box in boxes:
            yield from self.blocks(box)
        for reference in references:
            note = self._notes.pop(_note_id(reference), None)  # once, if several places refer to it
            if note is not None:
                yield from self.blocks(note)

    def _table(self, table: Any) -> Iterator[Block]:
        rows = [row for row in _elements(table, _ROW) if not row.xpath(_HIDDEN_ROW)]
        if all(len(list(_elements(row, _CELL))) < 2 for row in rows):  # a frame around paragraphs
            for row in rows:
                for cell in _elements(row, _CELL):
                    yield from self.blocks(cell)
            return
        self._tables += 1
        number = self._tables
        boxes: list[Any] = []
        references: list[Any] = []

        def text(cell: Any) -> str:
            found = [words(each, self._styles) for each in _elements(cell, _P)]
            for each in found:
                boxes.extend(each.boxes)
                references.extend(each.notes)
            boxes.extend([cell] if next(_elements(cell, _TABLE), None) is not None else [])
            return "" if cell.xpath("./w:tcPr/w:cellDel") else " ".join(each.text for each in found)

        read = table_text(_cells(rows, text))
        self.unread += dropped_rows(number, read.dropped)
        for sentence in read.sentences:
            yield Block(sentence, self._headings.section)
        for box in boxes:
            if box.tag == _CELL:
                for inner in _elements(box, _TABLE):
                    yield from self._table(inner)
            else:
                yield from self.blocks(box)
        yield from self._hanging([], references)


def _elements(parent: Any, *tags: str) -> Iterator[Any]:
    """Yield the elements with these tags in order, also those in a form's fields."""
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag in _WITHIN:
            yield from _elements(child, *tags)


def _cells(rows: list[Any], text: Callable[[Any], str]) -> list[list[Cell]]:
    """Return the cells of each row; one that is merged downwards is in the first of its rows."""
    placed = [list(_placed(row)) for row in rows]
    continued = [
        {column for column, cell in row if cell is not None and _continues(cell)} for row in placed
    ]
    found: list[list[Cell]] = []
    for at, (row, cells) in enumerate(zip(rows, placed, strict=True)):
        heading = bool(row.xpath("./w:trPr/w:tblHeader"))
        found.append([])
        for column, cell in cells:
            if cell is None:
                found[-1].append(Cell("", heading, column))
            elif not (at and column in continued[at]):
                below = list(takewhile(partial(_is_in, column), continued[at + 1 :]))
                height = 1 + len(below)
                found[-1].append(Cell(text(cell), heading or _is_bold(cell), _span(cell), height))
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


def _title(document: Any, body: Any, styles: Styles) -> str:
    """Return the title of the document's properties, or else its first heading."""
    title = clean(document.core_properties.title or "")
    if title and title.lower() != "word document":  # what python-docx's own template has
        return title
    headings = (words(e, styles).text for e in _elements(body, _P) if styles.level(e))
    return next((heading for heading in headings if heading), "")


def _first_line(error: Exception) -> str:
    return clean(str(error).partition("\n")[0])[:200] or type(error).__name__
