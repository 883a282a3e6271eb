"""How near sentences are to a claim and a path, by vectors that the index holds already."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.dense.query_encoder import Query, QueryEncoder
from retrieval.index.store import DocumentStore
from retrieval.types import Document, SentenceKey


class Nearness:
    """Compares claims and paths with the sentences of opened documents; encodes no sentence."""

    def __init__(self, store: DocumentStore, encoder: QueryEncoder) -> None:
        """Compare with the sentence vectors of ``store``."""
        self._store = store
        self._encoder = encoder

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    def orders(
        self, queries: Sequence[Query], documents: Sequence[Document]
    ) -> list[dict[SentenceKey, int]]:
        """Return for each query the place of every sentence of the documents, 0 for the nearest.

        They are empty where the index has no vectors.
        """
        if not queries:
            return []
        found = self._store.nearest_sentences(
            self._encoder.encode(queries),
            limit=sum(len(document.sentences) for document in documents),
            among=[document.id for document in documents],
        )
        return [{match.key: place for place, match in enumerate(matches)} for matches in found]
