"""Reads .rtf with striprtf. It does not know raised, lowered or hidden text: that is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import PATTERN, rtf_to_text

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Unreadable, hidden_text
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import Block
from retrieval.corpora.sections import sections
from retrieval.corpora.superscripts import lowered, marked, unmarked

# The marks around a text above and below the line; none on it.
_AT_HEIGHT = {"super": tuple(marked("")), "sub": tuple(lowered("")), "": ("", "")}
_MOVED = {"up": "super", "dn": "sub"}  # by a number of half points
_LEAST_MOVED = 4  # less is nearly on the line
_HIDES = {"v", "strike", "striked", "deleted", "fldinst"}  # the last: where a link leads
_ASIDE = {"footnote", "shptxt"}  # notes and text boxes
_CELL = "|"  # what striprtf puts after each cell
_LISTED = "\ue000"  # marks what stands before an item: a number, or a sign that is a bullet
_SIGN = re.compile(rf"{_LISTED}[·§o](?=\t)")  # in Symbol, Wingdings and Courier New
_LISTS = {"listtext", "pntext"}
_DEEPEST = 8  # the level of an item, from 0
_ENDS = {"par", "row", "cell", "sect", "page"}  # of a paragraph
_TITLE = re.compile(r"\{\\title\s+([^{}\\]*)\}")
_COLOURS = re.compile(r"\{\\colortbl([^{}]*)\}")
_WHITE = re.compile(r"(?=.*\\red255\b)(?=.*\\green255\b)(?=.*\\blue255\b)", re.S)
_TINY = 3  # half points
_COLOURED = re.compile(r"\\(?:cl)?cbpat[1-9]|\\(?:cl)?shading[1-9]|\\shptxt")  # perhaps dark
_GROUNDS = {"highlight", "cb", "chcbpat"}  # below letters


@dataclass(frozen=True, slots=True)
class _Look:
    """How letters look: their height, whether they are hidden, and what makes them invisible.

    ``level``: that of their paragraph in a list, from 0.
    """

    level: int = 0
    height: str = ""
    hidden: bool = False
    white: bool = False
    tiny: bool = False
    ground: bool = False

    @property
    def is_trick(self) -> bool:
        """Whether the letters are invisible, though they are not marked as hidden."""
        return self.tiny or (self.white and not self.ground)


def read(path: Path) -> FileText:
    """Return the document; headings are lines that look like them."""
    content = path.read_text(encoding="latin-1")
    if not content.lstrip().startswith("{\\rtf"):
        raise Unreadable("the file is not RTF.", "Give it the suffix of its format.")
    said = _TITLE.search(content)
    title = clean(said[1]) if said else ""
    content, tricks = _shown(content)
    text = rtf_to_text(content, errors="replace")  # type: ignore[no-untyped-call]
    return FileText(title, list(_blocks(text)), unread=hidden_text("hidden text", tricks))


def _shown(content: str) -> tuple[str, int]:
    """Return RTF without hidden and struck-out text and with marks around raised text.

    Notes and text boxes, which striprtf leaves out, follow their paragraph. An item of a list in an
    item begins with blanks. The number is that of the passages in invisible letters, which are left
    out too.
    """
    table = [] if _COLOURED.search(content) else _COLOURS.findall(content)[:1]
    colours = enumerate("".join(table).split(";"))
    white = {str(at) for at, colour in colours if _WHITE.match(colour)}
    shown: list[str] = []
    notes: list[str] = []
    into, note = shown, 0
    look, outer = _Look(), list[_Look]()
    touches = False  # whether what comes next stands right after a word; programs move whole words
    tricks, in_trick = 0, False
    # Where the text of the paragraph begins in ``shown``, and its level in a list.
    begin, level = None, 0
    for found in PATTERN.finditer(content):
        word, number, code, symbol, brace, letter = found.groups()
        before = look
        if brace == "{":
            outer.append(look)
        elif brace and outer:
            look = outer.pop()
            into = shown if len(outer) < note else into
        elif word in _ASIDE:
            into, note, look = notes, len(outer), replace(look, height="")
            into.append("\\par ")
            continue
        else:
            look = _changed(look, word, number, white, touches)
        is_text = code or letter or symbol in {"~", "-", "_"} or word in {"u", "tab", "line"}
        if is_text:
            touches = bool(code or word == "u" or symbol == "_" or (letter and letter.strip()))
            tricks += look.is_trick and touches and not in_trick
            in_trick = look.is_trick and (in_trick or touches)
        in_trick = in_trick and word != "par"
        if not ((look.hidden or look.is_trick) and is_text):
            if is_text and into is shown:
                begin, level = len(shown) if begin is None else begin, look.level
            into.append(found[0])
        if word in _LISTS:
            begin = len(shown) if begin is None else begin
            into.append(rf"{{\uc0\u{ord(_LISTED)} }}")
        if look.height != before.height:
            marks = _AT_HEIGHT[before.height][1] + _AT_HEIGHT[look.height][0]
            into += (rf"{{\uc0\u{ord(mark)} }}" for mark in marks)
        ends = word in _ENDS or symbol in {"\n", "\r"}
        if ends and begin is not None and into is shown:
            shown.insert(begin, r"\~" * level)
            begin = None
        if word == "par" and into is shown and notes:
            shown += ["{", *notes, "\\par}"]
            notes.clear()
    # What a last line without an end has.
    if begin is not None:
        shown.insert(begin, r"\~" * level)
    return "".join([*shown[:-1], *notes, *shown[-1:]]), tricks


def _changed(look: _Look, word: str, number: str, white: set[str], touches: bool) -> _Look:
    """Return the look after a word of RTF; ``white``: the numbers of white among the colours."""
    if word in {"super", "sub", "nosupersub"}:
        return replace(look, height=word if number != "0" and word != "nosupersub" else "")
    if word in _MOVED:
        moved = touches and int(number or "6") >= _LEAST_MOVED
        return replace(look, height=_MOVED[word] if moved else "")
    if word in _HIDES:
        return replace(look, hidden=number != "0")
    if word == "cf":
        return replace(look, white=number in white)
    if word == "fs":
        return replace(look, tiny=int(number or "24") <= _TINY)
    if word in _GROUNDS:
        return replace(look, ground=number not in {None, "0"} | white)
    if word in {"pard", "ilvl"}:
        return replace(look, level=min(int(number or "0"), _DEEPEST) if word == "ilvl" else 0)
    return _Look(look.level) if word == "plain" else look


def _blocks(text: str) -> Iterator[Block]:
    """Yield the paragraphs, and sentences for the rows of tables."""
    written = (_SIGN.sub("•", line).replace(_LISTED, "") for line in text.split("\n"))
    lines = list(map(unmarked, written))
    for is_table, some in groupby(filter(str.strip, lines), lambda x: x.rstrip().endswith(_CELL)):
        if is_table:
            rows = [[clean(cell) for cell in line.strip()[:-1].split(_CELL)] for line in some]
            yield from map(Block, row_sentences(rows))
        else:
            yield from sections(list(some))
