"""Reads HTML: the main text without menus and notices, in the sections of its headings."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path

import trafilatura
from lxml import html
from trafilatura.settings import use_config

from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.decoding import decoded, encoding_of_page, is_binary
from retrieval.corpora.folder.document import (
    FileText,
    Headings,
    Unread,
    Unreadable,
    dropped_rows,
)
from retrieval.corpora.folder.shown import HEADINGS, ShownTable, leave_what_is_shown, words
from retrieval.corpora.passages import Block, without_edit

# What trafilatura makes of elements.
_CODE, _BOXES, _WITHIN_A_LINE = "code", ("div", "quote"), ("hi", "ref", "graphic", "del")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_LITTLE = 1000  # characters of a main text that may be only a part of it
_SHOWN = 80  # characters of a row that a message shows
_SAVE_AS = "Open it in a browser and save its text as a .txt file."


def read(path: Path) -> FileText:
    """Return the document.

    Raises:
        Unreadable: it is not HTML, or has no main text.
        OSError: the file cannot be read.
    """
    content = path.read_bytes()
    declared = encoding_of_page(content)
    if content.startswith((b"%PDF-", b"PK\x03\x04")) or (not declared and is_binary(content)):
        raise Unreadable(
            "the file is not HTML; it contains binary data.", "Give it the suffix of its format."
        )
    tree = trafilatura.load_html(_without_declaration(decoded(content, declared)))
    if tree is None:
        raise Unreadable("the file is not HTML.", "If it is a text, give it the suffix .txt.")
    tables = leave_what_is_shown(tree)
    title, url, anchors = _title(tree), _canonical(tree), _Anchors(tree)
    body = _main_text(tree)
    blocks = list(_blocks(body, title, anchors)) if body is not None else []
    if not blocks:
        raise Unreadable("the file has no main text.", _SAVE_AS)
    return FileText(title, blocks, url, unread=list(_unread(tables, blocks)))


def _without_declaration(page: str) -> str:
    """Return a page without what lxml refuses in a text: the encoding that it had as bytes."""
    return _DECLARATION.sub("", page)


def _unread(tables: list[ShownTable], blocks: list[Block]) -> Iterator[Unread]:
    """Yield what is said of rows that are too wide, or are not in the main text as others are."""
    read = {block.text for block in blocks}
    for table in tables:
        yield from dropped_rows(table.number, table.dropped)
        lost = [row for row in table.sentences if row not in read]
        if lost and (table.expected or len(lost) < len(table.sentences)):
            begin = lost[0] if len(lost[0]) <= _SHOWN else f"{lost[0][:_SHOWN]}…"
            message = (
                f"not read: {len(lost)} of its rows, which do not seem to be part of the main text;"
                f' the first is "{begin}".'
            )
            yield Unread(f"table {table.number}", message, _SAVE_AS)


def _main_text(tree: html.HtmlElement) -> html.HtmlElement | None:
    """Return the body that trafilatura finds.

    It asks its slower fallbacks only if there is little text: they may find more of it.
    """
    config = use_config()
    # By default it returns a page of less than 250 characters whole, with its menus.
    for option in ("MIN_EXTRACTED_SIZE", "MIN_OUTPUT_SIZE"):
        config.set("DEFAULT", option, "0")
    longest, most = None, 0
    for fast in (True, False):
        found = trafilatura.bare_extraction(
            tree, fast=fast, include_comments=False, with_metadata=False, config=config
        )
        body = getattr(found, "body", None)
        length = 0 if body is None else len("".join(body.itertext()).strip())
        if length > most:
            longest, most = body, length
        if most >= _LITTLE:
            break
    return longest


def _blocks(body: html.HtmlElement, title: str, anchors: _Anchors) -> Iterator[Block]:
    headings = Headings(title)
    anchor: str | None = None
    for element in _outermost(body):
        if element.tag == "head":
            heading = words(element)
            headings.add(int(element.get("rend", "h2")[1:]), heading)
            anchor = anchors.next(without_edit(heading))
            continue
        if text := words(element):
            yield Block(text, headings.section, None, anchor)


def _outermost(body: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Yield the headings, paragraphs, items and rows in order; code is left out.

    Text that stands between them is a paragraph, too.
    """
    loose = html.Element("p")
    loose.text = body.text
    for child in list(body):
        if child.tag in _WITHIN_A_LINE:
            loose.append(child)
            continue
        yield loose
        loose = html.Element("p")
        loose.text = child.tail
        if child.tag == "list":
            yield from child.iter("item")
        elif child.tag in _BOXES and any(inner.tag not in _WITHIN_A_LINE for inner in child):
            yield from _outermost(child)
        elif child.tag == "table":  # a menu, or one that the page does not close
            yield from child.iter("row")
        elif child.tag != _CODE:
            yield child
    yield loose


def _title(tree: html.HtmlElement) -> str:
    """Return the title for readers, which often lacks the name of the site, or else <title>."""
    named = tree.xpath("//meta[@property='og:title']/@content")
    headings = tree.xpath("//h1")
    written = tree.xpath("//head/title")
    found = [*named[:1], *(words(h) for h in (headings if len(headings) == 1 else []))]
    found += [t.text_content() for t in written[:1]]
    return next((title for title in map(without_edit, map(clean, found)) if title), "")


def _canonical(tree: html.HtmlElement) -> str | None:
    links = tree.xpath("//link[@rel='canonical']/@href")
    return web_address(links[0].strip()) if links else None


class _Anchors:
    """The ids of headings; trafilatura does not keep them."""

    def __init__(self, tree: html.HtmlElement) -> None:
        self._found: dict[str, deque[str | None]] = defaultdict(deque)
        for heading in tree.iter(*HEADINGS):
            self._found[without_edit(words(heading))].append(_id_of(heading))

    def next(self, heading: str) -> str | None:
        """Return the id of the next heading with these words, if it has one."""
        ids = self._found[heading]
        return ids.popleft() if ids else None


def _id_of(heading: html.HtmlElement) -> str | None:
    """Return the id of a heading, of an element in it, or of a section that it begins."""
    own = heading.xpath("@id | .//@id | .//a/@name")
    parent = heading.getparent()
    if not own and parent is not None and parent.tag == "section" and parent[0] is heading:
        own = parent.xpath("@id")
    return str(own[0]) if own else None
