"""The embedded index: tantivy for phrases, files that are mapped or read for the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.layout import (
    DELETED,
    LEXICAL,
    SEGMENTS,
    VECTORS,
    Meta,
    damaged,
    not_opened,
    other_encoder,
    read_meta,
)
from retrieval.index.lexical import LexicalReader
from retrieval.index.records import Record, document_of
from retrieval.index.segment import Segment
from retrieval.index.store import MOST_OF_A_NAME, IndexInfo
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.index.vectors import Vectors
from retrieval.index.versions import current_version
from retrieval.titles.title_trie import TitleTrie
from retrieval.types import (
    Document,
    PhraseMatch,
    PhraseSearch,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)

_Read = TypeVar("_Read")

# With more ids than these kept, they are forgotten; a claim is told a few thousand.
_TOLD = 20_000


class EmbeddedStore:
    """A finished index in a folder of this machine; see ``layout`` for its files.

    Opening reads only what is small. An index that is swapped out while it is open
    stays readable.
    """

    def __init__(self, folder: Path, version: Path, meta: Meta) -> None:
        """Map the files of one version; use ``open``."""
        self._meta = meta
        self._folder, self._version = folder, version
        self._segments = [Segment(folder / SEGMENTS / name) for name, _, _ in meta.segments]
        self._vectors = [
            Vectors(folder / VECTORS / name, segment.sentence_starts)
            for (name, _), segment in zip(meta.vectors, self._segments, strict=False)
        ]
        # The number of each segment's first document, and behind the last the number of all.
        self._firsts = list(accumulate((count for _, count, _ in meta.segments), initial=0))
        self._deleted: NDArray[np.bool_] = np.load(version / DELETED, mmap_mode="r")
        self._lexical = LexicalReader(version / LEXICAL)
        # The numbers of ids that were told lately, which is what is asked for next.
        self._told: dict[str, int] = {}

    @classmethod
    def open(cls, folder: Path, meets: str | None) -> EmbeddedStore:
        """Open the current index below ``folder``.

        ``meets`` names the text encoder whose vectors will be compared with the stored
        ones; None if none will.

        Raises:
            IndexUnavailable: there is none, it is damaged, of another format, or
                its vectors are made for another text encoder.
        """
        while True:
            version = current_version(folder)
            try:
                return cls.open_version(folder, version, meets)
            except IndexUnavailable:
                # What was swapped out meanwhile is removed at once.
                if current_version(folder) == version:
                    raise

    @classmethod
    def open_version(cls, folder: Path, version: Path, meets: str | None) -> EmbeddedStore:
        """Open one version of the index below ``folder``; raises what ``open`` raises."""
        meta = read_meta(folder, version)
        if meta.vectors and meets is not None and meta.meets != meets:
            raise other_encoder(meta.encoder, meets)
        try:
            return cls(folder, version, meta)
        except (OSError, ValueError) as error:
            raise not_opened(error, version, meta.mend()) from error

    def info(self) -> IndexInfo:
        """See ``DocumentStore.info``."""
        meta = self._meta
        return IndexInfo(
            name=meta.name,
            source=meta.source,
            documents=meta.documents,
            sentences=meta.sentences,
            bytes=sum(size for size, _ in meta.files.values()),
            built_at=meta.built_at,
            encoder=meta.encoder,
            checksum=meta.checksum,
            bad_pages=meta.bad_pages,
            superseded=meta.superseded,
        )

    def verify(self) -> None:
        """Read every file and compare it with its digest.

        Raises:
            IndexUnavailable: a file is not what was built.
        """
        self._meta.verify(self._folder, self._version)

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """See ``DocumentStore.documents``."""
        documents = [document_of(record) for record in self._records(self._known(ids))]
        if [document.id for document in documents] != list(ids):
            raise damaged(self._meta.mend())
        return documents

    def find(self, document_id: str) -> Document | None:
        """Return the document with this id, which need not come from this index."""
        number = self._number(document_id)
        return None if number is None else document_of(*self._records([number]))

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """See ``DocumentStore.title_matches``."""
        matches: list[TitleMatch] = []
        for name in dict.fromkeys(names):
            key = title_key(name)
            values = [
                2 * first + value
                for first, segment in zip(self._firsts, self._segments, strict=False)
                for value in segment.title_values(key)
                if not self._deleted[first + value // 2]
            ]
            ids = self._ids([value // 2 for value in values])
            ranked = sorted(zip(values, ids, strict=True), key=lambda pair: (pair[0] % 2, pair[1]))
            found = (self._title_match(value, name, key) for value, _ in ranked)
            matches += islice((match for match in found if match is not None), MOST_OF_A_NAME)
        return matches

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        """See ``DocumentStore.phrase_matches``."""
        return [self._holding(search) for search in searches]

    def _holding(self, search: PhraseSearch) -> list[PhraseMatch]:
        found = self._lexical.matches(search.phrases, search.limit)
        ids = self._ids([number for number, _ in found])
        matches = [PhraseMatch(i, bm25) for i, (_, bm25) in zip(ids, found, strict=True)]
        return sorted(matches, key=lambda match: (-match.bm25, match.document_id))

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """See ``DocumentStore.similarities``."""
        wanted = np.array(self._known(ids), dtype=np.int64)
        if not self._vectors:
            return None
        found = np.zeros((len(wanted), self._vectors[0].dimension), dtype=np.float32)
        for vectors, (first, behind) in zip(self._vectors, pairwise(self._firsts), strict=True):
            here = np.flatnonzero((wanted >= first) & (wanted < behind))
            found[here] = vectors.of((wanted[here] - first).tolist())
        similar: NDArray[np.float32] = found @ queries.T
        return similar

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        """See ``DocumentStore.nearest_sentences``."""
        left_out = np.array(self._known(without), dtype=np.int64)
        only = None if among is None else np.array(self._known(among), dtype=np.int64)
        found: list[list[SentenceMatch]] = [[] for _ in queries]
        for which, vectors in enumerate(self._vectors):
            first, behind = self._firsts[which], self._firsts[which + 1]
            gone = np.union1d(self._gone[which], _between(left_out, first, behind))
            here = None if only is None else _between(only, first, behind)
            near = vectors.nearest(queries, limit, gone, here)
            for matches, (rows, similarities) in zip(found, near, strict=True):
                matches += self._sentence_matches(self._segments[which], rows, similarities)
        for matches in found:
            matches.sort(key=lambda m: (-m.similarity, m.key.document_id, m.key.sentence_id))
        return [matches[:limit] for matches in found]

    def titles(self) -> TitleTrie:
        """See ``DocumentStore.titles``."""
        runs = [s.titles(first) for first, s in zip(self._firsts, self._segments, strict=False)]
        return TitleTrie(runs, lambda n: None if self._deleted[n] else self._ids([n])[0])

    def titled(self) -> Iterator[tuple[str, str]]:
        """See ``DocumentStore.titled``."""
        number = 0
        for segment in self._segments:
            for block in range(segment.block_count):
                for record in self._all(segment, block):
                    if not self._deleted[number]:
                        yield record["id"], record["title"]
                    number += 1

    @cached_property
    def _gone(self) -> list[NDArray[np.int64]]:
        """The deleted documents of each segment, by their numbers in it."""
        return [np.flatnonzero(self._deleted[a:b]) for a, b in pairwise(self._firsts)]

    def _sentence_matches(
        self, segment: Segment, rows: NDArray[np.int64], similarities: NDArray[np.float32]
    ) -> list[SentenceMatch]:
        """Return the rows of a segment's sentences as matches, in their order."""
        starts = segment.sentence_starts
        # Of the same type: all of the starts would be copied otherwise.
        numbers = np.searchsorted(starts, rows.astype(starts.dtype), side="right") - 1
        needed = np.unique(numbers).tolist()
        records = dict(zip(needed, self._of(segment, needed), strict=True))
        matches = []
        for row, number, similarity in zip(rows, numbers.tolist(), similarities, strict=True):
            record = records[number]
            sentence_id = record["sentences"][int(row) - int(segment.sentence_starts[number])][0]
            key = SentenceKey(record["id"], sentence_id)
            matches.append(SentenceMatch(key, float(similarity)))
        return matches

    def _title_match(self, value: int, name: str, key: str) -> TitleMatch | None:
        number, disambiguated = divmod(value, 2)
        (record,) = self._records([number])
        title = record["title"]
        plain, words = split_disambiguation(title) if disambiguated else (title, None)
        if title_key(plain) != key:
            return None
        return TitleMatch(record["id"], title, name, words)

    def _known(self, ids: Iterable[str]) -> list[int]:
        """Return the numbers of documents whose ids came from this index."""
        numbers = [self._number(document_id) for document_id in ids]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            raise damaged(self._meta.mend())
        return known

    def _number(self, document_id: str) -> int | None:
        told = self._told.get(document_id)
        if told is not None:
            return told
        for first, segment in zip(self._firsts, self._segments, strict=False):
            for number in segment.numbers(document_id):
                if not self._deleted[first + number]:
                    return first + number
        return None

    def _ids(self, numbers: Sequence[int]) -> list[str]:
        """Return the ids of documents that are not deleted."""
        ids = self._gathered(numbers, Segment.ids)
        if len(self._told) > _TOLD:
            self._told = {}
        self._told.update(zip(ids, numbers, strict=True))
        return ids

    def _records(self, numbers: Sequence[int]) -> list[Record]:
        return self._gathered(numbers, self._of)

    def _of(self, segment: Segment, numbers: Sequence[int]) -> list[Record]:
        try:
            return segment.of(numbers)
        except (ValueError, IndexError) as error:
            raise damaged(self._meta.mend()) from error

    def _all(self, segment: Segment, block: int) -> list[Record]:
        try:
            return segment.records(block, block + 1)
        except (ValueError, IndexError) as error:
            raise damaged(self._meta.mend()) from error

    def _gathered(
        self, numbers: Sequence[int], read: Callable[[Segment, Sequence[int]], list[_Read]]
    ) -> list[_Read]:
        """Return what ``read`` finds for each document in its segment, in their order."""
        places: dict[int, list[int]] = {}
        for place, number in enumerate(numbers):
            places.setdefault(bisect_right(self._firsts, number) - 1, []).append(place)
        found: dict[int, _Read] = {}
        for which, here in places.items():
            first = self._firsts[which]
            answers = read(self._segments[which], [numbers[place] - first for place in here])
            found.update(zip(here, answers, strict=True))
        return [found[place] for place in range(len(numbers))]


def _between(numbers: NDArray[np.int64], first: int, behind: int) -> NDArray[np.int64]:
    """Return those of the numbers that are a segment's, as it numbers them."""
    return numbers[(numbers >= first) & (numbers < behind)] - first
