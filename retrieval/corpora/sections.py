"""Finds the headings in a text that has only lines, and what numbers its lines in a series.

A heading is a short line without a mark at its end, before a paragraph that has one, a box, a label
with its value or an item of a list, and not right below another short line that is none; of two
such lines the second is below the first. A line that numbers itself as a heading does ("R/03") is
one too, or ends the section of the one before it. Other short lines are paragraphs, or items below
what introduces them with a colon, up to the last bullet if there are some.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX
from retrieval.corpora.passages import (
    BULLET,
    FIELD,
    LONGEST_HEADING,
    Block,
    ends_sentence,
    may_be_bold_heading,
    may_be_heading,
    without_edit,
)

# What numbers a line among others: "§ 2", "Case 23/061", "R/02", "T3*", "1.2", "II.", "(b)".
_SERIES = re.compile(
    r"\(?(?:(?:§ ?|[A-Z][^\W\d_]{0,9}[ /.-]?)?\d{1,4}(?:[./-]\d{1,4}){0,3}[a-z]?[.):,*]{0,2}"
    r"|(?:[ivx]{1,5}|[IVX]{1,5}|[A-Za-z])[.)]|[A-Z](?= [A-Z][a-z]))(?=\s)"
)


def series_of(line: str) -> str:
    """Return what the numbers of lines of one series have in common, "" for other lines."""
    found = _SERIES.match(line)
    return re.sub(r"\d+|\b[ivx]+\b|\b[a-z]\b", "0", found[0].strip(" *:")) if found else ""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a text; ``series``: as ``series_of`` returns it, ``indent``: blanks before it.

    ``is_first``: after a blank line. ``may_name``: it may be a heading by its own words and by
    what is above it. ``begins``: it may be the first below a heading.
    """

    text: str = ""
    is_first: bool = False
    may_name: bool = False
    begins: bool = False
    series: str = ""
    indent: int = 0

    @property
    def is_item(self) -> bool:
        """Whether it shows that it is an item of a list, or a box to tick."""
        return bool(BULLET.match(self.text)) or self.text.startswith((EMPTY_BOX, TICKED_BOX))


def _lines_of(paragraphs: Sequence[str], left_out: Set[str]) -> list[_Line]:
    written = ["", *map(without_edit, map(clean, paragraphs))]
    no_blank = "" not in written[1:]
    lines: list[_Line] = []
    for paragraph, (before, text) in zip(paragraphs, pairwise(written), strict=True):
        if not text:
            continue
        above = lines[-1] if lines else _Line()
        is_apart = no_blank or not before or ends_sentence(before) or above.may_name
        in_capitals = text.isupper() and not before.isupper() and text.count(" ") > 1
        is_apart = is_apart or (in_capitals and may_be_bold_heading(text))
        names = is_apart and may_be_heading(text) and text not in left_out
        indent = len(paragraph) - len(paragraph.lstrip())
        line = _Line(text, not before, names, series=series_of(text), indent=indent)
        lines.append(replace(line, begins=_begins(line, above)))
    of_one = ((line, line.series and line.series == after.series) for line, after in _pairs(lines))
    return [replace(line, may_name=line.may_name and not same) for line, same in of_one]


def _pairs(lines: Sequence[_Line]) -> list[tuple[_Line, _Line]]:
    """Return each line with the one after it."""
    return list(pairwise([*lines, _Line()]))


def _begins(line: _Line, above: _Line) -> bool:
    is_field = FIELD.match(line.text) and (above.series or above.text.isupper())
    has_box = EMPTY_BOX in line.text or TICKED_BOX in line.text
    in_capitals = above.text.isupper() and not line.text.isupper()
    names = above.may_name and (above.is_first or above.text.count(" ") > 1)
    in_capitals = in_capitals and names and may_be_bold_heading(above.text)
    return has_box or _is_text(line.text) or line.is_item or bool(is_field) or in_capitals


def _is_text(line: str) -> bool:
    return len(line) > LONGEST_HEADING or ends_sentence(line)


def sections(
    paragraphs: Sequence[str], left_out: Set[str] = frozenset(), headed: bool = True
) -> list[Block]:
    """Return the paragraphs of a text, each with the headings above it.

    ``headed``: whether the text has headings; otherwise only its lists are found.

    The anchor is the heading as wikis write it in addresses; other sites ignore it. Of the sections
    that ``left_out`` names, such as the references of a wiki, only texts are read.
    """
    lines = _lines_of(paragraphs, left_out)
    lines = lines if headed else [replace(line, may_name=False) for line in lines]
    names = (one for one, after in _pairs(lines) if one.may_name and after.begins)
    of_headings = {one.series for one in names if one.series}
    place = _Place(left_out, of_headings, any(line.text.startswith("+ ") for line in lines))
    around = [_Line(), *lines, _Line(), _Line()]
    for at, line in enumerate(lines):
        place.read(line, around[at], (around[at + 2], around[at + 3]))
    return place.blocks


