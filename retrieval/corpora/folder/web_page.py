"""Reads HTML: the main text without menus and notices, in the sections of its headings.

trafilatura finds where the main text is. What stands beside that text, in the same part of the
page, is main text too: items, rows and short lines, which it often leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from email import message_from_bytes, policy
from email.message import EmailMessage
from itertools import compress
from pathlib import Path

import trafilatura
from lxml import html
from trafilatura.settings import use_config

from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.decoding import decoded, encoding_of_page, is_binary
from retrieval.corpora.folder.document import FileText, Headings, Unreadable, iso_day
from retrieval.corpora.folder.tree import HEADINGS, Piece, in_sections, shown, words
from retrieval.corpora.passages import without_edit

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_LITTLE = 1000  # characters of a main text that may be only a part of it
_SAVE_AS = "Open it in a browser and save its text as a .txt file."
_ASIDE = {"nav", "footer", "aside", "header"}
_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "dialog"}
# Parts of a text; the part of the page that they stand in is around them.
_OF_TEXT = {
    *("li", "ul", "ol", "dl", "dd", "dt", "table", "tbody", "thead", "tr", "td", "th", "p"),
    *("figure", "figcaption", "blockquote", "details", "summary", "center", "pre", "span", "label"),
    *("fieldset", "legend", "form", *HEADINGS),
}
_MOST_LINKED = 0.5  # part of a text in links, from which on it is a menu's
_KNOWN = 30  # letters of a text that is known although trafilatura has joined it to others


def read(path: Path) -> FileText:
    """Return the document; an ``.mhtml`` file is a mail that holds a page."""
    content = path.read_bytes()
    if path.suffix.lower() in (".mhtml", ".mht"):
        content = _page_of(message_from_bytes(content, policy=policy.default))
    declared = encoding_of_page(content)
    if content.startswith((b"%PDF-", b"PK\x03\x04")) or (not declared and is_binary(content)):
        why = "the file is not HTML; it contains binary data."
        raise Unreadable(why, "Give it the suffix of its format.")
    tree = trafilatura.load_html(_DECLARATION.sub("", decoded(content, declared)))
    if tree is None:
        raise Unreadable("the file is not HTML.", "If it is a text, give it the suffix .txt.")
    title = _title(tree)
    days = tree.xpath("//meta[@property='article:modified_time']/@content")
    days += tree.xpath("//meta[@property='article:published_time' or @name='date']/@content")
    links = tree.xpath("//link[@rel='canonical']/@href")
    url = web_address(links[0].strip()) if links else None
    found = shown(tree, labels=True)
    # Of a page that is only a table trafilatura finds nothing.
    main = list(_main(tree, found.pieces)) or [one for one in found.pieces if not _is_aside(one)]
    blocks = [block for _, block in in_sections(main, Headings(title))]
    if not blocks:
        raise Unreadable("the file has no main text.", _SAVE_AS)
    day = next(filter(None, map(iso_day, days)), "")
    return FileText(title, blocks, url, found.unread, saved=day)


def _page_of(message: EmailMessage) -> bytes:
    page = message.get_body(("html",))
    if page is None:
        raise Unreadable("the file holds no web page.", _SAVE_AS)
    content = bytes(page.get_payload(decode=True) or b"")
    return decoded(content, page.get_content_charset()).encode()


def _main(tree: html.HtmlElement, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces that trafilatura finds, and those beside them that are no menu's."""
    lines, whole = _main_text(tree)
    known = (_letters(piece.text) for piece in pieces)
    found = [text in lines or (len(text) >= _KNOWN and text in whole) for text in known]
    places = list(map(_part, pieces))  # the part of the page that each stands in
    parts = set(compress(places, found))
    around = Counter(part.getparent() for part in parts)
    parts |= {part for part, count in around.items() if part is not None and count > 1}
    for piece, part, is_main in zip(pieces, places, found, strict=True):
        beside = part in parts or part.getparent() in parts
        if is_main or (beside and not _is_aside(piece)):
            yield piece


def _is_aside(piece: Piece) -> bool:
    aside = any(one.tag in _ASIDE or one.get("role") in _ROLES for one in piece.around)
    return aside or piece.linked > _MOST_LINKED


def _part(piece: Piece) -> html.HtmlElement:
    part = piece.element
    while part.tag in _OF_TEXT and part.getparent() is not None:
        part = part.getparent()
    return part


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _main_text(tree: html.HtmlElement) -> tuple[set[str], str]:
    """Return the letters of the main text, line by line and as a whole."""
    config = use_config()
    # By default it returns a page of less than 250 characters whole, with its menus.
    for option in ("MIN_EXTRACTED_SIZE", "MIN_OUTPUT_SIZE"):
        config.set("DEFAULT", option, "0")
    longest: Iterable[str] = ()
    most = 0
    for fast in (True, False):
        found = trafilatura.bare_extraction(
            deepcopy(tree), fast=fast, include_comments=False, with_metadata=False, config=config
        )
        body = getattr(found, "body", None)
        length = 0 if body is None else len("".join(body.itertext()).strip())
        if body is not None and length > most:
            longest = [words(one) for one in (*body.iterdescendants(), body)]
            most = length
        if most >= _LITTLE:
            break
    *lines, whole = map(_letters, longest or [""])
    return set(lines), whole


def _title(tree: html.HtmlElement) -> str:
    """Return the title for readers, which often lacks the name of the site, or else <title>."""
    named = tree.xpath("//meta[@property='og:title']/@content")
    headings = tree.xpath("//h1")
    written = tree.xpath("//head/title")
    found = [*named[:1], *map(words, headings if len(headings) == 1 else [])]
    found += [title.text_content() for title in written[:1]]
    return next((title for title in map(without_edit, map(clean, found)) if title), "")
