"""BM25 over titles and texts, then BM25 over the sentences of what it found."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.evaluation.baselines.ranked import RankedSentence
from research.evaluation.baselines.sentences import DOCUMENTS, read_sentences
from retrieval.index.interface import DocumentStore


class Bm25Ranker:
    """Robertson & Zaragoza (2009) as Lucene computes it, with Lucene's k1 = 1.2 and b = 0.75."""

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index; it is read in ``warm_up``."""
        self._store = store

    def warm_up(self) -> None:
        """Count the words of documents and sentences."""
        self._sentences = read_sentences(self._store)
        self._by_document = _counted(self._sentences.document_texts())
        self._by_sentence = _counted(self._sentences.titled(range(len(self._sentences.texts))))

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """See ``Ranker.rank``; documents without a word of the claim are left out."""
        words = _words([claim])[0]
        scores = self._by_document.get_scores(words)
        order = np.argsort(-scores, kind="stable")[:DOCUMENTS]
        best = [int(document) for document in order if scores[document] > 0]
        rows = self._sentences.rows_of(best)
        ranked = self._sentences.best(rows, self._by_sentence.get_scores(words)[rows])
        return [self._sentences.ids[document] for document in best], ranked


def _counted(texts: list[str]) -> Any:
    import bm25s

    counted = bm25s.BM25(k1=1.2, b=0.75)
    counted.index(_words(texts), show_progress=False)
    return counted


def _words(texts: list[str]) -> list[list[str]]:
    import bm25s

    words: list[list[str]] = bm25s.tokenize(texts, return_ids=False, show_progress=False)
    return words
