"""all-MiniLM-L6-v2 without further training: documents and sentences by cosine similarity."""

from __future__ import annotations

import numpy as np

from research.evaluation.baselines.ranked import RankedSentence
from research.evaluation.baselines.sentences import DOCUMENTS, read_sentences
from retrieval.index.errors import no_vectors
from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import MiniLMEncoder


class MiniLMRanker:
    """Compares the claim with every document of the index, then with the sentences of the best."""

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index; it is read in ``warm_up``."""
        self._store = store
        self._encoder = MiniLMEncoder()

    def warm_up(self) -> None:
        """Read the sentences and the document encodings, load the encoder.

        Raises:
            IndexUnavailable: the index has no vectors.
        """
        self._encoder.warm_up()
        self._sentences = read_sentences(self._store)
        # All encodings are read now, so that no claim waits for the index.
        axes = np.eye(self._encoder.dimension, dtype=np.float32)
        vectors = self._store.similarities(self._sentences.ids, axes)
        if vectors is None:
            raise no_vectors()
        self._vectors = vectors

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """See ``Ranker.rank``."""
        query = self._encoder.encode([claim])[0]
        order = np.argsort(-(self._vectors @ query), kind="stable")[:DOCUMENTS]
        best = [int(document) for document in order]
        rows = self._sentences.rows_of(best)
        ranked = self._sentences.best(
            rows, self._encoder.encode(self._sentences.titled(rows)) @ query
        )
        return [self._sentences.ids[document] for document in best], ranked
