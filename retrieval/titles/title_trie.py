"""All titles of an index as a prefix tree of their tokens, without a node of it being stored.

The titles' token sequences are sorted, so those with a common prefix are a range
of them and stepping down the tree narrows the range. AdMIRaL's title generation
(section 3.1) may follow no other path, as in Cao et al. 2021 ("Autoregressive
Entity Retrieval", section 3.2), whose tree of Python objects would not fit the
memory for millions of titles; this one is three arrays that may be mapped.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How many titles are looked at together for the tokens that may follow.
_BLOCK = 1 << 20
_ENDED = -1


@dataclass(frozen=True, slots=True)
class TitleNode:
    """The titles from ``low`` to before ``high``, which share their first ``depth`` tokens."""

    low: int
    high: int
    depth: int


class TitleTrie:
    """Walks the sorted token sequences of ``build``; none of the arrays is copied."""

    def __init__(
        self,
        tokens: NDArray[np.uint16],
        starts: NDArray[Any],
        documents: NDArray[np.uint32],
        document_id: Callable[[int], str],
    ) -> None:
        """Keep what ``build`` returned, and how the id of a document is found by its number."""
        # As plain arrays: single elements of a memmap take many times as long to read.
        self._tokens = np.asarray(tokens)
        self._starts = np.asarray(starts)
        self._documents = np.asarray(documents)
        self._document_id = document_id

    @staticmethod
    def build(
        titles: Iterable[tuple[Sequence[int], int]],
    ) -> tuple[NDArray[np.uint16], NDArray[Any], NDArray[np.uint32]]:
        """Sort (tokens, number of the document) pairs.

        A title without tokens is left out. Returns all tokens joined, where each of
        the ``n`` titles begins, uint32 or uint64 of length ``n + 1``, and the ``n``
        numbers; equal titles are in order of these.

        Raises:
            OverflowError: a token is 65,535 or more, or a number does not fit into 32 bits.
        """
        # A title becomes a string of big-endian bytes that sorts as its tokens do: each is
        # raised by one, so that the 0 behind the last is less than any, then the number.
        rows = sorted(
            b"".join((token + 1).to_bytes(2, "big") for token in tokens)
            + bytes(2)
            + number.to_bytes(4, "big")
            for tokens, number in titles
            if tokens
        )
        units = np.frombuffer(b"".join(rows), dtype=">u2")
        ends = np.cumsum([len(row) // 2 for row in rows], dtype=np.int64)
        count = len(rows)
        documents = (units[ends - 2].astype(np.uint32) << 16) | units[ends - 1]
        is_token = np.ones(len(units), dtype=bool)
        for behind in (1, 2, 3):
            is_token[ends - behind] = False
        tokens = (units[is_token] - 1).astype(np.uint16)
        starts = np.zeros(count + 1, dtype=np.int64)
        starts[1:] = ends - 3 * np.arange(1, count + 1)
        small = starts[-1] <= np.iinfo(np.uint32).max
        return tokens, starts.astype(np.uint32 if small else np.uint64), documents

    def root(self) -> TitleNode:
        """Return the node of all titles."""
        return TitleNode(0, len(self._documents), 0)

    def children(self, node: TitleNode) -> NDArray[np.uint16]:
        """Return the tokens that may follow, ascending, each once."""
        return self._first_tokens if node == self.root() else self._following(node)

    def step(self, node: TitleNode, token: int) -> TitleNode | None:
        """Return the node that ``token`` leads to; None if no title goes on so."""
        titles = range(node.low, node.high)
        at_depth = self._at(node.depth)
        low = bisect_left(titles, token, key=at_depth)
        high = bisect_right(titles, token, lo=low, key=at_depth)
        if token < 0 or low == high:
            return None
        return TitleNode(node.low + low, node.low + high, node.depth + 1)

    def is_end(self, node: TitleNode) -> bool:
        """Return whether there is a title of which nothing is left."""
        return self._at(node.depth)(node.low) == _ENDED

    def ends(self, node: TitleNode) -> list[str]:
        """Return the ids of the documents of whose titles nothing is left, in order of number."""
        behind = node.low + bisect_right(
            range(node.low, node.high), _ENDED, key=self._at(node.depth)
        )
        return [self._document_id(int(number)) for number in self._documents[node.low : behind]]

    @cached_property
    def _first_tokens(self) -> NDArray[np.uint16]:
        return self._following(self.root())

    def _following(self, node: TitleNode) -> NDArray[np.uint16]:
        found = []
        for low in range(node.low, node.high, _BLOCK):
            high = min(low + _BLOCK, node.high)
            starts = self._starts[low : high + 1].astype(np.int64)
            positions = starts[:-1] + node.depth
            found.append(_each_once(self._tokens[positions[positions < starts[1:]]]))
        return _each_once(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint16)

    def _at(self, depth: int) -> Callable[[int], int]:
        """Return what tells the token at this depth of a title, ``_ENDED`` where it has none."""

        def token(title: int) -> int:
            position = int(self._starts[title]) + depth
            ended = position >= int(self._starts[title + 1])
            return _ENDED if ended else int(self._tokens[position])

        return token


def _each_once(ascending: NDArray[np.uint16]) -> NDArray[np.uint16]:
    changes = np.ones(len(ascending), dtype=bool)
    changes[1:] = ascending[1:] != ascending[:-1]
    return ascending[changes]
