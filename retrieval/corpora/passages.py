"""Cuts a long document into passages, each of which is a page of the corpus.

The limit is what the default encoder reads at once: 256 tokens with the title (``MiniLMEncoder``),
and a token of English has nearly five characters. Only sentences have vectors of what is beyond.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from urllib.parse import quote, urldefrag

from retrieval.corpora.boxes import apart, with_boxes
from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX, Page, Passage
from retrieval.text.sentence_splitter import shared_splitter

LIMIT = 1200  # characters of a passage
# Characters of a document without pages and sections that is not cut. The longest of the default
# corpus has 2,134.
WHOLE = 2 * LIMIT
_LONGEST_LEAD = 200  # characters of what introduces a list: "The policy does not cover:"
# A passage may end with a paragraph from this part of its size on.
_FULL_ENOUGH = 0.6
_ENDED = re.compile(r"[.!?…][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant
_UNCLEAR_END = re.compile(r"\b(?:\d+|[Nn]o|\w)\.$")  # "2021: 2.", "a tie is a no."
_UNCLEAR_BEGIN = re.compile(r"[\da-z]")  # "1902: 3.", "from 1902: 4."
# What marks an item that somebody has typed: "(a) ", "1) ", "• ".
_TYPED = re.compile(
    r"(?:\(?(?:(?P<number>\d{1,2})|(?P<letter>[a-z]|[ivx]{1,4}))[.)]|(?P<bullet>[•▪◦‣●■*+–-]))\s+\S"  # noqa: RUF001
)
_FIRST_MARKS = {"1", "a", "i", *"•▪◦‣●■*+–-"}  # noqa: RUF001
_OF_ITEM = re.compile(r"(?:\d{1,3}|[A-Za-z])\.(?=\s\S)")  # a number that is no sentence
# The end of a line and a blank line.
_BLANK = re.compile(r"\r?\n[^\S\n]*\n\s*")
_LONGEST_ROW = 500  # characters; a longer one holds texts
_LONGEST_LABELLED = 160  # characters of a paragraph
# A few words, a question or a quotation, without which what follows says something else: "3. Lifts.
# We no longer run them.", "“It is sold.” Not yet."
_LABEL = re.compile(
    r"(?:[A-Z]?\d{1,3}[.)] |[A-Z][.:] |[–-] )?"  # noqa: RUF001
    r"(?:(?![^.]*\b(?:is|are|was|were|has|have|had|will|can|may|must)\b)(?:\S+ ){0,3}[^\s.]{2,}\."
    r"(?! (?:It|He|She|They|This|These|We|I)\b)"
    r"|[^.!?]{1,100}\?|[\"“][^\"”]{1,100}[\"”])"
    r" (?=[^\Wa-z]|[\"“–-])"  # noqa: RUF001
)
LONGEST_HEADING = 80  # characters of a heading
_LONGEST_TITLE = 120
_LEAST_NAMED = 2  # spaces before a colon in a title
# What begins a note on the figures of a table, which is no title.
ON_IT = re.compile(r"(?:all|figures|amounts|values|sums|units?|notes?|sources?|in|\()\b", re.I)
# A label with its value: "Adults: 8 euros"; a caption is none.
FIELD = re.compile(r"(?!(?:Table|Figure|Chart|Box)\b)[^\W\d_a-z][^.!?:]{0,40}: \S")
_FIRST = re.compile(r"(?:§+ ?)?[^\W_a-z]")  # a capital letter or a digit, not the bullet of an item
_WORD = re.compile(r"[^\W\d_]{2,}")
APPENDICES = {  # of articles in wikis; what is short in them says nothing
    *("Citations", "External links", "Footnotes", "Further reading", "Notes", "References"),
    "See also",
}
BULLET = re.compile(r"[•▪◦‣●■*+–-]\s+")  # noqa: RUF001 - the dash of a list is meant
# A sentence above a table that says what its figures are: "Rates are per 100,000 residents."
_ON_FIGURES = re.compile(
    r"\A[^.]*\b(?:per \w|in (?:hundreds|thousands?|millions?|billions?|percent|per cent|tonnes"
    r"|litres|hectares|euros|dollars|pounds|francs|crowns)\b)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:[A-Z][a-z]+ )?\d")  # "Chapter 1: Ships", but not "Vote: 12 to 3"
# "Carried", "Votes 9 to 4", but not "Deferred items".
_DECIDED = re.compile(
    r"\b(?:adopted|agreed|approved|carried|deferred|lost|passed|rejected|resolved|votes?|withdrawn)\b"
    r"(?! (?:items|matters|motions|proposals|applications)\b)",
    re.IGNORECASE,
)
# "Total £1,146.00", but not "Grants up to £500"
_AMOUNT = re.compile(r"(?:total|sum|balance|amount|fee|price|cost)s?\b.*[$€£] ?\d[\d.,]*$", re.I)
# A sentence ends within a line: "For 5, against 4. ADOPTED", but not in "Part 2. Rent".
_SENTENCES = re.compile(r"[?!] [^\s(]|[^\W\d_A-Z]{4}\. [A-Z]|\w,? \w+ \d+\. [A-Z]")
_BRACKETS = re.compile(r"\([^()]*\)")
# What saved pages of wikis have after a heading.
_EDIT = re.compile(r"(?<!\s)\s*\[\s*edit(?:\s*\|)?(?:\s*(?:edit )?source)?\s*\]\s*$", re.IGNORECASE)
_NO_HEADING = re.compile(r"[☐☑☒]|[.!?…:;,][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, an item of a list or a row of a table; no sentence continues in the next one.

    ``section``: the headings above it, the outermost first, without the document's title.
    ``page``: its page in the file, from 1. ``anchor``: the id of the nearest heading above it.
    ``kind``: "item" of a list, "subitem" of a list in an item, "row" of a table, or "". What
    introduces a list or a table is a heading of its items and rows; a row is one sentence.
    ``date``: its own day, ISO 8601, where that is not the file's, as of a mail in a mailbox.
    """

    text: str
    section: tuple[str, ...] = ()
    page: int | None = None
    anchor: str | None = None
    kind: str = ""
    date: str = ""


