"""Reads .rtf with striprtf. It does not know raised, lowered or hidden text: that is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import PATTERN, rtf_to_text

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Unreadable
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import Block, sections
from retrieval.corpora.superscripts import lowered, marked, unmarked

_AT_HEIGHT = {  # the marks around a text above and below the line; none on it
    "super": tuple(marked("")),
    "sub": tuple(lowered("")),
    "": ("", ""),
}
_MOVED = {"up": "super", "dn": "sub"}  # by a number of half points
_LEAST_MOVED = 4  # less is nearly on the line
_HIDES = {"v", "strike", "striked", "deleted", "fldinst"}  # the last: where a link leads
_ASIDE = {"footnote", "shptxt"}  # notes and text boxes
_CELL = "|"  # what striprtf puts after each cell
_TITLE = re.compile(r"\{\\title\s+([^{}\\]*)\}")


def read(path: Path) -> FileText:
    """Return the document; headings are lines that look like them.

    Raises:
        Unreadable: it is not RTF.
        OSError: the file cannot be read.
    """
    content = path.read_text(encoding="latin-1")
    if not content.lstrip().startswith("{\\rtf"):
        raise Unreadable("the file is not RTF.", "Give it the suffix of its format.")
    said = _TITLE.search(content)
    title = clean(said[1]) if said else ""
    text = rtf_to_text(_shown(content), errors="replace")  # type: ignore[no-untyped-call]
    return FileText(title, list(_blocks(text)))


def _shown(content: str) -> str:
    """Return RTF without hidden and struck-out text and with marks around raised text.

    Notes and text boxes, which striprtf leaves out, follow their paragraph.
    """
    shown: list[str] = []
    notes: list[str] = []
    into, note = shown, 0
    height, hidden = "", False
    touches = False  # whether what comes next stands right after a word; programs move whole words
    outer: list[tuple[str, bool]] = []
    for found in PATTERN.finditer(content):
        word, number, code, symbol, brace, letter = found.groups()
        before = height
        if brace == "{":
            outer.append((height, hidden))
        elif brace and outer:
            height, hidden = outer.pop()
            into = shown if len(outer) < note else into
        elif word in {"super", "sub"}:
            height = word if number != "0" else ""
        elif word in _MOVED:
            moved = touches and int(number or "6") >= _LEAST_MOVED
            height = _MOVED[word] if moved else ""
        elif word == "nosupersub":
            height = ""
        elif word in _HIDES:
            hidden = number != "0"
        elif word == "plain":
            height, hidden = "", False
        elif word in _ASIDE:
            into, note, height = notes, len(outer), ""
            into.append("\\par ")
            continue
        is_text = code or letter or symbol in {"~", "-", "_"} or word in {"u", "tab", "line"}
        if is_text:
            touches = bool(code or word == "u" or symbol == "_" or (letter and letter.strip()))
        if not (hidden and is_text):
            into.append(found[0])
        if height != before:
            into.append(_unicode(_AT_HEIGHT[before][1] + _AT_HEIGHT[height][0]))
        if word == "par" and into is shown and notes:
            shown += ["{", *notes, "\\par}"]
            notes.clear()
    return "".join([*shown[:-1], *notes, *shown[-1:]])  # those of a last line without an end


def _unicode(characters: str) -> str:
    return "".join(rf"{{\uc0\u{ord(character)} }}" for character in characters)


def _blocks(text: str) -> Iterator[Block]:
    """Yield the paragraphs, and sentences for the rows of tables."""
    lines = [unmarked(line) for line in text.split("\n")]
    for is_table, some in groupby(filter(None, map(str.strip, lines)), lambda x: x.endswith(_CELL)):
        if is_table:
            rows = [[clean(cell) for cell in line[:-1].split(_CELL)] for line in some]
            yield from map(Block, row_sentences(rows))
        else:
            yield from sections(list(some))
