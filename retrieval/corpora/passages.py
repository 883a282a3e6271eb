"""Cuts a long document into passages, each of which is a page of the corpus.

The limit is what the default encoder reads at once: a document's vector is that of its first 256
tokens, with the title (``MiniLMEncoder``), and a token of English has nearly five characters. Text
beyond that has vectors of its sentences, but no part in the document's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from urllib.parse import quote, urldefrag

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page, Passage
from retrieval.text.sentence_splitter import shared_splitter

LIMIT = 1200  # characters of a passage
# Characters of a document without pages and sections that is not cut. The longest of the default
# corpus has 2,134.
WHOLE = 2 * LIMIT
_SHORT = 120  # characters of a section, about a sentence, that is not worth a passage of its own
# A passage may end with a paragraph from this part of its size on.
_FULL_ENOUGH = 0.6
_ENDED = re.compile(r"[.!?…][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant
_NUMBER = re.compile(r"\d\.$")
# The end of a line and a blank line.
_BLANK = re.compile(r"\r?\n[^\S\n]*\n\s*")
_LONGEST = 80  # characters of a heading
_FIRST = re.compile(r"[^\W_a-z]")  # a capital letter or a digit, not the bullet of an item
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS = 3  # of a paragraph without a mark at its end
_APPENDICES = {
    *("Citations", "External links", "Footnotes", "Further reading", "Notes", "References"),
    "See also",
}
# What saved pages of wikis have after a heading.
_EDIT = re.compile(r"(?<!\s)\s*\[\s*edit(?:\s*\|)?(?:\s*(?:edit )?source)?\s*\]\s*$", re.IGNORECASE)
_NO_HEADING = re.compile(r"[.!?…:;,][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, an item of a list or a row of a table; no sentence continues in the next one.

    ``section``: the headings above it, the outermost first, without the document's title.
    ``page``: its page in the file, from 1. ``anchor``: the id of the nearest heading above it.
    """

    text: str
    section: tuple[str, ...] = ()
    page: int | None = None
    anchor: str | None = None


def ends_sentence(text: str) -> bool:
    """Return whether a paragraph ends with the mark of a sentence, and quotes or brackets."""
    return bool(_ENDED.search(text))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which end with blank lines."""
    return _BLANK.split(text)


@dataclass(slots=True)
class _Part:
    """Consecutive paragraphs of one page and one section; ``size`` in characters."""

    section: tuple[str, ...]
    page: int | None
    anchor: str | None
    paragraphs: list[str] = field(default_factory=list)
    size: int = 0


def passages(
    document_id: str, title: str, url: str | None, blocks: Iterable[Block]
) -> Iterator[Page]:
    """Yield a document as one page, or as passages in order.

    A document that knows neither pages nor sections stays whole up to ``WHOLE`` characters, and
    its page has no ``passage``. Any other is cut where a page or a section ends, and into pieces
    of at most ``LIMIT`` characters where a sentence ends. A sentence is cut only if it is longer.
    Short sections of the same page are joined; such a passage has the headings that they share.

    Raises:
        ModelUnavailable: the sentence splitter cannot be loaded.
    """
    parts = _parts(blocks)
    beginning = next(parts, None) or _Part((), None, None)
    following = next(parts, None)
    if following is None and not beginning.section and beginning.page is None:
        text = " ".join(beginning.paragraphs)
        if len(text) <= WHOLE:
            yield _whole(document_id, title, url, beginning.paragraphs)
            return
    more = () if following is None else (following,)
    pieces = (
        (part, sentences) for part in chain((beginning,), more, parts) for sentences in _cut(part)
    )
    page = partial(_page, document_id, title, url)
    numbers = count(1)
    first, second = next(pieces, None), next(pieces, None)
    if first is None:  # a page without a sentence
        first = (beginning, ())
    yield page(*first, next(numbers), alone=second is None)
    if second is not None:
        for part, sentences in chain((second,), pieces):
            yield page(part, sentences, next(numbers), alone=False)


def _whole(document_id: str, title: str, url: str | None, paragraphs: list[str]) -> Page:
    """Return a short document; a paragraph without a mark at its end is a sentence of its own.

    So is one that ends with a number ("2021: 2."): the splitter would take it for an item's.
    """
    if all(ends_sentence(text) and not _NUMBER.search(text) for text in paragraphs[:-1]):
        return Page(document_id, title, url, " ".join(paragraphs))
    sentences = tuple(chain.from_iterable(_sentences(paragraphs)))
    return Page(document_id, title, url, "", sentences)


def _page(
    document_id: str,
    title: str,
    url: str | None,
    part: _Part,
    sentences: tuple[str, ...],
    number: int,
    *,
    alone: bool,
) -> Page:
    return Page(
        id=document_id if alone else f"{document_id}#{number}",
        title=title,
        url=_address(url, part),
        text="",
        sentences=sentences,
        passage=Passage(document_id, number, part.section, part.page),
    )


def _address(url: str | None, part: _Part) -> str | None:
    if url is None or (part.page is None and part.anchor is None):
        return url
    place = f"page={part.page}" if part.page is not None else quote(part.anchor or "")
    return f"{urldefrag(url).url}#{place}"


def _parts(blocks: Iterable[Block]) -> Iterator[_Part]:
    """Yield the document's pages and sections in order; short sections are joined."""
    before: _Part | None = None
    for part in _unjoined(blocks):
        if before is None:
            before = part
        elif part.page == before.page and part.size < _SHORT and before.size < _SHORT:
            before.section = _shared(before.section, part.section)
            before.paragraphs += part.paragraphs
            before.size += part.size
        else:
            yield before
            before = part
    if before is not None:
        yield before


