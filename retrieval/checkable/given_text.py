"""A text as it was given: whether it can be read, its lines and its sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import ftfy

from retrieval.errors import InvalidText
from retrieval.text.notices import is_english
from retrieval.text.word_forms import nfc

Kind: TypeAlias = Literal[
    "fact",
    "opinion",
    "question",
    "forecast",
    "instruction",
    "quotation",
    "vague",
    "fragment",
    "foreign",
]
"""What a sentence is; only a fact is checkable.

``instruction``: also a greeting or thanks. ``quotation``: what somebody said, without a fact in it.
``vague``: nothing that can be looked up. ``fragment``: not a sentence. ``foreign``: not English.
"""


@dataclass(frozen=True, slots=True)
class Replaced:
    """Words of a text that a claim has other words for: "its", which means "Germany"."""

    said: str
    meant: str


@dataclass(frozen=True, slots=True)
class TextClaim:
    """A statement of a sentence, as it is checked.

    ``replaced``: words that stand for others, which the text names before. ``unclear``: words of
    which the text does not say what they stand for; they are left as they are.
    """

    text: str
    replaced: tuple[Replaced, ...] = ()
    unclear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence, ``text[start:end]``, its kind and its claims, at least one, in their order."""

    start: int
    end: int
    kind: Kind
    claims: tuple[TextClaim, ...]

    @property
    def checkable(self) -> bool:
        """Whether it says something that can be true or false by evidence."""
        return self.kind == "fact"


LONGEST_TEXT = 20_000  # characters
MOST_SENTENCES = 500  # are read at once
# Before spaces and invisible characters are left out, and marks are joined to their letters.
_LONGEST_RAW = 4 * LONGEST_TEXT

_WORD = re.compile(r"[^\W\d_]{2}")
_LINE = re.compile(r"[^\n]+")
# Marks of a list, and who speaks: "- ", "2. ", "Q: ", "MRS BERG: ".
_BULLET = re.compile(
    r"\s*(?:[-–—*•‣▪]|\(?\d{1,3}[.)]|[A-Z][A-Z .'-]{0,30}:)\s+"  # noqa: RUF001 - dashes
)
_ENDED = re.compile(r"[.!?…:;][\"'”’)\]]*\s*$")  # noqa: RUF001
_ANOTHER = re.compile(r"[.!?]\s+[A-Z]")  # a second sentence
_WRAPPED = 60  # characters of a line from which on it may go on in the next one


def read_text(text: object) -> str:
    """Return the text in NFC, without invisible characters, its lines ended by ``\\n``.

    Raises:
        InvalidText: it is empty or too long, contains no words, is not English, or is no text.
    """
    if not isinstance(text, str):
        raise InvalidText("text_not_text", "The text is not text.", "Send it as a string.")
    if len(text) > _LONGEST_RAW:  # first: what follows is made for texts of a common length
        raise _too_long(len(text))
    repaired = ftfy.fix_encoding(text, restore_byte_a0=False)
    lines = repaired.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    visible = "".join(c for c in lines if unicodedata.category(c) != "Cf")
    plain = nfc(visible).strip()
    _refuse(plain)
    return plain


def _refuse(text: str) -> None:
    if not text:
        raise InvalidText("text_empty", "There is no text to read.", "Paste a text in English.")
    if len(text) > LONGEST_TEXT:
        raise _too_long(len(text))
    if any(
        c == "\N{REPLACEMENT CHARACTER}"
        or (c != "\n" and unicodedata.category(c) in {"Cc", "Cs", "Co"})
        for c in text
    ):
        raise InvalidText(
            "text_unreadable",
            "This is not plain text: it contains characters that cannot be read.",
            "Open the file in its program, copy its words, and paste them here.",
        )
    if not _WORD.search(text):
        raise InvalidText(
            "text_no_words", "The text contains no words.", "Paste sentences in English."
        )
    if not is_english(text):
        raise InvalidText(
            "text_not_english",
            "This does not look like English, and ESOTERIC reads English only.",
            "Translate it, and paste the translation.",
        )


def _too_long(length: int) -> InvalidText:
    return InvalidText(
        "text_too_long",
        f"The text is {length:,} characters long; at most {LONGEST_TEXT:,} are read.",
        "Paste a part of it.",
    )


def blocks_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of what no sentence goes beyond: paragraphs, headings, items of a list.

    A line that was broken only because it was full goes on in the next one.
    """
    start: int | None = None
    end = 0
    for line in _LINE.finditer(text):
        bullet = _BULLET.match(line[0])
        if start is not None and (bullet or not _goes_on(text, end, line)):
            yield start, end
            start = None
        if start is None:
            start = line.start() + (bullet.end() if bullet else 0)
        end = line.end()
    if start is not None:
        yield start, end


def _goes_on(text: str, end: int, line: re.Match[str]) -> bool:
    """Return whether a line goes on with the sentence that the line before has begun."""
    between = text[end : line.start()]
    before = text[text.rfind("\n", 0, end) + 1 : end]
    if between.count("\n") > 1 or _ENDED.search(before):
        return False
    indented = line[0].startswith(" ")
    return indented or line[0][:1].islower() or len(before) >= _WRAPPED


def is_list(text: str) -> bool:
    """Return whether it has one short statement a line and nothing else, so may be a list."""
    lines = text.count("\n") + 1
    blocks = [text[start:end] for start, end in blocks_of(text)]
    alone = not any(_ANOTHER.search(block) for block in blocks)
    return lines > 2 and len(blocks) == lines and alone
