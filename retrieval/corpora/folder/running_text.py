"""Makes paragraphs of the lines of printed pages, without what is printed for the page.

That is running heads and feet, and page numbers. Words that are cut at the ends of lines are
joined, and fragments such as the letters of an index are left out; those with numbers that may be
data are listed. A sentence that continues in the next column, after a table or on the next page
belongs to the place that it begins at; notes at the foot of a page do not come between.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from statistics import median

from retrieval.corpora.boxes import with_boxes
from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX
from retrieval.corpora.folder.layout import Line, Table
from retrieval.corpora.folder.segments import Segment, rows
from retrieval.corpora.folder.tables import Cell, above_table, names_in, row_sentences
from retrieval.corpora.passages import FIELD, may_be_bold_heading
from retrieval.text.sentence_splitter import boundaries

_EDGE = 2  # lines at the top and the bottom that may be running heads
_REPEATED = 3  # pages that have the same line there
_MOST = 3  # segments of a running head; the head of a table has more
_NUMBER = re.compile(r"\d+")
# Dots that lead to what stands at the right: to a page in a table of contents, or to a value.
_LEADERS = re.compile(r"(?<![.…])(?<![.…] )\s*(?:[.…] ?){4,}+\s*+(?=\S+(?: \S+)?$)")
_TO_A_PAGE = re.compile(r"(?<!\.)(?<!\. )(?:\. ?){4,}+(\d+)$")
_CONTENTS = 3  # lines of a table of contents on a page, at least
_SENTENCE_MARKS = (".", "!", "?")
_CONTINUED = re.compile(r"\bcont(?:inued|['’]d|\.)", re.IGNORECASE)  # noqa: RUF001
_BOX = re.compile(f"[{EMPTY_BOX}{TICKED_BOX}]")
_BULLET = re.compile(r"[•▪◦‣●■☐☒–*-]\s")  # noqa: RUF001 - the dash of a list is meant
_ENDED = re.compile(r"[.!?…:;。！？][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant
_WORD = re.compile(r"[\u2e80-\u9fff]|[^\W\d_]{2,}")  # Chinese has no spaces
# "Total 12" says something; "Chapter 12" does not.
_ENTRY = re.compile(
    r"(?!(?:page|chapter|section|part|appendix|annex|table|fig(?:ure)?|box|item|no|vol)\b)"
    r"[^\W\d_]{2}.*\s\W*\d[\d.,]*\W*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"[^\W\d_]+\.? \(?\d[\d.]*[.:)]?")  # "Table 3"
_FILLED = re.compile(r"[^.!?:]{1,40}: (?:\+?[\d() -]{6}|\S*@)")  # "Telephone: 555 21 30"
# "1. a valid passport", said in a line of its own, as FIELD is
_ITEM = re.compile(r"\(?(?:\d{1,2}|[a-z])[.)] \S")
_LABEL = re.compile(
    r"(?:[^\W\d_]+\.? )?\(?\d+(?:\.\d+)*[.:)]?|\d+(?:\.\d+)*\.? [^\W\d_a-z].*", re.DOTALL
)
# The heading of a clause in the letters of its text: "2. Time", "Article 3 Price", "IV. Rent"; but
# not "1206 Geneva".
_CLAUSE = re.compile(
    r"(?:(?:(?:Article|Clause|Part|Section) |§ ?)\d+(?:\.\d+)*[.:)]?"
    r"|\d{1,2}(?:\.\d+)*[.:)]?|[IVX]{1,5}\.)(?: [–-])?"  # noqa: RUF001
    r" [^\W\d_a-z].*"
)
_OF_PAGES = re.compile(r"\b[Pp]age \d+ of \d+$")
_LARGER = 1.1  # how much larger than the text a heading is
_LONGEST_HEADING = 100  # characters
_LONGEST_CLAUSE = 60
_WORDS = 3  # of a paragraph without a mark at its end
_LOOKED_AT = 1000  # characters of the next page in which a sentence must end

# These are parts of the size of the letters.
_INDENTED = 0.8
_NEXT_LINE = 1.8  # the height of a line, where few lines show it
_SPACE = 1.3  # the white around a word that a line had room for
_MUCH_SPACE = 3  # the same where the line ends no sentence
_SAME_SIZE = 0.12
_NOTE = 0.93  # the size of notes, as a part of that of the page

_APART = 1.3  # how much further down than other lines the next paragraph begins
_SHORT = 0.6  # a line of less than this part of its column may end in the middle of a sentence
_BLOCK = 3  # lines that show how wide their part of the page is, if they are no list
_BLOCK_LENGTH = 20  # characters of most of them

# At the beginning of a note, but not in ¹⁴C; raised digits are letters to [^\W\d_].
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_NOTE_MARK = re.compile(rf"^[{_RAISED}]+ ?(?=[^\W\d_{_RAISED}]{{2}}|A |[\"“‘(])")  # noqa: RUF001
_CUT = re.compile(r"([^\W_]+)-$")
_HYPHENATED_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_FIRST_WORD = re.compile(r"[^\W_]+")
_CUT_NUMBER = re.compile(r"\d,-$")
_RANGE = re.compile(r"\d[–-]$")  # noqa: RUF001 - the dash of a range of numbers
# What usually keeps the hyphen after it, if the file does not show it.
_WITH_HYPHEN = re.compile(
    r"well|self|non|ex|half|all|cross|first|second|third|high|low|long|short|full|part|one|two"
    r"|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
# Words that no sentence or heading ends with.
_LEADING = {
    *("a", "about", "above", "after", "against", "an", "and", "among", "as", "at", "before"),
    *("below", "between", "but", "by", "during", "for", "from", "if", "in", "into", "its", "near"),
    *("nearly", "of", "on", "or", "over", "per", "some", "than", "that", "the", "their", "this"),
    *("to", "under", "until", "upon", "when", "where", "which", "while", "who", "whose", "with"),
}
_BEFORE_NUMBER = re.compile(
    r"\b(?:year|years|page|section|article|January|February|March|April|May|June|July|August|September|October|November|December|[Nn]o\.)$"
)
_BETWEEN = frozenset(["and", "or", "to"])  # "pre- and post-war"


def without_running_heads(pages: Sequence[Sequence[Segment]]) -> list[list[Segment]]:
    """Return the segments of each page without running heads, and without tables of contents."""
    lines = [_without_contents(rows(page), len(pages)) for page in pages]
    edges = ({*map(_shape, [*page[:_EDGE], *page[-_EDGE:]])} for page in lines)
    counts = Counter(chain.from_iterable(edges))
    repeated = {line for line, count in counts.items() if count >= _REPEATED}
    return [[one for row in _without(page, repeated) for one in row] for page in lines]


def _without_contents(lines: list[list[Segment]], last: int) -> list[list[Segment]]:
    """Return the lines of a page without those of an index or a table of contents.

    Their numbers are pages of the file, of which ``last`` is the last one, or follow each other. In
    other lines with leaders there are values: "Lamps ..... 12" becomes "Lamps: 12".
    """
    leading = [_TO_A_PAGE.search(_text(row)) for row in lines]
    pages = [int(found[1]) for found in leading if found]
    in_order = len(pages) >= _CONTENTS and pages == sorted(pages)
    if pages and (in_order or max(pages) <= last):
        return [row for row, found in zip(lines, leading, strict=True) if not found]
    return [
        [replace(row[0], text=_LEADERS.sub(": ", text), right=row[-1].right)]
        if _LEADERS.search(text := _text(row))
        else row
        for row in lines
    ]


def _text(row: Sequence[Segment]) -> str:
    return " ".join(one.text for one in row)


def _shape(row: Sequence[Segment]) -> str:
    """Return a line with its numbers made equal, which differ from page to page."""
    return _NUMBER.sub("0", _text(row))


def _without(lines: list[list[Segment]], repeated: set[str]) -> list[list[Segment]]:
    first, last = 0, len(lines)
    while first < min(_EDGE, last) and _is_running(lines, first, first + 1, repeated):
        first += 1
    least = max(first, len(lines) - _EDGE)
    while last > least and _is_running(lines, last - 1, last - 2, repeated):
        last -= 1
    return lines[first:last]


def _is_running(
    lines: Sequence[Sequence[Segment]], number: int, inner: int, repeated: set[str]
) -> bool:
    """Return whether a line is a running head; ``inner`` is the one beside it, in the page.

    A sentence is not, even if pages begin with the same one but for its numbers. Nor is the head
    of a table, beside which there is a row.
    """
    row = lines[number]
    line = _text(row)
    beside = len(lines[inner]) if 0 <= inner < len(lines) else 0
    is_head = len(row) > _MOST and beside >= len(row) - 1
    says = is_head or line.endswith(_SENTENCE_MARKS) or not any(map(str.isalpha, line))
    numbers_page = line.isdecimal() or _OF_PAGES.search(line)
    return bool(numbers_page) or (_shape(row) in repeated and not says)


@dataclass(slots=True, eq=False)
class _Paragraph:
    """``last`` is its last line, if it is no row of a table. ``is_full``: ``last`` had no room.

    ``kind``: "row" of a table, "subitem", which begins further right than the item above, or "".
    """

    text: str
    last: Line | None
    is_note: bool = False
    is_full: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PageText:
    """Each paragraph of a page, its size if it is a heading, and its kind as in ``Block``.

    ``dropped``: lines and rows with numbers that are not read because they are no sentences, such
    as those at the axis of a figure. Labels such as "Table 3" and "1 Introduction" are not there.
    """

    paragraphs: list[tuple[str, float, str]]
    dropped: list[str]


def running_text(pages: Sequence[Sequence[Line | Table]]) -> list[PageText]:
    """Return the text of each page."""
    lines = [item for page in pages for item in page if isinstance(item, Line)]
    words = words_in(line.text for line in lines)
    letters: dict[float, int] = Counter()
    for line in lines:
        letters[round(line.size, 1)] += len(line.text)
    usual_size = max(letters, key=lambda size: letters[size], default=0.0)
    found: list[list[_Paragraph]] = []
    begun: _Begun | None = None
    for page in pages:
        paragraphs, begun = _paragraphs(page, usual_size, words, begun)
        found.append(paragraphs)
    _join(found, words)
    return [_page_text(page, usual_size) for page in found]


def _page_text(paragraphs: Sequence[_Paragraph], usual_size: float) -> PageText:
    read: list[tuple[str, float, str]] = []
    dropped: list[str] = []
    sizes = [_heading_size(one, usual_size) for one in paragraphs]
    sized = list(zip(paragraphs, sizes, strict=True))
    headings = [False, *(not size and _may_be_heading(one) for one, size in sized), False]
    led = False
    for at, (one, size) in enumerate(sized):
        # Items of a list, or lines of a title, are beside others.
        if one.last and headings[at : at + 3] == [False, True, False] and at + 1 < len(paragraphs):
            size = size or one.last.size
        # Short lines below "Contact:" say something, up to the next sentence, heading or row.
        before, above, kind = read[-1] if read else ("", 0.0, "")
        is_cut = above or kind == "row" or _ENDED.search(before)
        led = before.endswith(":") or (led and not is_cut)
        is_led = led and _WORD.search(one.text) and not _NUMBERED.fullmatch(one.text)
        says = one.last and (_says_something(one.text) or is_led)
        if size or one.kind == "row" or says:
            read.append((one.text, size, one.kind))
        elif any(map(str.isdigit, one.text)):  # which may be data
            is_label = _LABEL.fullmatch(one.text) and any(map(str.isalpha, one.text))
            dropped += [] if is_label else [one.text]
    return PageText(read, dropped)


def words_in(lines: Iterable[str]) -> set[str]:
    """Return the words within lines, also those with a hyphen."""
    words: set[str] = set()
    for line in lines:
        found = _HYPHENATED_WORD.findall(line.casefold())
        words.update(found[1:-1] if line.endswith("-") else found[1:])
    return words


@dataclass(frozen=True, slots=True)
class _Begun:
    """A table at the end of a page: the names of its columns, and what stands above it."""

    names: list[list[Cell]]
    above: list[str]

    def goes_on_in(self, rows: Sequence[Sequence[Cell | str]]) -> bool:
        """Return whether it goes on with these rows at the top of the next page."""
        own = names_in(rows)
        same = [[cell.text for cell in row] for row in own]
        known = [[cell.text for cell in row] for row in self.names]
        fits = bool(known and rows) and len(known[0]) == len(rows[0])
        return fits and (not own or same == known)


def _paragraphs(
    items: Sequence[Line | Table],
    usual_size: float,
    words: Collection[str],
    begun: _Begun | None,
) -> tuple[list[_Paragraph], _Begun | None]:
    """Return the paragraphs of a page, and the table that may go on in the next."""
    lines = [item for item in items if isinstance(item, Line)]
    heights, edges = _usual_heights(lines), _right_edges(lines)
    paragraphs: list[_Paragraph] = []
    outer: Line | None = None  # the first line of the last outermost item
    for item in items:
        if isinstance(item, Table):
            rows: list[Sequence[Cell | str]] = [*item.heads, *filter(_is_row, item.rows)]
            above = above_table((one.text, one.kind == "row") for one in paragraphs[-3:])
            at_top = all(_CONTINUED.search(one.text) for one in paragraphs)
            if begun and at_top and begun.goes_on_in(rows):
                rows, above = [*begun.names, *rows], begun.above
            begun = _Begun(names_in(rows), above)
            sentences = row_sentences(rows, above)
            paragraphs += (_Paragraph(text, None, kind="row") for text in sentences)
            alone = (row for row in item.rows if not _is_row(row))
            paragraphs += (_Paragraph("".join(row), None) for row in alone)
            outer = None
            continue
        is_note = item.size < _NOTE * usual_size
        before = _unfinished(paragraphs, item, is_note)
        if before and before.last and _continues(before, item, heights, edges, words):
            before.text = with_line(before.text, item.text, words)
            before.last = item
        else:
            leads = paragraphs and paragraphs[-1].text.endswith(":")
            if leads and not _is_item(paragraphs[-1].text):  # another list begins
                outer = None
            is_inner = outer is not None and _is_right_of(item, outer)
            is_item = _is_item(item.text)
            outer = outer if is_inner else item if is_item else None
            kind = "subitem" if is_inner and is_item else ""
            before = _Paragraph(_NOTE_MARK.sub("", item.text), item, is_note, kind=kind)
            paragraphs.append(before)
        before.is_full = not _had_room(item, "and", edges, _SPACE)
    return paragraphs, begun if items and isinstance(items[-1], Table) else None


def _is_item(text: str) -> bool:
    """Return whether a text begins with a bullet or a number, and is no heading of a clause."""
    numbered = _ITEM.match(text) and not (_CLAUSE.fullmatch(text) and not _ENDED.search(text))
    return bool(_BULLET.match(text) or numbered)


def _is_right_of(line: Line, other: Line) -> bool:
    return line.column == other.column and line.left - other.left > _INDENTED * line.size


def _unfinished(paragraphs: Sequence[_Paragraph], line: Line, is_note: bool) -> _Paragraph | None:
    """Return the paragraph that a line may continue: the last one, but for notes and tables."""
    last = paragraphs[-1] if paragraphs else None
    if last and last.last and last.last.column == line.column:
        return last
    alike = (one for one in reversed(paragraphs) if one.last and one.is_note == is_note)
    return next(alike, None)


def _continues(
    before: _Paragraph,
    line: Line,
    heights: dict[int, float],
    edges: dict[Line, float],
    words: Collection[str],
) -> bool:
    last = before.last
    assert last
    size = max(line.size, last.size)
    alike = any(own.match(before.text) and own.match(line.text) for own in (FIELD, _ITEM))
    begins = _BULLET.match(line.text) or (alike and not goes_on(before.text, line.text))
    if begins or abs(line.size - last.size) > _SAME_SIZE * size:
        return False
    ended = bool(_ENDED.search(before.text))
    in_sentence = goes_on(before.text, line.text)
    if last.bold and not (line.bold or in_sentence):
        return False
    down = last.base - line.base
    if last.column != line.column or down < 0:
        return in_sentence or (before.is_full and not ended)
    if down > _APART * heights.get(line.column, _NEXT_LINE / _APART * size):
        return False
    is_short = line.right - line.left < _SHORT * (edges[line] - line.left)
    is_heading = is_short and not _ENDED.search(line.text) and not line.text[0].islower()
    if ended and (line.left - last.left > _INDENTED * size or is_heading):
        return False
    if _CUT.search(before.text) or before.text.endswith(","):
        return True
    if not ended and (in_sentence or not line.text[0].isupper()):
        return last.right - last.left >= _SHORT * (edges[last] - last.left)
    return not _had_room(last, line.text, edges, _SPACE if ended else _MUCH_SPACE)


def _had_room(line: Line, text: str, edges: dict[Line, float], space: float) -> bool:
    """Return whether the first word of a text had fitted into a line, with so much white."""
    letter = (line.right - line.left) / len(line.text)
    word = letter * len(text.split(maxsplit=1)[0])
    return line.right + word + space * line.size < edges[line]


def _usual_heights(lines: Sequence[Line]) -> dict[int, float]:
    """Return the usual height of a line in each column that shows it."""
    heights: dict[int, list[float]] = {}
    for before, line in pairwise(lines):
        if before.column == line.column and 0 < before.base - line.base < 3 * line.size:
            heights.setdefault(line.column, []).append(before.base - line.base)
    return {column: median(found) for column, found in heights.items() if len(found) > 1}


def _right_edges(lines: Sequence[Line]) -> dict[Line, float]:
    """Return for each line how far to the right its part of the page goes."""
    edges = {}
    for block in _blocks(lines):
        shows = len(block) >= _BLOCK and median(len(line.text) for line in block) >= _BLOCK_LENGTH
        right = max(line.right for line in block)
        edges.update({line: right if shows else line.right_edge for line in block})
    return edges


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield lines of one size that follow each other without a space between."""
    block: list[Line] = []
    for line in lines:
        last = block[-1] if block else line
        size = max(line.size, last.size)
        follows = last.column == line.column and 0 < last.base - line.base < _NEXT_LINE * size
        if block and not (follows and abs(line.size - last.size) <= _SAME_SIZE * size):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def with_line(before: str, after: str, words: Collection[str]) -> str:
    """Return a text with its next line; a word or number that is cut between them is made whole."""
    if _RANGE.search(before) and after[0].isdigit():
        return before + after
    if _CUT_NUMBER.search(before) and after[:3].isdigit():
        return before[:-1] + after
    cut, rest = _CUT.search(before), _FIRST_WORD.match(after)
    if not cut or not rest or rest[0] in _BETWEEN:
        return f"{before} {after}"
    first, second = cut[1].casefold(), rest[0].casefold()
    keeps = (
        f"{first}-{second}" in words
        or not (cut[1][-1].islower() and after[0].islower())
        or (f"{first}{second}" not in words and _WITH_HYPHEN.fullmatch(first))
    )
    return before + after if keeps else before[:-1] + after