def ends_sentence(text: str) -> bool:
    """Return whether a paragraph ends with the mark of a sentence, and quotes or brackets."""
    return bool(_ENDED.search(text))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which end with blank lines."""
    return _BLANK.split(text)


@dataclass(slots=True)
class _Part:
    """Consecutive paragraphs of one page, section and day; ``whole``: which are one sentence.

    What stands after an empty box is, so that all of it states nothing, and a question with the
    box that answers it.
    """

    section: tuple[str, ...]
    page: int | None
    anchor: str | None
    date: str = ""
    paragraphs: list[str] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)


def passages(
    document_id: str, title: str, url: str | None, blocks: Iterable[Block]
) -> Iterator[Page]:
    """Yield a document as one page, or as passages in order.

    A document that knows neither pages nor sections stays whole up to ``WHOLE`` characters, and
    its page has no ``passage``. Any other is cut where a page, section or day ends, and into pieces
    of at most ``LIMIT`` characters where a sentence ends. A sentence is cut only if it is longer.
    What introduces a list is a heading of its items, and each box to tick is a sentence.

    Raises:
        ModelUnavailable: the sentence splitter cannot be loaded.
    """
    parts = _parts(blocks)
    head = list(islice(parts, 2)) or [_Part((), None, None)]
    first = head[0]
    size = sum(len(text) + 1 for text in first.paragraphs) - 1
    if len(head) == 1 and not first.section and first.page is None and size <= WHOLE:
        yield _whole(document_id, title, url, first)
        return
    pieces = ((part, sentences) for part in chain(head, parts) for sentences in _cut(part))
    begin = list(islice(pieces, 2)) or [(first, ())]  # the latter of a page without a sentence
    for number, (part, sentences) in enumerate(chain(begin, pieces), start=1):
        page_id = document_id if len(begin) == 1 else f"{document_id}#{number}"
        place = Passage(document_id, number, part.section, part.page)
        address = _address(url, part)
        yield Page(page_id, title, address, "", sentences, passage=place, date=part.date)


def _whole(document_id: str, title: str, url: str | None, part: _Part) -> Page:
    """Return a short document; what does not end like a sentence ("2021: 2.") is one."""
    plain = all(
        ends_sentence(text) and not (_UNCLEAR_END.search(text) or _UNCLEAR_BEGIN.match(after))
        for text, after in pairwise(part.paragraphs)
    )
    if plain and not any(part.whole) and not any(map(_OF_ITEM.match, part.paragraphs)):
        return Page(document_id, title, url, " ".join(part.paragraphs), date=part.date)
    sentences = tuple(chain.from_iterable(_sentences(part)))
    return Page(document_id, title, url, "", sentences, date=part.date)


def _address(url: str | None, part: _Part) -> str | None:
    if url is None or (part.page is None and part.anchor is None):
        return url
    place = f"page={part.page}" if part.page is not None else quote(part.anchor or "")
    return f"{urldefrag(url).url}#{place}"


def _parts(blocks: Iterable[Block]) -> Iterator[_Part]:
    """Yield the document's pages and sections in order."""
    part: _Part | None = None
    for block in _below_their_leads(blocks):
        place = block.page, block.section, block.date
        if part is None or place != (part.page, part.section, part.date):
            if part is not None:
                yield part
            part = _Part(block.section, block.page, block.anchor, block.date)
        for text in [block.text] if block.kind == "row" else apart(block.text):
            is_row = block.kind == "row" and len(text) <= _LONGEST_ROW
            part.paragraphs.append(text)
            answers = TICKED_BOX in text[1:]  # "Rent? ☒ no"
            labelled = len(text) <= _LONGEST_LABELLED and _LABEL.match(text)
            part.whole.append(bool(is_row or answers or text.startswith(EMPTY_BOX) or labelled))
    if part is not None:
        yield part


