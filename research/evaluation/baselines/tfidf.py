"""TF-IDF after the FEVER baseline (Thorne et al. 2018, section 5): five documents, five sentences.

Documents by weighted unigrams and bigrams, as in DrQA (Chen et al. 2017,
section 3.1), sentences by unigrams.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from research.evaluation.baselines.ranked import RankedSentence
from research.evaluation.baselines.sentences import read_sentences
from retrieval.index.interface import DocumentStore

DOCUMENTS = 5


class TfidfRanker:
    """Cosine similarity of TF-IDF vectors."""

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index; it is read in ``warm_up``."""
        self._store = store

    def warm_up(self) -> None:
        """Compute the word weights of documents and sentences."""
        self._sentences = read_sentences(self._store)
        self._document_words, self._documents = _weighed(self._sentences.document_texts(), 2)
        titled = self._sentences.titled(range(len(self._sentences.texts)))
        self._sentence_words, self._by_sentence = _weighed(titled, 1)

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """See ``Ranker.rank``; documents without a word of the claim are left out."""
        query = self._document_words.transform([claim])
        scores = (self._documents @ query.T).toarray()[:, 0]
        order = np.argsort(-scores, kind="stable")[:DOCUMENTS]
        best = [int(document) for document in order if scores[document] > 0]
        rows = self._sentences.rows_of(best)
        similar = self._by_sentence[rows] @ self._sentence_words.transform([claim]).T
        ranked = self._sentences.best(rows, similar.toarray()[:, 0])
        return [self._sentences.ids[document] for document in best], ranked


def _weighed(texts: list[str], longest: int) -> tuple[Any, Any]:
    """Return the vectoriser and the matrix of the texts, rows of unit length."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(
        ngram_range=(1, longest), sublinear_tf=True, stop_words="english", dtype=np.float32
    )
    return vectoriser, vectoriser.fit_transform(texts)
