"""Makes paragraphs of the lines of printed pages.

What is printed for the page and not for the text is removed: running heads and feet, page numbers,
tables of contents, hyphens at the ends of lines, and fragments such as the letters of an index. A
sentence that continues on the next page belongs to the page that it begins on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from retrieval.language import sentence_rules

_EDGE = 2  # lines at the top and the bottom that may be running heads
_REPEATED = 3  # pages that have the same line there
_NUMBER = re.compile(r"\d+")
_HYPHENATED = re.compile(r"(?<=[a-z])-$")
_BULLET = re.compile(r"[•▪◦‣●■–*-]\s")  # noqa: RUF001 - the dash of a list is meant
_ENDED = re.compile(r"[.!?…:;][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS = 3  # of a paragraph without a mark at its end
_LEADERS = re.compile(r"(?:\. ?){4,}\d+$")  # a line of a table of contents
_SHORT = 0.6  # a line of less than this part of the page's usual length ends a paragraph
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\xad": "-"}
)
_SENTENCE_MARKS = (".", "!", "?")
_LOOKED_AT = 1000  # characters of the next page in which a sentence must end


def running_text(pages: Sequence[str]) -> list[list[str]]:
    """Return the paragraphs of each page; ``pages`` are texts with the lines as printed."""
    lines = [_lines(page) for page in pages]
    counts = Counter(line for page in lines for line in {*map(_shape, _edges(page))})
    repeated = {line for line, count in counts.items() if count >= _REPEATED}
    found = [_paragraphs(_without(page, repeated)) for page in lines]
    _join(found)
    return found


def _lines(page: str) -> list[str]:
    lines = (" ".join(line.split()) for line in page.translate(_LIGATURES).split("\n"))
    return [line for line in lines if line and not _LEADERS.search(line)]


def _edges(lines: Sequence[str]) -> list[str]:
    return [*lines[:_EDGE], *lines[-_EDGE:]]


def _shape(line: str) -> str:
    """Return a line with its numbers made equal, which differ from page to page."""
    return _NUMBER.sub("0", line)


def _without(lines: list[str], repeated: set[str]) -> list[str]:
    """Remove running heads and feet, and page numbers alone on their line."""
    first, last = 0, len(lines)
    while first < min(_EDGE, last) and _is_running(lines[first], repeated):
        first += 1
    while last > max(first, len(lines) - _EDGE) and _is_running(lines[last - 1], repeated):
        last -= 1
    return lines[first:last]


def _is_running(line: str, repeated: set[str]) -> bool:
    """A sentence is not, even if pages begin with the same one but for its numbers."""
    return line.isdecimal() or (
        _shape(line) in repeated
        and not line.endswith(_SENTENCE_MARKS)
        and any(map(str.isalpha, line))
    )


def _paragraphs(lines: Sequence[str]) -> list[str]:
    lengths = sorted(map(len, lines))
    usual = lengths[len(lengths) * 19 // 20] if lengths else 0  # one line may stick out
    paragraphs: list[list[str]] = []
    begins = True
    for line in lines:
        short = len(line) < _SHORT * usual
        if begins or _BULLET.match(line) or (short and _is_heading(line, paragraphs[-1][-1])):
            paragraphs.append([line])
        elif _HYPHENATED.search(paragraphs[-1][-1]) and line[0].islower():
            paragraphs[-1][-1] = paragraphs[-1][-1][:-1]
            paragraphs[-1].append(line)
        else:
            paragraphs[-1] += [" ", line]
        begins = short and not line.endswith((",", "-"))
    texts = ("".join(pieces) for pieces in paragraphs)
    return [text for text in texts if _says_something(text)]


def _is_heading(line: str, before: str) -> bool:
    """Return whether a short line does not continue the line before, and ends no sentence."""
    return bool(_ENDED.search(before)) and not _ENDED.search(line) and not line[0].islower()


def _says_something(paragraph: str) -> bool:
    """Return whether a paragraph is more than a fragment such as "1 Introduction".

    The verifier sometimes takes a fragment, together with the title, as support of any claim.
    """
    words = len(_WORD.findall(paragraph))
    is_whole = bool(_ENDED.search(paragraph) or _BULLET.match(paragraph))
    return words > 0 if is_whole else words >= _WORDS


def _join(pages: list[list[str]]) -> None:
    """Move the end of a sentence to the page that it begins on."""
    before: list[str] | None = None
    for page in pages:
        if before and page and not _ENDED.search(before[-1]) and page[0][:1].islower():
            end = _first_end(page[0])
            if end:
                rest = page[0][end:].lstrip()
                hyphenated = _HYPHENATED.search(before[-1])
                start = before[-1][:-1] if hyphenated else f"{before[-1]} "
                before[-1] = start + page[0][:end].rstrip()
                page[:1] = [rest] if rest else []
        if page:
            before = page


def _first_end(paragraph: str) -> int:
    """Return where the first sentence of a paragraph ends, 0 if that is not near."""
    starts, _ = sentence_rules.read(paragraph[:_LOOKED_AT])
    if starts:
        return starts[0]
    return len(paragraph) if len(paragraph) < _LOOKED_AT and _ENDED.search(paragraph) else 0
