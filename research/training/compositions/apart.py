"""Joins parts from two pages into one claim, and finds the words that only one page contains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from research.training.compositions.composition import Span
from research.training.compositions.vocabulary import GENERIC
from research.training.sentence_pool import SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.word_forms import FUNCTION_WORDS

Source: TypeAlias = Literal[0, 1] | None
"""Where words come from: the first sentence (0), the second one (1) or neither (None)."""

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")  # noqa: RUF001 - curly too


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a claim and their source.

    ``flipped``: the exchanged words. ``implied``: words without new information.
    """

    text: str
    source: Source
    flipped: Span | None = None
    implied: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Joined:
    """A claim's text with the offsets for a composition."""

    text: str
    parts: tuple[tuple[Span, ...], tuple[Span, ...]]
    flipped: Span | None


class PageWords:
    """The pages of a pool as text and as sets of words."""

    def __init__(self, pool: SentencePool) -> None:
        """Store the pool; a page is split when it is first needed."""
        self._pool = pool
        self._texts: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}

    def text(self, page: str) -> str:
        """Return the page's title and sentences as one text."""
        if page not in self._texts:
            sentences = [self._pool.sentences[i] for i in self._pool.by_page[page]]
            said = [sentences[0].title, *(sentence.text for sentence in sentences)]
            self._texts[page] = " ".join(said)
        return self._texts[page]

    def words(self, page: str) -> frozenset[str]:
        """Return the page's words in the form in which they are compared."""
        if page not in self._words:
            self._words[page] = frozenset(_stem(w) for w in _WORD.findall(self.text(page)))
        return self._words[page]

    def names(self, page: str, other: str, by_surname: bool) -> bool:
        """Return whether a page names the other one."""
        title = self._pool.sentences[self._pool.by_page[other][0]].title
        name = split_disambiguation(title)[0]
        if by_surname and " of " not in name and "," not in name:
            return _stem(name.split()[-1]) in self.words(page)
        return name.casefold() in self.text(page).casefold()


def joined(pieces: Sequence[Piece], pages: tuple[str, str], said: PageWords) -> Joined | None:
    """Return the pieces as one claim; None if one page contains the other one's part."""
    text, flipped = "", None
    parts: tuple[list[Span], list[Span]] = ([], [])
    for piece in pieces:
        if piece.flipped:
            flipped = (len(text) + piece.flipped[0], len(text) + piece.flipped[1])
        if piece.source is not None:
            others = said.words(pages[1 - piece.source])
            parts[piece.source].extend(_only_here(piece, len(text), others))
        text += piece.text
    text = f"{text[0].upper()}{text[1:].rstrip(' .,')}."
    first, second = (_runs(text, spans) for spans in parts)
    if not first or not second:
        return None
    if flipped and not any(start <= flipped[0] and flipped[1] <= end for start, end in second):
        return None
    return Joined(text, (first, second), flipped)


def _only_here(piece: Piece, shift: int, others: frozenset[str]) -> list[Span]:
    """Return the offsets of content words that do not occur on the other page."""
    spans, left_out = [], FUNCTION_WORDS | GENERIC | piece.implied | others
    for match in _WORD.finditer(piece.text):
        exchanged = piece.flipped and piece.flipped[0] <= match.start() < piece.flipped[1]
        if exchanged or not {match[0].casefold(), _stem(match[0])} & left_out:
            spans.append((shift + match.start(), shift + match.end()))
    return spans


def _runs(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Join spans with only spaces between."""
    runs: list[Span] = []
    for start, end in spans:
        if runs and not text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return tuple(runs)


def _stem(word: str) -> str:
    """Return a word in the compared form: "Actors" and "actor's" become "actor"."""
    plain = re.sub(r"['’]s$", "", word.casefold())  # noqa: RUF001 - curly too
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") else plain
