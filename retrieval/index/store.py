"""What the pipeline asks of an index, whatever holds it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.titles.title_trie import TitleTrie
from retrieval.types import Document, PhraseMatch, SentenceMatch, TitleMatch

MOST_OF_A_NAME = 100


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index holds. ``built_at`` is ISO 8601 in UTC; ``bytes`` is its size on disk.

    ``checksum`` is a digest of the indexed documents and of all vectors: two
    builds of one source agree on it, however often they were interrupted. ``bad_pages``:
    how many of the source that was read last could not be read.
    """

    name: str
    source: str
    documents: int
    sentences: int
    bytes: int
    built_at: str
    encoder: str
    checksum: str
    bad_pages: int


class DocumentStore(Protocol):
    """A read-only view of one finished index.

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
        """Return every document whose title is one of ``names``.

        Case, accents, a leading article and a possessive ending are ignored on
        both sides. Titles that equal a name but for words in parentheses
        ("Savages (band)" for "Savages") are matched with ``disambiguation`` set.
        Ordered by position in ``names``, exact ones first, then by document id; of a
        name that more than ``MOST_OF_A_NAME`` documents share, only so many.
        """
        ...

    def phrase_matches(self, phrases: Sequence[str], limit: int) -> list[PhraseMatch]:
        """Return up to ``limit`` documents whose text holds any phrase, in BM25 order.

        Words match whatever their case and accents; ties are broken by document
        id. No character of a phrase is query syntax.
        """
        ...

    def vectors(self, ids: Sequence[str]) -> NDArray[np.float32]:
        """Return the document encodings, shape ``(len(ids), dimension)``, unit length.

        Raises:
            IndexUnavailable: no document has one of the ids, which came from this index.
        """
        ...

    def nearest_sentences(
        self, queries: NDArray[np.float32], limit: int, without: Collection[str] = ()
    ) -> list[list[SentenceMatch]]:
        """Return the ``limit`` sentences nearest to each query, best first.

        ``queries`` are unit vectors, shape ``(n, dimension)``; there is one list for
        each. Every sentence is compared but those of the documents ``without``; ties
        are broken by document id, then by sentence id.

        Raises:
            IndexUnavailable: no document has one of the ids, which came from this index.
        """
        ...

    def titles(self) -> TitleTrie:
        """Return all titles as a prefix tree of their tokens."""
        ...

    def titled(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the title of every document, always in the same order."""
        ...
