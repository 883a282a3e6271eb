"""Pages that name each other: where, and which words of a claim only one of the two contains."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from research.training.compositions.composition import Span
from research.training.compositions.vocabulary import GENERIC
from research.training.sentence_pool import SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.word_forms import FUNCTION_WORDS

_LONGEST_NAME = 8  # words
_SHORTEST_NAME = 3  # characters
_WORD = re.compile(r"\S+")
_AROUND = "\"',.;:!?()"
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001 - curly too
_NAME_GOES_ON = re.compile(r"^(?: | of (?:the )?)[A-Z0-9]|^-|^['’]s [A-Z]")  # noqa: RUF001
_NAME_BEGAN = re.compile(r"(?:^|\s)\S+ (?:[A-Z][\w.'-]*|&|[\w.]*-) $|-$")


@dataclass(frozen=True, slots=True)
class Mention:
    """The place where a tidied text names a page."""

    page: str
    start: int
    end: int


class BridgeFinder:
    """Finds pages by their plain names; for an ambiguous name the text must show which is meant."""

    def __init__(self, pool: SentencePool) -> None:
        """Make a table of the pool's names and of the words of each page."""
        self._pages: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
        self._says: dict[str, str] = {}
        for page, indices in pool.by_page.items():
            name, words = split_disambiguation(pool.sentences[indices[0]].title)
            self._pages[name].append((page, words))
            self._says[page] = " ".join(sentence.text for sentence in pool.page(page))

    def named(self, text: str, page: str, name: str) -> list[Mention]:
        """Return the other pages that a text about ``page`` names, in the order of the text."""
        words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        mentions: list[Mention] = []
        first = 0
        while first < len(words):
            mention, first = self._longest(text, words, first)
            if mention and mention[0] not in name and name not in mention[0]:
                meant = self._meant(mention[0], page, name, text)
                if meant and self._whole(text, mention[1], mention[1] + len(mention[0])):
                    mentions.append(Mention(meant, mention[1], mention[1] + len(mention[0])))
        return mentions

    def _longest(
        self, text: str, words: list[tuple[int, int]], first: int
    ) -> tuple[tuple[str, int] | None, int]:
        """Return the longest name that begins with this word, and the next position."""
        for last in range(min(first + _LONGEST_NAME, len(words)) - 1, first - 1, -1):
            start, end = words[first][0], words[last][1]
            start += len(text[start:end]) - len(text[start:end].lstrip(_AROUND))
            whole = text[start:end]
            for name in (whole, whole.rstrip(_AROUND), _POSSESSIVE.sub("", whole.rstrip(_AROUND))):
                if name in self._pages and len(name) >= _SHORTEST_NAME and name[0].isupper():
                    return (name, start), last + 1
        return None, first + 1

    @staticmethod
    def _whole(text: str, start: int, end: int) -> bool:
        """Return whether the name is not a part of a longer one."""
        return not _NAME_GOES_ON.match(text[end:]) and not _NAME_BEGAN.search(text[:start])

    def _meant(self, name: str, page: str, title: str, text: str) -> str | None:
        """Return the page that the name means, or None if that is uncertain."""
        pages = self._pages[name]
        if page in {other for other, _ in pages}:
            return None
        signs = [
            other
            for other, words in pages
            if (words and any(f" {word}" in text for word in words.split() if len(word) > 2))
            or title in self._says[other]
        ]
        if len(pages) == 1 and pages[0][1] is None:
            return pages[0][0]
        return signs[0] if len(signs) == 1 else None


Source: TypeAlias = Literal[0, 1] | None
"""Where words come from: the first sentence (0), the second one (1) or neither (None)."""

_CONTENT_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")  # noqa: RUF001 - curly too


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
            sentences = self._pool.page(page)
            said = [sentences[0].title, *(sentence.text for sentence in sentences)]
            self._texts[page] = " ".join(said)
        return self._texts[page]

    def words(self, page: str) -> frozenset[str]:
        """Return the page's words in the form in which they are compared."""
        if page not in self._words:
            self._words[page] = frozenset(_stem(w) for w in _CONTENT_WORD.findall(self.text(page)))
        return self._words[page]

    def names(self, page: str, other: str, by_surname: bool) -> bool:
        """Return whether a page names the other one."""
        name = self._pool.name(other)
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
    for match in _CONTENT_WORD.finditer(piece.text):
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