def _unjoined(blocks: Iterable[Block]) -> Iterator[_Part]:
    part: _Part | None = None
    for block in blocks:
        text = clean(block.text)
        if not text:
            continue
        if part is None or (block.page, block.section) != (part.page, part.section):
            if part is not None:
                yield part
            part = _Part(block.section, block.page, block.anchor)
        part.paragraphs.append(text)
        part.size += len(text)
    if part is not None:
        yield part


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]


def _cut(part: _Part) -> Iterator[tuple[str, ...]]:
    """Yield the sentences of each passage of a part; the passages have about the same size."""
    split = _sentences(part.paragraphs)
    total = sum(map(_size, split))
    if total - 1 <= LIMIT:  # without the space after the last sentence
        if total:
            yield tuple(chain.from_iterable(split))
        return
    size = total / -(-total // LIMIT)
    held: list[str] = []
    characters = 0
    for paragraph in split:
        if held and characters >= _FULL_ENOUGH * size and characters + _size(paragraph) > size:
            yield tuple(held)
            held, characters = [], 0
        for sentence in paragraph:
            if held and (characters >= size or characters + len(sentence) > LIMIT):
                yield tuple(held)
                held, characters = [], 0
            held.append(sentence)
            characters += len(sentence) + 1
    yield tuple(held)


def _size(sentences: list[str]) -> int:
    """Return the characters of sentences, with a space after each."""
    return sum(map(len, sentences)) + len(sentences)


def _sentences(paragraphs: list[str]) -> list[list[str]]:
    """Return the sentences of each paragraph; one that is longer than a passage is cut."""
    return [
        [
            text[begin:end]
            for start, stop in bounds
            for begin, end in _within_limit(text, start, stop)
        ]
        for text, bounds in zip(paragraphs, shared_splitter().split(paragraphs), strict=True)
    ]


def _within_limit(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a sentence, or of its pieces, which end between words if they can."""
    while end - start > LIMIT:
        space = text.rfind(" ", start, start + LIMIT + 1)
        stop = space if space > start else start + LIMIT
        yield start, stop
        start = stop + (space > start)
    yield start, end


def sections(paragraphs: Sequence[str]) -> list[Block]:
    """Return the paragraphs of a text, each with the heading above it.

    The anchor is the heading as wikis write it in addresses; other sites ignore it.

    A heading is a short line without a mark at its end, before a paragraph that has one. The levels
    of headings are not known, so a section has one heading. Other short lines are list items or
    fragments: they stay, except those of fewer than three words (such as the upper one of two
    headings) and those below "References" and the like. If there are only short lines, all stay.
    """
    lines = [line for line in map(without_edit, map(clean, paragraphs)) if line]
    if not any(map(_is_text, lines)):
        return list(map(Block, lines))
    section: tuple[str, ...] = ()
    anchor: str | None = None
    appendix = False
    blocks = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        appendix = appendix or line in _APPENDICES
        if may_be_heading(line) and _is_text(following):
            section, anchor = (line,), line.replace(" ", "_")
            appendix = line in _APPENDICES
        elif _is_text(line) or (len(_WORD.findall(line)) >= _WORDS and not appendix):
            blocks.append(Block(line, section, anchor=anchor))
    return blocks


def without_edit(heading: str) -> str:
    """Return a heading without the link that edits its section in a wiki: "History[edit]"."""
    return _EDIT.sub("", heading)


def may_be_heading(line: str) -> bool:
    """Return whether a paragraph looks like a heading; what follows it decides."""
    return bool(
        len(line) <= _LONGEST
        and _FIRST.match(line)
        and _WORD.search(line)
        and not _NO_HEADING.search(line)
    )


def _is_text(line: str) -> bool:
    return len(line) > _LONGEST or ends_sentence(line)
