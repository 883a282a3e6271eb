"""All titles of an index as a trie (prefix tree) of their tokens, without stored nodes.

The titles' token sequences are sorted, so the titles with a common prefix are a range of them, and
each further token makes the range smaller. AdMIRaL's title generation (section 3.1) follows only
paths of this trie, as in Cao et al. 2021 ("Autoregressive Entity Retrieval", section 3.2). Their
trie of Python objects would not fit into memory for millions of titles. This one is three arrays
that may be memory-mapped.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.models.networks import opened_tokenizer
from retrieval.models.packaged import minilm_folder

_BLOCK = 1 << 20  # titles that are read together to find the tokens that may follow
_ENDED = -1


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a punctuation mark of a text, with its offsets there and its tokens."""

    start: int
    end: int
    tokens: tuple[int, ...]


class TitleTokenizer:
    """MiniLM's WordPiece, 30,522 uncased tokens; no special ones are added."""

    def __init__(self) -> None:
        """Load the vocabulary.

        Raises:
            ModelUnavailable: the package that it comes with is missing or damaged.
        """
        self._tokenizer = opened_tokenizer(minilm_folder() / "tokenizer.json")

    def tokens(self, titles: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each whole title, with its words in parentheses."""
        encoded = self._tokenizer.encode_batch(list(titles), add_special_tokens=False)
        return [title.ids for title in encoded]

    def words(self, text: str) -> list[Word]:
        """Return the words of a text in order, with the tokens that a title of them would have."""
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        tokens = zip(encoded.word_ids, encoded.offsets, encoded.ids, strict=True)
        words = [list(word) for _, word in groupby(tokens, key=lambda token: token[0])]
        return [
            Word(word[0][1][0], word[-1][1][1], tuple(token for _, _, token in word))
            for word in words
        ]


@dataclass(frozen=True, slots=True)
class TitleRun:
    """Titles as ``build_run`` sorts them."""

    tokens: NDArray[np.uint16]
    starts: NDArray[Any]
    documents: NDArray[np.uint32]

    def __len__(self) -> int:
        """Return the number of titles."""
        return len(self.documents)

    def title(self, number: int) -> bytes:
        """Return a title as bytes that have the order of its tokens."""
        tokens = self.tokens[int(self.starts[number]) : int(self.starts[number + 1])]
        return tokens.astype(">u2").tobytes()


@dataclass(frozen=True, slots=True)
class TitleNode:
    """The titles with the same first ``depth`` tokens, which are a range of the sorted ones."""

    titles: range
    depth: int


def build_run(titles: Iterable[tuple[Sequence[int], int]]) -> TitleRun:
    """Sort (tokens, number of the document) pairs.

    A title without tokens is left out. The run has all tokens joined; the position where each of
    the ``n`` titles begins, uint32 or uint64 of length ``n + 1``; and the ``n`` numbers. Equal
    titles are in the order of their numbers.

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
    documents = (units[ends - 2].astype(np.uint32) << 16) | units[ends - 1]
    is_token = np.ones(len(units), dtype=bool)
    for distance in (1, 2, 3):
        is_token[ends - distance] = False
    tokens = (units[is_token] - 1).astype(np.uint16)
    sizes = np.diff(ends, prepend=0) - 3
    return TitleRun(tokens, _starts(sizes), documents)


def joined(older: TitleRun, newer: TitleRun) -> TitleRun:
    """Return the titles of both, sorted; of equal ones the older come first."""
    places = np.zeros(len(newer), dtype=np.int64)
    low = 0
    for number in range(len(newer)):
        title = newer.title(number)
        low = bisect_right(range(len(older)), title, lo=low, key=older.title)
        places[number] = low
    before = np.repeat(older.starts[places].astype(np.int64), _sizes(newer))
    return TitleRun(
        np.insert(older.tokens, before, newer.tokens),
        _starts(np.insert(_sizes(older), places, _sizes(newer))),
        np.insert(older.documents, places, newer.documents),
    )


def _sizes(run: TitleRun) -> NDArray[np.int64]:
    starts = run.starts.astype(np.int64)
    sizes: NDArray[np.int64] = starts[1:] - starts[:-1]
    return sizes


def _starts(sizes: NDArray[np.int64]) -> NDArray[Any]:
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts.astype(np.uint32 if starts[-1] <= np.iinfo(np.uint32).max else np.uint64)


class TitleTrie:
    """Walks the sorted token sequences; none of their arrays is copied."""

    def __init__(self, run: TitleRun, document_id: Callable[[int], str | None]) -> None:
        """``document_id`` returns an id by a document's number, or None if it is removed."""
        self._run = run
        self._document_id = document_id

    @classmethod
    def of(cls, titles: Iterable[Sequence[int]], ids: Sequence[str]) -> TitleTrie:
        """Return the trie of these titles' tokens; ``ids`` has the document of each title."""
        run = build_run((tokens, number) for number, tokens in enumerate(titles))
        return cls(run, ids.__getitem__)

    @classmethod
    def together(cls, tries: Sequence[tuple[str, TitleTrie]]) -> TitleTrie:
        """Return one trie of all titles; the ids of each begin with its prefix.

        Of equal titles those of the first trie come first. The arrays of the first are copied,
        unless it is the only one.
        """
        (_, first), *others = tries
        run, begins = first._run, [0]
        for _, trie in others:
            begins.append(int(run.documents.max(initial=0)) + 1)
            newer = trie._run
            documents = newer.documents + np.uint32(begins[-1])
            run = joined(run, TitleRun(newer.tokens, newer.starts, documents))

        def document_id(number: int) -> str | None:
            place = bisect_right(begins, number) - 1
            prefix, trie = tries[place]
            own = trie._document_id(number - begins[place])
            return None if own is None else prefix + own

        return cls(run, document_id)

    def root(self) -> TitleNode:
        """Return the node of all titles."""
        return TitleNode(range(len(self._run)), 0)

    def children(self, node: TitleNode) -> NDArray[np.uint16]:
        """Return the tokens that may follow, ascending, each once."""
        return self._first_tokens if node.depth == 0 else self._following(node)

    def step(self, node: TitleNode, token: int) -> TitleNode | None:
        """Return the node that ``token`` leads to; None if no title continues with it."""
        if token < 0:
            return None
        at_depth = partial(self._token, depth=node.depth)
        low = bisect_left(node.titles, token, key=at_depth)
        titles = node.titles[low : bisect_right(node.titles, token, lo=low, key=at_depth)]
        return TitleNode(titles, node.depth + 1) if titles else None

    def is_end(self, node: TitleNode) -> bool:
        """Return whether a title ends at this node."""
        return bool(node.titles) and self._token(node.titles[0], node.depth) == _ENDED

    def ends(self, node: TitleNode) -> list[str]:
        """Return the ids of the documents whose titles end at this node, in order of number."""
        end = bisect_right(node.titles, _ENDED, key=partial(self._token, depth=node.depth))
        ended = node.titles[:end]
        numbers = self._run.documents[ended.start : ended.stop].tolist()
        return [found for n in numbers if (found := self._document_id(n)) is not None]

    @cached_property
    def _first_tokens(self) -> NDArray[np.uint16]:
        return self._following(self.root())

    def _token(self, title: int, depth: int) -> int:
        """Return the token at this depth of a title, ``_ENDED`` if it has none."""
        position = int(self._run.starts[title]) + depth
        ended = position >= int(self._run.starts[title + 1])
        return _ENDED if ended else int(self._run.tokens[position])

    def _following(self, node: TitleNode) -> NDArray[np.uint16]:
        """Return the tokens at the node's depth, each once."""
        found = [np.zeros(0, dtype=np.uint16)]
        for low in range(node.titles.start, node.titles.stop, _BLOCK):
            starts = self._run.starts[low : min(low + _BLOCK, node.titles.stop) + 1]
            positions = starts[:-1].astype(np.int64) + node.depth
            found.append(_each_once(self._run.tokens[positions[positions < starts[1:]]]))
        return np.unique(np.concatenate(found))


def _each_once(ascending: NDArray[np.uint16]) -> NDArray[np.uint16]:
    changes = np.ones(len(ascending), dtype=bool)
    changes[1:] = ascending[1:] != ascending[:-1]
    return ascending[changes]
