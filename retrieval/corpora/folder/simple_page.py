"""Reads HTML that is nothing but text, as in books and mails: no part of it is a menu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Headings
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import Block, paragraphs
from retrieval.corpora.raised import marked, settled

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_UNSEEN = {"head", "script", "style", "template", "del", "s", "strike", "svg", "math"}
_WITHIN_A_LINE = {"a", "abbr", "b", "bdi", "big", "cite", "code", "dfn", "em", "font", "i"} | {
    *("ins", "kbd", "mark", "q", "samp", "small", "span", "strong", "sub", "time", "tt", "u", "var")
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def blocks_of(content: bytes | str, headings: Headings) -> Iterator[Block]:
    """Yield the paragraphs, items and rows of tables, in the sections of their headings."""
    try:
        tree = html.document_fromstring(content)
    except (etree.ParserError, ValueError):  # nothing in it, or a text that declares an encoding
        return
    pieces: list[str] = []
    for piece in chain(_pieces(tree), (None,)):
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        for text in paragraphs("".join(pieces)):
            if line := clean(settled(text)):
                yield Block(line, headings.section)
        pieces = []
        if piece is None:
            continue
        if piece.tag in _HEADINGS:
            headings.add(int(piece.tag[1]), _words(piece))
        else:
            rows = [[_words(cell) for cell in row.iter("td", "th")] for row in piece.iter("tr")]
            yield from (Block(text, headings.section) for text in row_sentences(rows))


def _pieces(element: html.HtmlElement) -> Iterator[str | html.HtmlElement | None]:
    """Yield texts, headings and tables, and ``None`` where a paragraph ends."""
    yield _SPACE.sub(" ", element.text or "")
    for child in element:
        if not isinstance(child.tag, str) or child.tag in _UNSEEN or _is_hidden(child):
            pass
        elif child.tag in _HEADINGS or (child.tag == "table" and child.find(".//table") is None):
            yield child
        elif child.tag == "br":
            yield "\n"  # two of them end a paragraph
        elif child.tag == "sup":
            yield marked(_words(child))
        elif child.tag in _WITHIN_A_LINE:
            yield from _pieces(child)
        else:
            yield None
            yield from _pieces(child)
            yield None
        yield _SPACE.sub(" ", child.tail or "")


def _is_hidden(element: html.HtmlElement) -> bool:
    return element.get("hidden") is not None or bool(_HIDDEN.search(element.get("style", "")))


def _words(element: html.HtmlElement) -> str:
    """Return the text of a heading or a cell on one line."""
    pieces = (piece if isinstance(piece, str) else " " for piece in _pieces(element))
    return clean(settled("".join(pieces)))
