"""The embedded index: tantivy for phrases, SQLite for documents and their vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.documents import Documents, connected, digest_of_documents
from retrieval.index.embedded.layout import (
    DATABASES,
    DOCUMENTS,
    LEXICAL,
    REMOVED,
    ROTATION,
    SIGNS,
    VECTORS,
    EmbeddedMeta,
    Stored,
    current_version,
    not_opened,
    read_meta,
)
from retrieval.index.embedded.lexical import LexicalReader
from retrieval.index.embedded.vectors import NearSentences, Vectors, digest_of_vectors
from retrieval.index.errors import damaged
from retrieval.index.formats.records import document_of
from retrieval.index.formats.titles import read_titles, split_disambiguation, title_key
from retrieval.index.interface import (
    MOST_OF_A_NAME,
    DocumentStore,
    IndexInfo,
    by_bm25,
    by_similarity,
)
from retrieval.models.title_trie import TitleTrie
from retrieval.system.files import digest_of
from retrieval.text.word_forms import is_near
from retrieval.types import (
    Document,
    PhraseMatch,
    PhraseSearch,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)

DIGESTS = {DOCUMENTS: digest_of_documents, VECTORS: digest_of_vectors}
_READ_FOR_WORDS = 20  # documents


def verify(index: Path, version: Path, meta: EmbeddedMeta) -> None:
    """Read a version and compare it with its digests.

    Raises:
        IndexUnavailable: something is not what was built.
    """
    for name, (_, digest) in meta.files.items():
        if digest_of(version / name) != digest:
            raise damaged(meta.fix(), Path(name).name)
    for kind, stored in meta.stored.items():
        if stored.name and not _is_whole(index / DATABASES / stored.name, kind, stored):
            raise damaged(meta.fix(), stored.name)


def _is_whole(path: Path, kind: str, stored: Stored) -> bool:
    try:
        with closing(connected(path)) as connection:
            # What documents are found by, which the digests say nothing about.
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return False
        first = 0
        for count, digest in stored.parts:
            if DIGESTS[kind](path, first, first + count) != digest:
                return False
            first += count
    except (OSError, sqlite3.Error, ValueError):
        return False
    return True


def as_read(index: Path, document: str, most: int) -> list[Document]:
    """Return a document as it was read: of a long one the first passages, ``most`` at most.

    It is empty if the index has no document of this id. Only what stores the texts is opened.

    Raises:
        IndexUnavailable: there is no index, it is damaged, or of another format.
    """
    version = current_version(index)
    meta = read_meta(index, version)
    try:
        removed = np.load(version / REMOVED)
        stored = Documents(index / DATABASES / meta.stored[DOCUMENTS].name, len(removed), removed)
        numbers = sorted(stored.of_whole([document]).get(document, ()))[:most]
        return [document_of(record) for record in stored.records(numbers)]
    except (OSError, ValueError, LookupError, sqlite3.Error) as error:
        raise not_opened(error, version, meta.fix()) from error


class EmbeddedStore(DocumentStore):
    """A finished index in a folder of this machine; see ``layout`` for its files.

    Opening reads only what is small. An index that is replaced while it is open stays readable.
    """

    def __init__(self, folder: Path, version: Path, meta: EmbeddedMeta) -> None:
        """Open the files of one version; use ``open``."""
        self._meta = meta
        self._removed: NDArray[np.bool_] = np.load(version / REMOVED)
        self._gone = np.flatnonzero(self._removed)
        databases = {kind: folder / DATABASES / one.name for kind, one in meta.stored.items()}
        self._documents = Documents(databases[DOCUMENTS], len(self._removed), self._removed)
        self._lexical = LexicalReader(version / LEXICAL)
        self._titles = read_titles(version)
        self._vectors: Vectors | None = None
        if meta.encoder:
            rotation = np.load(version / ROTATION)
            # As a plain array, which faiss needs.
            signs = np.asarray(np.load(version / SIGNS, mmap_mode="r"))
            self._vectors = Vectors(databases[VECTORS], rotation, signs)

    @classmethod
    def open(cls, folder: Path, query_encoder: str | None) -> EmbeddedStore:
        """Open the current index below ``folder``.

        ``query_encoder`` names the text encoder whose vectors will be compared with the stored
        ones; None if none will.

        Raises:
            IndexUnavailable: there is none, it is damaged, of another format, or
                its vectors are made for another text encoder.
        """
        while True:
            version = current_version(folder)
            try:
                return cls.open_version(folder, version, query_encoder)
            except IndexUnavailable:
                # What was replaced meanwhile is removed at once.
                if current_version(folder) == version:
                    raise

    @classmethod
    def open_version(cls, folder: Path, version: Path, query_encoder: str | None) -> EmbeddedStore:
        """Open one version of the index below ``folder``; raises what ``open`` raises."""
        meta = read_meta(folder, version)
        meta.check_query_encoder(query_encoder)
        try:
            return cls(folder, version, meta)
        except (OSError, ValueError) as error:
            raise not_opened(error, version, meta.fix()) from error

    def info(self) -> IndexInfo:
        return self._meta.info(self._meta.size())

    def documents(self, ids: Sequence[str]) -> list[Document]:
        with self._reading():
            return [document_of(r) for r in self._documents.records(self._numbers(ids))]

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        # A key can be empty, but no name that has no words names a document.
        keys = {name: key for name in names if (key := title_key(name))}
        with self._reading():
            titled = self._documents.titled(set(keys.values()))
        return [
            TitleMatch(one, title, name, split_disambiguation(title)[1] if shortened else None)
            for name, key in keys.items()
            for shortened, one, title in titled[key][:MOST_OF_A_NAME]
        ]

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        with self._reading():
            return [self._holding(search) for search in searches]

    def near_words(self, word: str, edits: int) -> dict[str, int]:
        # Only some documents with such a word are read.
        terms = self._lexical.words(word)
        if len(terms) != 1 or self._lexical.frequency(terms[0]):
            return {}
        with self._reading():
            texts = self._documents.records(self._lexical.near(terms[0], edits, _READ_FOR_WORDS))
            words = {found for record in texts for found in self._lexical.words(record["text"])}
            near = sorted(found for found in words if is_near(terms[0], found, edits))
            return {found: self._lexical.frequency(found) for found in near}

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        with self._reading():
            numbers = self._numbers(ids)
            if self._vectors is None:
                return None
            similar: NDArray[np.float32] = self._vectors.of(numbers) @ queries.T
            return similar

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        with self._reading():
            left_out = np.array(self._numbers(without), dtype=np.int64)
            only = None if among is None else np.array(self._numbers(among), dtype=np.int64)
            if self._vectors is None:
                return [[] for _ in queries]
            gone = np.union1d(self._gone, left_out)
            found = self._vectors.nearest(queries, limit, gone, only)
            return [self._matches(near)[:limit] for near in found]

    def titles(self) -> TitleTrie:
        return TitleTrie(
            self._titles, lambda n: None if self._removed[n] else self._documents.ids([n])[0]
        )

    def titled(self) -> Iterator[tuple[str, str]]:
        with self._reading():
            yield from self._documents.all_titles()

    def _holding(self, search: PhraseSearch) -> list[PhraseMatch]:
        found = self._lexical.matches(search.phrases, search.limit)
        ids = self._documents.ids([number for number, _ in found])
        return by_bm25(PhraseMatch(i, bm25) for i, (_, bm25) in zip(ids, found, strict=True))

    def _matches(self, near: NearSentences) -> list[SentenceMatch]:
        numbers = near.documents.tolist()
        needed = sorted(set(numbers))
        records = dict(zip(needed, self._documents.records(needed), strict=True))
        return by_similarity(
            SentenceMatch(
                SentenceKey(records[n]["id"], records[n]["sentences"][position][0]), similarity
            )
            for n, position, similarity in zip(
                numbers, near.positions.tolist(), near.similarities.tolist(), strict=True
            )
        )

    def _numbers(self, ids: Collection[str]) -> list[int]:
        """Return the numbers of documents whose ids came from this index."""
        known = self._documents.numbers(ids)
        if len(known) < len(set(ids)):
            raise damaged(self._meta.fix())
        return [known[one] for one in ids]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise what a damaged file causes as such."""
        try:
            yield
        except (sqlite3.Error, ValueError, LookupError) as error:
            raise damaged(self._meta.fix()) from error
