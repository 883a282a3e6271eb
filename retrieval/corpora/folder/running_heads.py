"""Finds what is printed for the page and not for the text: running heads and feet, page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from retrieval.corpora.folder.segments import Segment, rows

_EDGE = 2  # lines at the top and the bottom that may be running heads
_REPEATED = 3  # pages that have the same line there
_MOST = 3  # segments of a running head; the head of a table has more
_NUMBER = re.compile(r"\d+")
# Dots that lead to what stands at the right: to a page in a table of contents, or to a value.
_LEADERS = re.compile(r"(?<![.…])(?<![.…] )\s*(?:[.…] ?){4,}+\s*+(?=\S+(?: \S+)?$)")
_TO_A_PAGE = re.compile(r"(?<!\.)(?<!\. )(?:\. ?){4,}+(\d+)$")
_CONTENTS = 3  # lines of a table of contents on a page, at least
_SENTENCE_MARKS = (".", "!", "?")


def without_running_heads(pages: Sequence[Sequence[Segment]]) -> list[list[Segment]]:
    """Return the segments of each page without running heads, and without tables of contents."""
    lines = [_without_contents(rows(page), len(pages)) for page in pages]
    counts = Counter(line for page in lines for line in {*map(_shape, _edges(page))})
    repeated = {line for line, count in counts.items() if count >= _REPEATED}
    return [[one for row in _without(page, repeated) for one in row] for page in lines]


def _without_contents(lines: list[list[Segment]], last: int) -> list[list[Segment]]:
    """Return the lines of a page without those of an index or a table of contents.

    Their numbers are pages of the file, of which ``last`` is the last one, or follow each other. In
    other lines with leaders there are values: "Lamps ..... 12" becomes "Lamps: 12".
    """
    pages = [int(found[1]) for row in lines if (found := _TO_A_PAGE.search(_text(row)))]
    in_order = len(pages) >= _CONTENTS and pages == sorted(pages)
    if pages and (in_order or max(pages) <= last):
        return [row for row in lines if not _TO_A_PAGE.search(_text(row))]
    return [_with_value(row) if _LEADERS.search(_text(row)) else row for row in lines]


def _with_value(row: list[Segment]) -> list[Segment]:
    return [replace(row[0], text=_LEADERS.sub(": ", _text(row)), right=row[-1].right)]


def _text(row: Sequence[Segment]) -> str:
    return " ".join(one.text for one in row)


def _edges(lines: Sequence[Sequence[Segment]]) -> list[Sequence[Segment]]:
    return [*lines[:_EDGE], *lines[-_EDGE:]]


def _shape(row: Sequence[Segment]) -> str:
    """Return a line with its numbers made equal, which differ from page to page."""
    return _NUMBER.sub("0", _text(row))


def _without(lines: list[list[Segment]], repeated: set[str]) -> list[list[Segment]]:
    first, last = 0, len(lines)
    while first < min(_EDGE, last) and _is_running(lines, first, first + 1, repeated):
        first += 1
    while last > max(first, len(lines) - _EDGE) and _is_running(
        lines, last - 1, last - 2, repeated
    ):
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
    return line.isdecimal() or (
        not (len(row) > _MOST and beside >= len(row) - 1)
        and _shape(row) in repeated
        and not line.endswith(_SENTENCE_MARKS)
        and any(map(str.isalpha, line))
    )
