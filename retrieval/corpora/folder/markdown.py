"""Reads Markdown as its readers see it, in the sections of its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Headings
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.folder.tables import Cell, row_sentences
from retrieval.corpora.passages import Block
from retrieval.corpora.superscripts import lowered, marked, unmarked

# Tags that do not end a line.
_WITHIN_A_LINE = re.compile(
    "a|abbr|b|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strong|sub|sup|time|u"
)
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_HEIGHTS = {"sup": tuple(marked("")), "sub": tuple(lowered(""))}
_AT_HEIGHT = re.compile(r"<(/?)(sup|sub)\b", re.IGNORECASE)
_STRUCK = re.compile(r"<(/?)(?:del|s|strike)\b", re.IGNORECASE)
_HIDDEN_BY_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "wbr"}  # have no end
_HIDDEN_TAG = re.compile(
    r"<(\w+)\s[^>]*(?:\bhidden\b(?!\s*=\s*[\"']?until)|display\s*:\s*none|visibility\s*:\s*hidden)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:?")  # [^1], and before the note itself
_HIDDEN = {"script", "style", "del", "s", "strike"}
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n[\w-]+:.*?^(?:---|\.\.\.)[ \t]*$", re.M | re.S)


def read(path: Path) -> FileText:
    """Return the document, without marks, code and tags; its title is the first heading.

    Raises:
        Unreadable, OSError: the file cannot be read.
    """
    tokens = _PARSER.parse(_FRONT_MATTER.sub("", text_of(path)))
    title = next((_words(content) for _, content in _headings(tokens)), "")
    return FileText(title, list(_blocks(tokens, title)))


def _headings(tokens: list[Token]) -> Iterator[tuple[int, Token]]:
    """Yield the level of each heading and the token of its words."""
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            yield int(opening.tag[1:]), content


def _blocks(tokens: list[Token], title: str) -> Iterator[Block]:
    """Yield the paragraphs, items and rows of tables."""
    headings = Headings(title)
    levels = {id(content): level for level, content in _headings(tokens)}
    rows: list[list[Cell]] = []
    heading = False
    for token in tokens:
        if id(token) in levels:
            headings.add(levels[id(token)], _words(token))
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            heading = token.type == "th_open"
        elif token.type == "table_close":
            yield from (Block(sentence, headings.section) for sentence in row_sentences(rows))
            rows = []
        elif token.type == "inline" and rows:
            rows[-1].append(Cell(clean(_words(token)), heading))
        elif token.type == "inline":
            yield Block(_words(token), headings.section)
        elif token.type == "html_block":
            yield Block(unmarked(_shown(token.content)), headings.section)


def _shown(html: str) -> str:
    """Return the text that a browser shows for HTML, one line for each block."""
    shown = _Shown()
    shown.feed(html)
    shown.close()
    lines = (" ".join(line.split()) for line in "".join(shown.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _Shown(HTMLParser):
    """Collects the text between tags, except that of scripts, styles and deletions."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden: list[str] = []  # the open tags from the first hidden one on

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if (self._hidden or tag in _HIDDEN or _is_hidden(attrs)) and tag not in _EMPTY:
            self._hidden.append(tag)
        if tag in _HEIGHTS:
            self.pieces.append(_HEIGHTS[tag][0])
        if not _WITHIN_A_LINE.fullmatch(tag):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[len(self._hidden) - 1 - self._hidden[::-1].index(tag) :]
        if tag in _HEIGHTS:
            self.pieces.append(_HEIGHTS[tag][1])
        if not _WITHIN_A_LINE.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data.replace("\n", " "))


def _is_hidden(attributes: list[tuple[str, str | None]]) -> bool:
    given = dict(attributes)
    return "hidden" in given or bool(_HIDDEN_BY_STYLE.search(given.get("style") or ""))


def _words(block: Token) -> str:
    """Return the words of a block as they are shown; links and pictures keep theirs."""
    pieces: list[str] = []
    struck = 0
    hidden = ""  # the tag of an element that is not displayed
    for part in block.children or ():
        tag = part.content if part.type == "html_inline" else ""
        if hidden:
            hidden = "" if tag.lower().startswith(f"</{hidden}") else hidden
        elif tag and (found := _HIDDEN_TAG.match(tag)):
            hidden = found[1].lower()
        elif part.type in ("s_open", "s_close") or _STRUCK.match(tag):
            struck += -1 if part.type == "s_close" or tag.startswith("</") else 1
        elif struck > 0:
            continue
        elif part.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif found := _AT_HEIGHT.match(tag):
            pieces.append(_HEIGHTS[found[2].lower()][bool(found[1])])
        elif not tag:
            pieces.append(_words(part) if part.type == "image" else part.content)
    return unmarked(_NOTE.sub(marked("[]"), "".join(pieces)))
