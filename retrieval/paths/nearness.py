"""How near sentences are to a claim and a path, by vectors that the index holds already."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
        self,
        queries: Sequence[Query],
        documents: Sequence[Document],
        sentences: Collection[SentenceKey],
    ) -> list[dict[SentenceKey, int]]:
        """Return for each query the place of these sentences of the documents, 0 for the nearest.

        They are empty where the index has no vectors.
        """
        if not queries:
            return []
        found = self._store.nearest_sentences(
            self._encoder.encode(queries),
            limit=sum(len(document.sentences) for document in documents),
            among=[document.id for document in documents],
        )
        nearest = ([m.key for m in matches if m.key in sentences] for matches in found)
        return [{key: place for place, key in enumerate(keys)} for keys in nearest]
