"""Finds the headings of a text in which nothing marks them but a line of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.corpora.cleaning import clean
from retrieval.corpora.passages import Block, ends_sentence

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