def _is_row(row: Sequence[str]) -> bool:
    """Return whether it is more than a number that stands alone, as at the axis of a figure."""
    cells = [cell for cell in row if cell]
    return len(cells) > 1 or any(map(str.isalpha, "".join(cells)))


def _heading_size(paragraph: _Paragraph, usual_size: float) -> float:
    """Return the size of a heading, which is larger than the text and no sentence, or else 0."""
    text, size = paragraph.text, paragraph.last.size if paragraph.last else 0
    says = _ENDED.search(text) or _FILLED.match(text)
    is_short = len(text) <= _LONGEST_HEADING and not says and _WORD.search(text)
    return size if is_short and size >= _LARGER * usual_size else 0


def _may_be_heading(paragraph: _Paragraph) -> bool:
    """Return whether a short line in the size of the text is numbered like a clause, or bold."""
    text, line = paragraph.text, paragraph.last
    if line is None or paragraph.is_note or len(text) > _LONGEST_CLAUSE or _ENDED.search(text):
        return False
    is_bold = line.bold and text == line.text and may_be_bold_heading(text)
    return bool(is_bold or _CLAUSE.fullmatch(text))


def _says_something(paragraph: str) -> bool:
    """The verifier takes some fragments ("Table 3") with the title as support of any claim."""
    words = len(_WORD.findall(paragraph))
    is_whole = _ENDED.search(paragraph) or _BULLET.match(paragraph)
    if is_whole or _BOX.search(with_boxes(paragraph)):
        return words > 0
    return words >= _WORDS or bool(_ENTRY.fullmatch(paragraph) or FIELD.match(paragraph))


