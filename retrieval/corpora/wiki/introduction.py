"""Finds the introduction in the HTML of an article, as mwoffliner and older programs write it.

Only paragraphs, and lists after the first paragraph, are text. As in Wikimedia's own extracts,
boxes (``div``) and tables are not, nor is anything that a class says to leave out. TeX of a formula
is written in plain characters as far as that is simple: E=mc².
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from retrieval.corpora.cleaning import REMOVED, clean, without_pronunciations
from retrieval.corpora.folder.formula import formula_of_tex
from retrieval.corpora.superscripts import marked, unmarked

_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_PARAGRAPHS = frozenset({"p"})
_ITEMS = frozenset({"li", "dd", "dt"})
_BOXES = {"aside", "figure", "footer", "header", "nav", "svg", "table"}
_CONTROLS = {"button", "form", "input", "select"}
_MEDIA = {"audio", "iframe", "img", "object", "video"}
_UNSEEN = {"annotation", "h1", "head", "link", "meta", "noscript", "script", "style", "template"}
_LEFT_OUT_TAGS = _BOXES | _CONTROLS | _MEDIA | _UNSEEN
_NOTES = {"ambox", "bandeau", "dablink", "hatnote", "metadata", "rellink", "shortdescription"}
_NAVIGATION = {"infobox", "navbox", "sidebar", "toc", "vertical-navbox", "gallery", "thumb"}
_PLACES = {"coordinates", "geo", "geo-default", "geo-inline", "geo-nondefault"}
_FOOTNOTES = {"mw-cite-backlink", "mw-ref", "reference", "references", "reflist"}
_NOT_IN_EXTRACTS = {"error", "mw-editsection", "noexcerpt", "nomobile", "noprint", "sortkey"} | {
    "mw-broken-media"
}
_LEFT_OUT_CLASSES = _NOTES | _NAVIGATION | _PLACES | _FOOTNOTES | _NOT_IN_EXTRACTS
_LEFT_OUT_IDS = frozenset({"coordinates", "toc", "siteSub", "contentSub", "siteNotice"})
_PRONUNCIATION_CLASSES = frozenset({"IPA", "IPA-label", "ext-phonos", "haudio", "respell"})
_PRONUNCIATION_TITLES = ("Help:IPA", "Help:Pronunciation", "English pronunciation respelling")
_COLUMNS = frozenset({"div-col", "multicol", "mw-parser-output"})  # boxes that hold text
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_FORMULAS = frozenset({"mwe-math-element", "mwe-math-fallback-image-inline"})
# Where the first section begins. What follows is not parsed: it is most of a long article.
_FIRST_SECTION = re.compile(
    rb"<details data-level=|<section data-mw-section-id=\"[1-9]|<div class=\"mw-heading mw-heading2"
)
_ENDED = re.compile(r"[.!?…:][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant


def introduction(content: bytes) -> str:
    """Return the text of an article before its first heading, "" if it has no paragraph there."""
    first = _FIRST_SECTION.search(content)
    root, boxes = _root(content[: first.start()] if first else content)
    if root is None:
        return ""
    lead = _Lead(boxes)
    lead.read(root)
    blocks = lead.blocks
    begin = next((at for at, block in enumerate(blocks) if not block.item), len(blocks))
    return " ".join(_sentence(block) for block in blocks[begin:])


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, or an item of a list."""

    text: str
    item: bool


