"""Reads HTML that is nothing but text, as in books and mails: no part of it is a menu."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Headings
from retrieval.corpora.folder.shown import HEADINGS, leave_what_is_shown, words
from retrieval.corpora.passages import Block, paragraphs
from retrieval.corpora.superscripts import unmarked

_UNSEEN = {"head", "script", "style", "svg", "textarea", "select"}
_WITHIN_A_LINE = {"a", "abbr", "b", "bdi", "big", "cite", "code", "dfn", "em", "font", "i"} | {
    *("ins", "kbd", "mark", "q", "rb", "ruby", "samp", "small", "span", "strong", "time", "tt"),
    *("u", "var", "wbr"),
}
_SPACE = re.compile(r"\s+")


def blocks_of(
    content: bytes | str, headings: Headings, sheets: Iterable[str] = ()
) -> Iterator[Block]:
    """Yield the paragraphs, items and rows of tables, in the sections of their headings.

    ``sheets``: the styles that the page takes from other files.
    """
    try:
        tree = html.document_fromstring(content)
    except (etree.ParserError, ValueError):  # nothing in it, or a text that declares an encoding
        return
    leave_what_is_shown(tree, sheets)
    pieces: list[str] = []
    for piece in chain(_pieces(tree), (None,)):
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        for text in paragraphs("".join(pieces)):
            if line := clean(unmarked(text)):
                yield Block(line, headings.section)
        pieces = []
        if piece is not None:
            headings.add(int(piece.tag[1]), words(piece))


def _pieces(element: html.HtmlElement) -> Iterator[str | html.HtmlElement | None]:
    """Yield texts and headings, and ``None`` where a paragraph ends."""
    yield _SPACE.sub(" ", element.text or "")
    for child in element:
        if not isinstance(child.tag, str) or child.tag in _UNSEEN:
            pass
        elif child.tag in HEADINGS:
            yield child
        elif child.tag == "br":
            yield "\n"  # two of them end a paragraph
        elif child.tag in _WITHIN_A_LINE:
            yield from _pieces(child)
        else:
            yield None
            yield from _pieces(child)
            yield None
        yield _SPACE.sub(" ", child.tail or "")
