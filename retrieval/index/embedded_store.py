"""The embedded index: tantivy for phrases, memory-mapped files for the rest."""

from __future__ import annotations

import errno
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice, pairwise
from pathlib import Path

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
    digest_of,
    file_of,
    other_encoder,
    read_meta,
    rebuild,
)
from retrieval.index.lexical import LexicalReader
from retrieval.index.records import Record, document_of
from retrieval.index.segment import Segment
from retrieval.index.store import MOST_OF_A_NAME, IndexInfo
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.index.vectors import Vectors
from retrieval.index.versions import current_version
from retrieval.titles.title_trie import TitleTrie
from retrieval.types import Document, PhraseMatch, SentenceKey, SentenceMatch, TitleMatch


class EmbeddedStore:
    """A finished index in a folder of this machine; see ``layout`` for its files.

    Opening maps files and reads none of them. An index that is swapped out while
    it is open stays readable.
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

    @classmethod
    def open(cls, folder: Path, meets: str | None) -> EmbeddedStore:
        """Open the current index below ``folder``.

        ``meets`` names the text encoder whose vectors will be compared with the stored
        ones; None if none will.

        Raises:
            IndexUnavailable: there is none, it is damaged, of another format, or
                its vectors are made for another text encoder.
        """
        return cls.open_version(folder, current_version(folder), meets)

    @classmethod
    def open_version(cls, folder: Path, version: Path, meets: str | None) -> EmbeddedStore:
        """Open one version of the index below ``folder``; raises what ``open`` raises."""
        meta = read_meta(folder, version)
        if meta.vectors and meets is not None and meta.meets != meets:
            raise other_encoder(meta.encoder, meets)
        try:
            return cls(folder, version, meta)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
                raise IndexUnavailable(
                    "index_many_parts",
                    f"The index has {len(meta.segments)} parts, more than may be open at once.",
                    f"{rebuild(meta.source)}, which makes one of them.",
                ) from error
            raise damaged(meta.source) from error

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
        for name, (_, digest) in self._meta.files.items():
            if digest_of(file_of(self._folder, self._version, name)) != digest:
                raise damaged(self._meta.source, name)

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """See ``DocumentStore.documents``."""
        return [document_of(self._record(self._known(document_id))) for document_id in ids]

    def find(self, document_id: str) -> Document | None:
        """Return the document with this id, which need not come from this index."""
        number = self._number(document_id)
        return None if number is None else document_of(self._record(number))

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
            values.sort(key=lambda value: (value % 2, self._id(value // 2)))
            found = (self._title_match(value, name, key) for value in values)
            matches += islice((match for match in found if match is not None), MOST_OF_A_NAME)
        return matches

    def phrase_matches(self, phrases: Sequence[str], limit: int) -> list[PhraseMatch]:
        """See ``DocumentStore.phrase_matches``."""
        matches = [
            PhraseMatch(self._id(number), bm25)
            for number, bm25 in self._lexical.matches(phrases, limit)
        ]
        return sorted(matches, key=lambda match: (-match.bm25, match.document_id))

    def vectors(self, ids: Sequence[str]) -> NDArray[np.float32] | None:
        """See ``DocumentStore.vectors``."""
        numbers = [self._known(document_id) for document_id in ids]
        if not self._vectors:
            return None
        wanted = np.array(numbers, dtype=np.int64)
        found = np.zeros((len(wanted), self._vectors[0].dimension), dtype=np.float32)
        for vectors, (first, behind) in zip(self._vectors, pairwise(self._firsts), strict=True):
            here = np.flatnonzero((wanted >= first) & (wanted < behind))
            found[here] = vectors.of((wanted[here] - first).tolist())
        return found

    def nearest_sentences(
        self, queries: NDArray[np.float32], limit: int, without: Collection[str] = ()
    ) -> list[list[SentenceMatch]]:
        """See ``DocumentStore.nearest_sentences``."""
        left_out = [self._known(document_id) for document_id in without]
        found: list[list[SentenceMatch]] = [[] for _ in queries]
        for which, vectors in enumerate(self._vectors):
            first, behind = self._firsts[which], self._firsts[which + 1]
            here = [n - first for n in left_out if first <= n < behind]
            gone = np.union1d(self._gone[which], np.array(here, dtype=np.int64))
            near = vectors.nearest(queries, limit, gone)
            for matches, (rows, similarities) in zip(found, near, strict=True):
                matches += self._sentence_matches(self._segments[which], rows, similarities)
        for matches in found:
            matches.sort(key=lambda m: (-m.similarity, m.key.document_id, m.key.sentence_id))
        return [matches[:limit] for matches in found]

    def titles(self) -> TitleTrie:
        """See ``DocumentStore.titles``."""
        runs = [s.titles(first) for first, s in zip(self._firsts, self._segments, strict=False)]
        return TitleTrie(runs, lambda n: None if self._deleted[n] else self._id(n))

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
        numbers = np.searchsorted(segment.sentence_starts, rows, side="right") - 1
        records = {number: self._read(segment, number) for number in set(numbers.tolist())}
        matches = []
        for row, number, similarity in zip(rows, numbers.tolist(), similarities, strict=True):
            record = records[number]
            sentence_id = record["sentences"][int(row) - int(segment.sentence_starts[number])][0]
            key = SentenceKey(record["id"], sentence_id)
            matches.append(SentenceMatch(key, float(similarity)))
        return matches

    def _title_match(self, value: int, name: str, key: str) -> TitleMatch | None:
        number, disambiguated = divmod(value, 2)
        record = self._record(number)
        title = record["title"]
        plain, words = split_disambiguation(title) if disambiguated else (title, None)
        if title_key(plain) != key:
            return None
        return TitleMatch(record["id"], title, name, words)

    def _known(self, document_id: str) -> int:
        """Return the number of a document whose id came from this index."""
        number = self._number(document_id)
        if number is None:
            raise damaged(self._meta.source)
        return number

    def _number(self, document_id: str) -> int | None:
        for first, segment in zip(self._firsts, self._segments, strict=False):
            for number in segment.numbers(document_id):
                if not self._deleted[first + number]:
                    return first + number
        return None

    def _id(self, number: int) -> str:
        segment, here = self._place(number)
        return segment.id(here)

    def _record(self, number: int) -> Record:
        return self._read(*self._place(number))

    def _read(self, segment: Segment, number: int) -> Record:
        try:
            return segment.record(number)
        except (ValueError, IndexError) as error:
            raise damaged(self._meta.source) from error

    def _all(self, segment: Segment, block: int) -> list[Record]:
        try:
            return segment.records(block, block + 1)
        except (ValueError, IndexError) as error:
            raise damaged(self._meta.source) from error

    def _place(self, number: int) -> tuple[Segment, int]:
        """Return the segment of a document and its number there."""
        which = bisect_right(self._firsts, number) - 1
        return self._segments[which], number - self._firsts[which]
