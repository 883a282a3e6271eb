"""Finds the sentences of one page that name another page."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from research.training.sentence_pool import SentencePool
from retrieval.index.formats.titles import split_disambiguation

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
            self._says[page] = " ".join(pool.sentences[i].text for i in indices)

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
