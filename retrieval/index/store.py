"""What is asked of an index, whatever holds it: to be searched, built and changed.

``docs/decisions/0013-what-is-asked-of-an-index.md`` tells why it is this and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import Corpus
from retrieval.encoders.encoder import DocumentEncoder
from retrieval.errors import BadSource
from retrieval.titles.title_trie import TitleTrie
from retrieval.types import Document, PhraseMatch, PhraseSearch, SentenceMatch, TitleMatch

MOST_OF_A_NAME = 100


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index contains. ``built_at`` is ISO 8601 in UTC; ``bytes`` is its size on disk.

    ``documents``: a long one, which is read in passages, counts once; in ``passages`` each of its
    passages counts. ``date``: the day of the dump, ISO 8601, "" if unknown. ``checksum`` is a
    digest of the indexed documents and of all vectors: two first builds of one source have the
    same, however often they were interrupted. ``encoder``: the name of the encoder of the vectors,
    "" without vectors. ``bad_pages``: how many pages of the source that was read last could not be
    read; ``superseded``: how many of them had the id of a later one.
    """

    name: str
    source: str
    date: str
    documents: int
    passages: int
    sentences: int
    bytes: int
    built_at: str
    encoder: str
    checksum: str
    bad_pages: int
    superseded: int


@dataclass(frozen=True, slots=True)
class BadPages:
    """Pages that could not be read: the complaint about the first, and what lists them all.

    Both are empty where every page could be read.
    """

    first: str
    listed_in: str


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """``done`` of ``of`` is read, in the corpus's unit, or encoded, in documents.

    ``documents`` is how many these are.
    """

    step: Literal["reading", "encoding"]
    done: int
    of: int
    documents: int


ProgressListener: TypeAlias = Callable[[BuildProgress], None]


def tell_nobody(_: BuildProgress) -> None:
    """Do nothing."""


class DocumentStore(Protocol):
    """A read-only view of one finished version of an index.

    ``tests/index/test_store_contract.py`` holds every implementation to this.
    """

    def info(self) -> IndexInfo:
        """Return what the index holds."""
        ...

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents with these ids, in the order asked.

        Raises:
            IndexUnavailable: no document has one of the ids, which came from this index.
        """
        ...

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """Return every document with one of the titles ``names``.

        The titles of redirects count too; of a long document only the first passage is returned.
        Case, accents, a leading article and a possessive ending are ignored on both sides. Titles
        that are equal except for words in parentheses ("Savages (band)" for "Savages") match with
        ``disambiguation`` set. Ordered by position in ``names``, exact ones first, then by document
        id; of a name that more than ``MOST_OF_A_NAME`` documents share, only so many.
        """
        ...

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        """Return for each search the documents whose text holds any phrase, in BM25 order.

        Words match whatever their case and accents; equal scores are in order of
        document ids, but which of equal ones are within a limit is left open. No
        character of a phrase is query syntax.
        """
        ...

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """Return the inner products of documents and queries, ``(len(ids), len(queries))``.

        ``queries`` are unit vectors, shape ``(n, dimension)``, and so are the documents',
        which are as exact as a byte for each dimension makes them. None from an index
        without vectors.

        Raises:
            IndexUnavailable: no document has one of the ids, which came from this index.
        """
        ...

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        """Return the ``limit`` sentences nearest to each query, best first.

        ``queries`` are unit vectors, shape ``(n, dimension)``; there is one list for
        each. Similarities are estimates, by bits if need be; not every
        sentence need be compared, but none of the documents ``without`` is
        found. ``among``: if given, only sentences of these documents are found, and all
        of them are compared. Ties are broken by document id, then by sentence id. An
        index without vectors finds none.

        Raises:
            IndexUnavailable: no document has one of the ids ``among``, which came from this index.
        """
        ...

    def titles(self) -> TitleTrie:
        """Return all titles as a prefix tree of their tokens."""
        ...

    def titled(self) -> Iterator[tuple[str, str]]:
        """Yield each title with the id of the document that it finds, always in the same order.

        A document that redirects lead to comes several times; of a long one only the first passage.
        """
        ...


class Index(Protocol):
    """An index that serves and changes. A change is seen whole or not at all.

    What was opened before a change goes on serving what it held.
    """

    def open(self, meets: str | None) -> DocumentStore:
        """Return a view of what there is now.

        ``meets`` names the text encoder whose vectors will be compared with the stored
        ones; None if none will.

        Raises:
            IndexUnavailable: there is no index, it is damaged or of another format, or
                its vectors are made for another text encoder.
        """
        ...

    def version(self) -> str:
        """Return what changes whenever the index does; it costs next to nothing.

        Raises:
            IndexUnavailable: a server that holds the index cannot be asked.
        """
        ...

    def lacks(self, source: str) -> bool:
        """Return whether there is no index, or one of this source that another version built.

        An index of another source is left to the user: building it may take hours. So is one
        that was changed since it was built, which its source alone would not bring back.
        """
        ...

    def verify(self) -> None:
        """Read all of what there is now and compare it with what was built.

        Raises:
            IndexUnavailable: there is no index, or it is not what was built.
        """
        ...

    def diagnose(self) -> None:
        """Look for damage, and for what stands in the way of a change.

        Over a network it looks only at what takes seconds; ``verify`` reads everything.

        Raises:
            IndexUnavailable: something was found, or there is no index.
        """
        ...

    def bad_pages(self) -> BadPages:
        """Return which pages of the source that was read last could not be read.

        Raises:
            IndexUnavailable: there is no index.
        """
        ...

    def unfinished(self) -> list[str]:
        """Return a sentence for the user on each work that was begun and not ended.

        There is none while a change is made.
        """
        ...

    def prune(self) -> list[str]:
        """Remove older versions and unfinished work; return the names of what was removed.

        Raises:
            EsotericError: a change is being made.
            IndexUnavailable: there is no telling what the index that stands needs.
        """
        ...

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """Build an index of the corpus and put it in the place of the one that stands.

        ``encoder`` makes the vectors; without one there are none until ``encode``.
        After an interruption the same call continues the work. Pages that cannot be
        read are left out and counted; of several with one id the last is used.
        An embedded index of a source of the same kind, with vectors of the same encoder, is
        updated: documents that did not change are not made again.

        Raises:
            BadSource: a file cannot be read, or there is no page that can.
            ModelUnavailable: the encoder or the sentence splitter cannot be loaded.
        """
        ...

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """Add the corpus's pages; a page takes the place of one with its id.

        Raises:
            IndexUnavailable: there is no index, or its vectors are of another encoder.
        """
        ...

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = tell_nobody
    ) -> IndexInfo:
        """Give all documents vectors of this encoder, in place of others where there are some.

        Raises:
            IndexUnavailable: there is no index.
            ModelUnavailable: the encoder cannot be loaded.
        """
        ...

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        """Remove the documents with these ids, all of them or none; long ones in whole.

        Raises:
            BadSource: an id is none of the index.
            IndexUnavailable: there is no index.
        """
        ...


def unknown_document(document_id: str) -> BadSource:
    """Return the error of ``Index.remove``."""
    return BadSource(
        "unknown_document",
        f"The index holds no document with the id {document_id!r}; nothing was removed.",
        "Leave it out.",
    )
