"""Reads text files: paragraphs, lists, tables drawn with characters, and transcripts.

A blank line ends a paragraph. Within one, a line ends it if it had room for the next word and
grammar does not say that it goes on, and so does each item, speaker or time. Words that are cut at
the ends of lines are made whole. Numbers of pages and of lines are no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.decoding import decoded, is_binary
from retrieval.corpora.folder.document import FileText, Unreadable
from retrieval.corpora.folder.running_text import goes_on, with_line, words_in
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import may_be_heading, sections, without_edit
from retrieval.corpora.superscripts import unmarked

_NEWLINE = re.compile(r"\r\n?|[\f\v\x85\u2028\u2029]")
_PAGE = re.compile(r"\s*(?:[-–—]\s*\d{1,4}\s*[-–—]|[Pp]age \d+(?: of \d+)?)(?:\s{3,}\S.*)?\s*")  # noqa: RUF001
_NUMBERED = re.compile(r"\s{0,8}(\d{1,4})(?:\s{2,}|\t|$)")
_LEAST_NUMBERED = 8  # lines
# What begins an item, or what somebody says at some time.
_BEGINS = re.compile(
    r"\s*(?:[•▪◦‣●■*–-]\s|\(?(?:\d{1,3}|[a-z])[.)]\s|[\[(]?\d{1,2}:\d\d(?::\d\d)?|\[[xX ]?\]\s"  # noqa: RUF001
    r"|[☐☑☒]|(?:[A-Z][A-Z.' -]+\d*|Q|A)[:.]\s)"
)
_LABELLED = re.compile(r"[A-Z][^.!?:]{0,40}:\s")
_BORDER = re.compile(r"[\s|+:=_─━│┌┐└┘├┤┬┴┼╞╪╡-]*[-=_─━═]{3}[\s|+:=_─━═│┌┐└┘├┤┬┴┼╞╪╡-]*")
_BAR = re.compile(r"[|│]")
_CELLS = re.compile(r"(?<=\S)(?<![.!?])(?:\s{2,}|\t)(?=\S)")
_NARROWEST = 40  # characters of a line
_FULL = 0.85  # the part of its width from which on a line had no room
_WHOLE = 40  # characters of a paragraph that goes on in the next


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        Unreadable: it is not a text.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    if is_binary(content):
        raise Unreadable(
            "the file is not a text in UTF-8 or another common encoding.",
            "Save it as a text file in UTF-8.",
        )
    return _NEWLINE.sub("\n", decoded(content))


def read(path: Path) -> FileText:
    """Return the document; its title is its first paragraph, if that looks like a heading.

    Raises:
        Unreadable, OSError: the file cannot be read.
    """
    lines = list(lines_of(text_of(path)))
    if lines[1:] and may_be_heading(lines[0]):
        return FileText(without_edit(lines[0]), sections(lines[1:]))
    return FileText("", sections(lines))


def lines_of(text: str) -> Iterator[str]:
    """Yield the paragraphs, items and rows of tables of a text, and "" for blank lines."""
    lines = _without_numbers([line for line in text.split("\n") if not _PAGE.fullmatch(line)])
    words = words_in(lines)
    before = ""
    for filled, group in groupby(lines, key=lambda line: bool(line.strip())):
        for number, (is_table, some) in enumerate(_stretches(list(group)) if filled else ()):
            if not is_table and all(map(_BORDER.fullmatch, some)):  # below a heading
                continue
            found = list(_rows(some) if is_table else _paragraphs(some, words))
            if not is_table and len(before) >= _WHOLE and goes_on(before, found[0]):
                found[0] = with_line(before, found[0], words)
            elif before:
                yield from [before] if number else [before, ""]
            *whole, before = found
            yield from whole
    if before:
        yield before


def _without_numbers(lines: Sequence[str]) -> list[str]:
    """Return lines without the numbers of the lines of a transcript: 1, 2, 3, on each page."""
    numbers = [
        (at, int(found[1])) for at, line in enumerate(lines) if (found := _NUMBERED.match(line))
    ]
    steps = sum(b[1] == a[1] + 1 for a, b in pairwise(numbers))
    filled = sum(bool(line.strip()) for line in lines)
    if len(numbers) < _LEAST_NUMBERED or steps < 0.8 * len(numbers) or len(numbers) < 0.8 * filled:
        return list(lines)
    return [_NUMBERED.sub("", line, count=1) for line in lines]


def _stretches(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield the lines between two blank ones in stretches, and whether each is a table."""
    for is_table, group in groupby(
        lines, key=lambda line: bool(_BORDER.fullmatch(line) or _cells(line)[1:])
    ):
        some = list(group)
        yield is_table and len(_table(some)) > 1, some


def _cells(line: str) -> list[str]:
    """Return the cells of a line that may be a row."""
    bars = _BAR.split(line.strip().strip("|│"))
    return [bar.strip() for bar in bars] if bars[1:] else _CELLS.split(line.strip())


def _table(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table, none if the columns of the lines are not below each other."""
    rows = [line.expandtabs(8) for line in lines if not _BORDER.fullmatch(line)]
    if any("\t" in line or _BAR.search(line) for line in lines):
        return [_cells(line) for line in lines if not _BORDER.fullmatch(line)]
    width = max(map(len, rows), default=0)
    blank = [
        all(row[at : at + 1].isspace() or at >= len(row) for row in rows) for at in range(width)
    ]
    gutters = [
        at
        for at in range(1, width)
        if blank[at - 1] and not blank[at] and (at < 2 or blank[at - 2])
    ]
    bounds = [0, *gutters, width]
    table = [[row[a:b].strip() for a, b in pairwise(bounds)] for row in rows]
    filled = [[cell for cell in row if cell] for row in table]
    return table if sum(len(row) > 1 for row in filled) > 1 else []


def _rows(lines: Sequence[str]) -> Iterator[str]:
    return row_sentences([[clean(unmarked(cell)) for cell in row] for row in _table(lines)])


def _paragraphs(lines: Sequence[str], words: set[str]) -> Iterator[str]:
    width = max(_NARROWEST, *map(len, lines))
    text, last = "", ""
    for line in lines:
        if text and not _ends(last, line, width):
            text = with_line(text, line.strip(), words)
        else:
            if text:
                yield clean(unmarked(text))
            text = line.strip()
        last = line.rstrip()
    yield clean(unmarked(text))


def _ends(line: str, following: str, width: int) -> bool:
    """Return whether a paragraph ends with a line."""
    if _BEGINS.match(following) or (_LABELLED.match(following) and not goes_on(line, following)):
        return True
    room = len(line) + 1 + len(following.split(maxsplit=1)[0]) <= _FULL * width
    return room and not goes_on(line, following.lstrip())