@dataclass(slots=True)
class _Lead:
    """Reads elements in order until a heading; ``boxes``: whether text may stand in a ``div``."""

    boxes: bool
    blocks: list[_Block] = field(default_factory=list)
    _words: list[str] = field(default_factory=list)
    _open: list[bool] = field(default_factory=list)  # for each open block: is it an item?
    _above: list[int] = field(default_factory=list)  # where text above the line begins in _words

    def read(self, root: Any) -> None:
        """Read what is in an element."""
        # Not recursive, because nothing limits how deep elements are nested.
        walk = etree.iterwalk(root, events=("start", "end"))
        left_out = None
        for event, element in walk:
            if element is root:
                self._add(element.text if event == "start" else None)
            elif event == "end":
                if element is left_out:
                    left_out = None
                else:
                    self._end(element)
                self._add(element.tail)
            elif _ends_lead(element):
                break
            elif (kind := self._left_out(element)) is not None:
                self._add(kind)
                left_out = element
                walk.skip_subtree()
            else:
                self._begin(element.tag)
                self._add(element.text)
        self._flush()

    def _begin(self, tag: str) -> None:
        if tag in _ITEMS or tag in _PARAGRAPHS:
            self._flush()
            self._open.append(tag in _ITEMS)
        elif tag in {"br", "div"}:
            self._add(" ")
        elif tag == "sup":
            self._above.append(len(self._words))

    def _end(self, element: Any) -> None:
        if element.tag in _ITEMS or element.tag in _PARAGRAPHS:
            self._flush()
            self._open.pop()
        elif element.tag == "sup" and self._above:
            begin = self._above.pop()
            self._words[begin:] = [marked("".join(self._words[begin:]))]

    def _add(self, text: str | None) -> None:
        if text and self._open:
            self._words.append(text)

    def _flush(self) -> None:
        if self._words:
            text = clean(without_pronunciations(unmarked("".join(self._words))))
            self._words.clear()
            self._above.clear()
            if text and text.rstrip(":") != "Coordinates":
                self.blocks.append(_Block(text, any(self._open)))

    def _left_out(self, element: Any) -> str | None:
        """Return what stands for an element that is left out, ``None`` for any other."""
        get = element.get
        classes = set(get("class", "").split())
        title = get("title", "")
        spoken = classes & _PRONUNCIATION_CLASSES or get("lang", "").endswith("-fonipa")
        if spoken or title.startswith(_PRONUNCIATION_TITLES):
            return REMOVED
        if classes & _FORMULAS:
            written = element.xpath("self::img/@alt | .//img/@alt | .//@alttext")
            return formula_of_tex(written[0]) if written else ""
        if (
            element.tag in _LEFT_OUT_TAGS
            or classes & _LEFT_OUT_CLASSES
            or get("id") in _LEFT_OUT_IDS
            or get("role") in {"note", "navigation"}
            or (element.tag == "div" and not self.boxes and not classes & _COLUMNS)
            or _HIDDEN.search(get("style", ""))
        ):
            return ""
        return None


def _root(content: bytes) -> tuple[Any, bool]:
    """Return the element that holds the article, and whether its text may stand in boxes."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = etree.fromstring(content, parser)
    except etree.ParserError:  # an empty document
        return None, False
    except etree.XMLSyntaxError:  # nothing but a comment, or bytes that are no text
        return None, False
    if tree is None:
        return None, False
    for place in (
        ".//section[@data-mw-section-id='0']",
        ".//div[contains(concat(' ', @class, ' '), ' mw-parser-output ')]",
        ".//div[@id='mw-content-text']",
    ):
        found = tree.xpath(place)
        if found:
            return _unwrapped(found[0]), False
    return tree.find("body") if tree.find("body") is not None else tree, True


def _unwrapped(root: Any) -> Any:
    """Return the innermost box that is the only content of ``root``, or ``root``."""
    while len(root) and root[0].tag == "div" and not _with_text(root):
        # The others are notices and the like, if one of them has paragraphs.
        boxes = [child for child in root if child.tag == "div" and _with_text(child)]
        if len(boxes) != 1:
            break
        root = boxes[0]
    return root


def _with_text(element: Any) -> bool:
    return any(child.tag in _PARAGRAPHS or child.tag in _HEADINGS for child in element)


def _ends_lead(element: Any) -> bool:
    tag = element.tag
    if tag == "div":  # newer pages have headings in boxes; a table of contents has one too
        is_heading = len(element) > 0 and element[0].tag in _HEADINGS
        return is_heading and "toc" not in element.get("class", "").split()
    if tag == "section":
        return bool(element.get("data-mw-section-id", "0") != "0")
    return tag in _HEADINGS or tag == "details"


def _sentence(block: _Block) -> str:
    """Return the text; an item ends as a sentence does, so that it is not joined to the next."""
    if not block.item or _ENDED.search(block.text):
        return block.text
    return f"{block.text.rstrip(';, ')}."