class _Place:
    """The headings above a line, and whether it is in a list; ``blocks``: what was read so far."""

    def __init__(self, left_out: Set[str], headed: Set[str], has_signs: bool) -> None:
        """Begin a text.

        ``headed``: series of which a heading is. ``has_signs``: its bullets say what is new and
        what is left out.
        """
        self.blocks: list[Block] = []
        self._left_out, self._headed, self._has_signs = left_out, headed, has_signs
        self._section: tuple[str, ...] = ()
        self._anchor: str | None = None
        self._below_upper = False  # the line before is the upper one of two headings
        self._listed = False  # it is an item, or introduces some
        self._nested = False  # a list in this section is numbered as its heading is
        self._tight = False  # a list stands right below this heading
        self._outer: int | None = None  # the blanks before the last item that is in no other one

    def read(self, line: _Line, before: _Line, after: tuple[_Line, _Line]) -> None:
        """Add a line to the blocks, or begin a section with it."""
        below, second = after
        is_upper = line.may_name and below.may_name and second.begins and not before.may_name
        is_upper = is_upper and self._left_out.isdisjoint(self._section)
        level = self._level_of(line)
        if line.text in self._left_out or is_upper or self._is_heading(line, below):
            kept = self._section if self._below_upper else self._section[: level or 0]
            self._section, self._below_upper = (*kept, line.text), is_upper
            self._anchor = line.text.replace(" ", "_")
            self._listed = self._nested = False
            self._tight = below.is_item and not below.is_first
            return
        if level is not None:  # the next of the series ends a section, but not the first of a list
            heading = self._section[level]
            self._nested = self._nested or _order(line.text) <= _order(heading)
            self._section = self._section if self._nested else self._section[:level]
        if line.is_first and before.is_item and not line.is_item:
            self._section = self._section[:-1] if self._tight else self._section
            self._listed = self._tight = False
        if line.is_first and not (before.text.endswith(":") or line.is_item):
            self._listed = self._listed and not ends_sentence(line.text)
        self._add(line, before, below)

    def _level_of(self, line: _Line) -> int | None:
        """Return the level of the heading whose series a line is of, if there is one."""
        levels = enumerate(self._section)
        return next((n for n, name in levels if line.series == series_of(name) != ""), None)

    def _is_heading(self, line: _Line, below: _Line) -> bool:
        """Return whether two signs of a heading are there, and something below it."""
        is_of_series = line.series in self._headed and line.series != below.series
        is_sister = is_of_series and may_be_heading(line.text)
        is_named = is_sister and line.series[0].isupper() and "0" in line.series  # "Part 2"
        return line.may_name + below.begins + is_sister + is_named > 1 and bool(below.text)

    def _add(self, line: _Line, before: _Line, below: _Line) -> None:
        bullet = None if self._has_signs else BULLET.match(line.text)
        text = line.text[bullet.end() :] if bullet else line.text
        of_list = bool(line.series) and line.series == before.series
        is_short = len(line.text) <= LONGEST_HEADING or of_list
        # Below the last bullet of a list, a line without one is no item.
        is_last = before.is_item and not (below.is_item or before.text.endswith(":"))
        ends = is_last and not line.series and line.indent <= before.indent
        is_item = line.is_item or (self._listed and is_short and not ends)
        leads = line.text.endswith(":")
        leads_inner = line.is_item and below.indent > line.indent
        self._listed = leads or is_item
        is_inner = self._outer is not None and line.indent > self._outer
        if not is_inner:
            self._outer = line.indent if line.is_item or line.series else None
        if _is_text(line.text) or self._left_out.isdisjoint(self._section):
            as_item = is_item and (leads_inner or not leads)
            kind = "subitem" if is_inner else "item" if as_item else ""
            self.blocks.append(Block(text, self._section, anchor=self._anchor, kind=kind))


def _order(line: str) -> tuple[int, str]:
    """Return what orders the lines of a series."""
    found = _SERIES.match(line)
    return (len(found[0]), found[0]) if found else (0, "")
