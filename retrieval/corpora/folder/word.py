"""Reads .docx: paragraphs and tables, in the sections of its headings."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
from docx.oxml.ns import qn
from lxml import etree

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Document, Headings, Unreadable
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import Block

_LARGEST = 256 << 20  # bytes of a document after unpacking
_OLE = b"\xd0\xcf\x11\xe0"  # the first bytes of a .doc, and of an encrypted .docx
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_P, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_TEXT = qn("w:t")
_WITHIN = {qn(f"w:{name}") for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo")}
# What Word shows: neither deleted text nor the copy of a text box for old versions of Word.
_SHOWN = etree.XPath(
    "(.//w:t | .//w:tab[parent::w:r] | .//w:br | .//w:cr)"
    "[not(ancestor::w:del or ancestor::w:moveFrom or ancestor::mc:Fallback)]",
    namespaces={
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    },
)
_MOST_BASES = 10  # styles that a style is based on, one on the other
_DAMAGED = "Open it in a word processor and save it again."


def read(path: Path) -> Document:
    """Return the document.

    Raises:
        Unreadable: it is not a .docx, is encrypted or damaged, is too large, or has no text.
        OSError: the file cannot be read.
    """
    _check_size(path)
    try:
        document = docx.Document(str(path))
        body = document.element.body
        styles = _heading_levels(document)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # of zipfile, lxml and python-docx, which does not list its own
        if "unknown error" in str(error):  # all that lxml says without memory
            raise MemoryError from error
        raise Unreadable(
            f"the file is damaged, or is not a .docx ({_first_line(error)}).", _DAMAGED
        ) from error
    paragraphs = list(_elements(body))
    title = _title(document, paragraphs, styles)
    blocks = list(_blocks(paragraphs, styles, title))
    if not any(block.text for block in blocks):
        raise Unreadable("the file has no text.", "If it holds pictures of text, run OCR first.")
    return Document(title, blocks)


def _check_size(path: Path) -> None:
    """Refuse what is no zip, and what unpacks to more than fits into memory.

    The declared sizes can be trusted: ``zipfile`` reads no more of a file than it declares.
    """
    with path.open("rb") as stream:
        if stream.read(4) == _OLE:
            raise Unreadable(
                "the file is encrypted, or a .doc of Word 2003 or older.",
                "Open it in a word processor and save it as .docx, without a password.",
            )
        try:
            with zipfile.ZipFile(stream) as archive:
                size = sum(member.file_size for member in archive.infolist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise Unreadable("the file is damaged, or is not a .docx.", _DAMAGED) from error
    if size > _LARGEST:
        raise Unreadable(
            f"the file unpacks to {size / 1e6:,.0f} MB; at most {_LARGEST / 1e6:,.0f} MB are read.",
            "Save it without its pictures, or divide it.",
        )


def _elements(parent: Any) -> Iterator[Any]:
    """Yield the paragraphs and tables in order, also those in a form's fields."""
    for child in parent:
        if child.tag in (_P, _TABLE):
            yield child
        elif child.tag in _WITHIN:
            yield from _elements(child)


def _blocks(elements: list[Any], levels: dict[str, int], title: str) -> Iterator[Block]:
    headings = Headings(title)
    for element in elements:
        if element.tag == _TABLE:
            rows = [
                [_words(cell) for cell in row.iterchildren(_CELL)]
                for row in element.iterchildren(_ROW)
            ]
            texts = row_sentences(rows)
        elif level := levels.get(element.style or ""):
            headings.add(level, _words(element))
            continue
        else:
            texts = iter([_words(element)])
        yield from (Block(text, headings.section) for text in texts)


def _words(element: Any) -> str:
    """Return the text of a paragraph or a cell."""
    paragraphs = [element] if element.tag == _P else element.iter(_P)
    return clean(
        " ".join(
            "".join((found.text or "") if found.tag == _TEXT else " " for found in _SHOWN(each))
            for each in paragraphs
        )
    )


def _title(document: Any, elements: list[Any], levels: dict[str, int]) -> str:
    """Return the title of the document's properties, or else its first heading."""
    title = clean(document.core_properties.title or "")
    if title and title.lower() != "word document":  # what python-docx's own template has
        return title
    headings = (_words(e) for e in elements if e.tag == _P and levels.get(e.style or ""))
    return next((heading for heading in headings if heading), "")


def _heading_levels(document: Any) -> dict[str, int]:
    """Return the level of each style of headings by its id; "Title" is above the others."""
    styles = {style.style_id: style for style in document.styles}
    levels = {}
    for style_id, style in styles.items():
        for _ in range(_MOST_BASES):
            name = style.name or ""
            if found := _HEADING.fullmatch(name):
                levels[style_id] = int(found[1]) + 1
                break
            if name == "Title":
                levels[style_id] = 1
                break
            style = getattr(style, "base_style", None)
            if style is None:
                break
    return levels


def _first_line(error: Exception) -> str:
    return clean(str(error).partition("\n")[0])[:200] or type(error).__name__