def _below_their_leads(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks that say something, items and rows below what introduces them.

    Boxes, and what is in an item, are also below the last item or text before them.
    """
    leads = ["", ""]  # of a list or a table, and of boxes and what is in an item
    typed = ""  # the kind of marks of items that somebody has typed
    around: tuple[str, ...] = ()
    for block in blocks:
        text = clean(block.text)
        if not text:
            continue
        if block.section != around:
            leads, around = ["", ""], block.section
        is_row = block.kind == "row"
        is_option = with_boxes(text).startswith((EMPTY_BOX, TICKED_BOX))
        is_inner = is_option or block.kind == "subitem" or (is_row and leads[1].endswith(":"))
        kind, is_first = _mark_of(text)
        begins = is_first and leads[0] == leads[1] and leads[0].endswith(":")
        if block.kind != "subitem":  # the list around it may go on after it
            typed = kind if not block.kind and (begins or kind == typed) else ""
        is_item = bool(block.kind or typed)
        if not (is_inner or is_row):
            leads = [leads[0] if is_item else text, text]
        own = dict.fromkeys(leads[: 2 if is_inner else is_item])
        above = [lead for lead in own if _introduces(lead, is_row) and lead not in text]
        new = (lead for lead in above if lead not in block.section)
        yield replace(block, text=text, section=(*block.section, *new))


def _mark_of(text: str) -> tuple[str, bool]:
    """Return the kind of the mark that somebody has typed before an item, and if it is a first."""
    mark = _TYPED.match(text)
    kind = (mark and mark.lastgroup) or ""
    return kind, bool(mark and mark[kind] in _FIRST_MARKS)


def _introduces(lead: str, is_row: bool) -> bool:
    is_caption = (
        is_row
        and len(lead) <= _LONGEST_TITLE
        and (_ON_FIGURES.search(lead) or not _NO_HEADING.search(lead))
    )
    begins = lead.endswith((":", "?")) or may_be_heading(lead) or is_caption
    return bool(begins) and len(lead) <= _LONGEST_LEAD


def _cut(part: _Part) -> Iterator[tuple[str, ...]]:
    """Yield the sentences of each passage of a part; the passages have about the same size."""
    split = _sentences(part)
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


def _sentences(part: _Part) -> list[list[str]]:
    """Return the sentences of each paragraph; one that is longer than a passage is cut."""
    splits = shared_splitter().split(part.paragraphs)
    return [
        [
            text[begin:end]
            for start, stop in ([(0, len(text))] if whole else _with_number(text, bounds))
            for begin, end in _within_limit(text, start, stop)
        ]
        for text, whole, bounds in zip(part.paragraphs, part.whole, splits, strict=True)
    ]


def _with_number(text: str, bounds: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the bounds of sentences, of which the number of an item is none."""
    number = _OF_ITEM.match(text)
    if number and bounds[1:] and bounds[0] == number.span():
        return [(bounds[0][0], bounds[1][1]), *bounds[2:]]
    return bounds


def _within_limit(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a sentence, or of its pieces, which end between words if they can."""
    while end - start > LIMIT:
        space = text.rfind(" ", start, start + LIMIT + 1)
        stop = space if space > start else start + LIMIT
        yield start, stop
        start = stop + (space > start)
    yield start, end


def without_edit(heading: str) -> str:
    """Return a heading without the link that edits its section in a wiki: "History[edit]"."""
    return _EDIT.sub("", heading)


def may_be_heading(line: str) -> bool:
    """Return whether a paragraph looks like a heading; what follows it decides."""
    return bool(
        len(line) <= LONGEST_HEADING
        and _FIRST.match(line)
        and _WORD.search(line)
        and not (_NO_HEADING.search(line) or _SENTENCES.search(line))
        and (":" not in _BRACKETS.sub("", line) or _NUMBERED.match(line))
    )


def may_be_title(line: str) -> bool:
    """Return whether the first paragraph looks like the title of a text, which may have a colon.

    "Blood service of Oster: report for May", but not "Present: Ann Lee".
    """
    label, colon, _ = line.partition(":")
    named = label.count(" ") >= _LEAST_NAMED if colon else len(_WORD.findall(line)) > 1
    says = _NO_HEADING.search(line) or _SENTENCES.search(line) or ON_IT.match(line)
    return bool(len(line) <= _LONGEST_TITLE and _FIRST.match(line) and named and not says)


def may_be_bold_heading(line: str) -> bool:
    """Return whether a line in bold letters is one, and says no decision and no amount."""
    return may_be_heading(line) and not (_DECIDED.search(line) or _AMOUNT.match(line))
