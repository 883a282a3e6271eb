"""Finds the candidate sentences of claims in training and measuring, at low cost.

Running the whole pipeline for ten thousand training claims takes hours on two cores. It finds
nearly the same: the sentences most similar to the claim, and those of pages whose title is in the
claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from research.training.sentence_pool import SentencePool
from retrieval.index.formats.titles import title_key

SIMILAR = 7
NAMED = 5
_LONGEST_TITLE = 6  # words
_WORD = re.compile(r"[^\s,;:!?\"()]+")


class CandidateFinder:
    """Finds candidate sentences for claims in a pool."""

    def __init__(self, pool: SentencePool) -> None:
        """Make a table of the pool's titles."""
        self._pool = pool
        self._pages: dict[str, list[str]] = {}
        for page, indices in pool.by_page.items():
            key = title_key(pool.sentences[indices[0]].title.partition(" (")[0])
            self._pages.setdefault(key, []).append(page)

    def find(self, claims: Sequence[str]) -> list[list[int]]:
        """Return each claim's candidates as indices into ``pool.sentences``, similar ones first."""
        nearest = self._pool.nearest(claims, SIMILAR)
        found = []
        for claim, similar in zip(claims, nearest, strict=True):
            named = [i for page in self.named(claim) for i in self._pool.by_page[page]]
            found.append(list(dict.fromkeys([*(int(i) for i in similar), *named[:NAMED]])))
        return found

    def named(self, claim: str) -> list[str]:
        """Return the pages named in the claim, longest names first."""
        words = [word.rstrip(".") for word in _WORD.findall(claim)]
        pages: dict[str, None] = {}
        for length in range(_LONGEST_TITLE, 0, -1):
            for start in range(len(words) - length + 1):
                name = title_key(" ".join(words[start : start + length]))
                pages.update(dict.fromkeys(self._pages.get(name, ())))
        return list(pages)
