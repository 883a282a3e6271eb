"""All titles of an index as a trie (prefix tree) of their tokens, without stored nodes.

The titles' token sequences are sorted, so the titles with a common prefix are a range of them, and
each further token makes the range smaller. AdMIRaL's title generation (section 3.1) follows only
paths of this trie, as in Cao et al. 2021 ("Autoregressive Entity Retrieval", section 3.2). Their
trie of Python objects would not fit into memory for millions of titles. This one is three arrays
that may be memory-mapped, or three for each part of an index that was added later.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How many titles are read together to find the tokens that may follow.
_BLOCK = 1 << 20
_ENDED = -1


@dataclass(frozen=True, slots=True)
class TitleRun:
    """Titles as ``build_run`` sorts them; the numbers of their documents begin with ``first``."""

    tokens: NDArray[np.uint16]
    starts: NDArray[Any]
    documents: NDArray[np.uint32]
    first: int = 0


@dataclass(frozen=True, slots=True)
class TitleNode:
    """The titles with the same first ``depth`` tokens: a range of each run."""

    ranges: tuple[range, ...]
    depth: int


def build_run(
    titles: Iterable[tuple[Sequence[int], int]],
) -> tuple[NDArray[np.uint16], NDArray[Any], NDArray[np.uint32]]:
    """Sort (tokens, number of the document) pairs.

    A title without tokens is left out. Returns all tokens joined; the position where each of the
    ``n`` titles begins, uint32 or uint64 of length ``n + 1``; and the ``n`` numbers. Equal titles
    are in the order of their numbers.

    Raises:
        OverflowError: a token is 65,535 or more, or a number does not fit into 32 bits.
    """
    # A title becomes a string of big-endian bytes with the order of its tokens: each is raised by
    # one, so that the 0 after the last one is less than any; then comes the number.
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
    for distance in (1, 2, 3):
        is_token[ends - distance] = False
    tokens = (units[is_token] - 1).astype(np.uint16)
    starts = np.zeros(count + 1, dtype=np.int64)
    starts[1:] = ends - 3 * np.arange(1, count + 1)
    small = starts[-1] <= np.iinfo(np.uint32).max
    return tokens, starts.astype(np.uint32 if small else np.uint64), documents


class TitleTrie:
    """Walks the sorted token sequences of one or more runs; none of their arrays is copied."""

    def __init__(self, runs: Sequence[TitleRun], document_id: Callable[[int], str | None]) -> None:
        """``document_id`` returns an id by a document's number, or None if it is removed."""
        self._runs = [_Run(run) for run in runs]
        self._document_id = document_id

    @classmethod
    def of(cls, titles: Iterable[Sequence[int]], ids: Sequence[str]) -> TitleTrie:
        """Return the trie of these titles' tokens; ``ids`` has the document of each title."""
        run = TitleRun(*build_run((tokens, number) for number, tokens in enumerate(titles)))
        return cls([run], ids.__getitem__)

    def root(self) -> TitleNode:
        """Return the node of all titles."""
        return TitleNode(tuple(range(len(run)) for run in self._runs), 0)

    def children(self, node: TitleNode) -> NDArray[np.uint16]:
        """Return the tokens that may follow, ascending, each once."""
        return self._first_tokens if node.depth == 0 else self._following(node)

    def step(self, node: TitleNode, token: int) -> TitleNode | None:
        """Return the node that ``token`` leads to; None if no title continues with it."""
        ranges = tuple(
            run.narrowed(titles, node.depth, token)
            for run, titles in zip(self._runs, node.ranges, strict=True)
        )
        return TitleNode(ranges, node.depth + 1) if any(ranges) else None

    def is_end(self, node: TitleNode) -> bool:
        """Return whether a title ends at this node."""
        return any(
            titles and run.token(titles[0], node.depth) == _ENDED
            for run, titles in zip(self._runs, node.ranges, strict=True)
        )

    def ends(self, node: TitleNode) -> list[str]:
        """Return the ids of the documents whose titles end at this node, in order of number."""
        numbers = (
            number
            for run, titles in zip(self._runs, node.ranges, strict=True)
            for number in run.ended(titles, node.depth)
        )
        return [found for n in numbers if (found := self._document_id(n)) is not None]

    @cached_property
    def _first_tokens(self) -> NDArray[np.uint16]:
        return self._following(self.root())

    def _following(self, node: TitleNode) -> NDArray[np.uint16]:
        found = [
            tokens
            for run, titles in zip(self._runs, node.ranges, strict=True)
            for tokens in run.following(titles, node.depth)
        ]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint16)


class _Run:
    """One run; titles are numbered in their sorted order."""

    def __init__(self, run: TitleRun) -> None:
        self._tokens, self._starts, self._documents = run.tokens, run.starts, run.documents
        self._first = run.first

    def __len__(self) -> int:
        return len(self._documents)

    def token(self, title: int, depth: int) -> int:
        """Return the token at this depth of a title, ``_ENDED`` if it has none."""
        position = int(self._starts[title]) + depth
        ended = position >= int(self._starts[title + 1])
        return _ENDED if ended else int(self._tokens[position])

    def narrowed(self, titles: range, depth: int, token: int) -> range:
        """Return those of the titles that have this token at this depth."""
        if token < 0:
            return titles[:0]
        at_depth = partial(self.token, depth=depth)
        low = bisect_left(titles, token, key=at_depth)
        return titles[low : bisect_right(titles, token, lo=low, key=at_depth)]

    def ended(self, titles: range, depth: int) -> list[int]:
        """Return the documents of those of the titles that have no token at this depth."""
        end = bisect_right(titles, _ENDED, key=partial(self.token, depth=depth))
        ended = titles[:end]
        numbers = self._documents[ended.start : ended.stop]
        return [self._first + int(number) for number in numbers]

    def following(self, titles: range, depth: int) -> Iterator[NDArray[np.uint16]]:
        """Yield the tokens at this depth, each once in every ``_BLOCK`` titles."""
        for low in range(titles.start, titles.stop, _BLOCK):
            starts = self._starts[low : min(low + _BLOCK, titles.stop) + 1].astype(np.int64)
            positions = starts[:-1] + depth
            yield _each_once(self._tokens[positions[positions < starts[1:]]])


def _each_once(ascending: NDArray[np.uint16]) -> NDArray[np.uint16]:
    changes = np.ones(len(ascending), dtype=bool)
    changes[1:] = ascending[1:] != ascending[:-1]
    return ascending[changes]