def _join(pages: list[list[_Paragraph]], words: Collection[str]) -> None:
    """Move the end of a sentence to the page that it begins on."""
    before: _Paragraph | None = None
    for page in pages:
        text = [one for one in page if one.last and not one.is_note and _says_something(one.text)]
        first = text[0] if text else None
        end = _first_end(first.text) if first else 0
        if before and first and end and goes_on(before.text, first.text):
            before.text = with_line(before.text, first.text[:end].rstrip(), words)
            first.text = first.text[end:].lstrip()
            if not first.text:
                page.remove(first)
                text = text[1:]
        before = text[-1] if text else before


def goes_on(before: str, after: str) -> bool:
    """Return whether grammar says that a sentence continues in the next line, column or page.

    It does if the next one begins with a small letter, or this one ends with a comma, in a word, or
    with a word that another must follow: "of", "the year", "about".
    """
    if _ENDED.search(before):
        return False
    return (
        after[:1].islower()
        or before.endswith((",", "("))
        or bool(_CUT.search(before) or _CUT_NUMBER.search(before))
        or (after[:1].isdigit() and bool(_BEFORE_NUMBER.search(before)))
        or not _LEADING.isdisjoint(before.rsplit(maxsplit=1)[-1:])
    )


def _first_end(paragraph: str) -> int:
    """Return where the first sentence of a paragraph ends, 0 if that is not near."""
    starts, _ = boundaries(paragraph[:_LOOKED_AT])
    if starts:
        return starts[0]
    return len(paragraph) if len(paragraph) < _LOOKED_AT and _ENDED.search(paragraph) else 0
