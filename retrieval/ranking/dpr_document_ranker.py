"""Ranking by DPR: the documents nearest to each question (ESOTERIC report, 3.3.8 and 3.3.9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from haystack import component
from numpy.typing import NDArray

from retrieval.encoders.dpr_encoder import LONGEST, DprQuestionEncoder
from retrieval.index.store import DocumentStore
from retrieval.ranking.dense_document_ranker import merged
from retrieval.types import Candidate, Question

# Haystack, by which the report ranked, maps an inner product x to 1 / (1 + exp(-x / 100)). The
# report's cutoff is taken to be on that scale: unscaled inner products of DPR are far above 1.
_SCALE = 100.0


@component
class DprDocumentRanker:
    """Takes the documents nearest to each question and scores each by its best question."""

    def __init__(
        self, store: DocumentStore, encoder: DprQuestionEncoder, cutoff: float, limit: int
    ) -> None:
        """Keep candidates that score at least ``cutoff``, ``limit`` of them for each question."""
        self._store = store
        self._encoder = encoder
        self._cutoff = cutoff
        self._limit = limit

    def warm_up(self) -> None:
        """Load the encoder.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        self._encoder.warm_up()

    @component.output_types(candidates=list[Candidate])
    def run(
        self,
        questions: list[Question],
        exact: list[Candidate],
        others: list[Candidate],
        kept: list[Candidate],
    ) -> dict[str, list[Candidate]]:
        """Return the candidates to read, best first. The index has vectors of DPR.

        Exact title matches are all read and score 1; they stand first. The others compete for
        the places of each question, and score 0 to 1. ``kept`` are read whatever they score.
        """
        found = merged([*exact, *others, *kept])
        if not found:
            return {"candidates": []}
        scores = self._scores(questions, found)
        first = {candidate.document_id for candidate in exact}
        places = [n for n, candidate in enumerate(found) if candidate.document_id not in first]
        chosen = {
            place
            for column in scores.T
            for place in sorted(places, key=lambda n: -column[n])[: self._limit]
            if column[place] >= self._cutoff
        }
        best_scores = scores.max(axis=1, initial=0).tolist()  # 0 where nothing is asked
        also = first | {candidate.document_id for candidate in kept}
        ranked = [
            Candidate(c.document_id, c.found_by, 1.0 if c.document_id in first else best, c.hop)
            for n, (c, best) in enumerate(zip(found, best_scores, strict=True))
            if n in chosen or c.document_id in also
        ]
        ranked.sort(key=lambda c: (c.document_id not in first, -c.score, c.document_id))
        return {"candidates": ranked}

    def _scores(
        self, questions: Sequence[Question], candidates: Sequence[Candidate]
    ) -> NDArray[np.float32]:
        """Return what each candidate scores for each question, ``(candidates, questions)``."""
        vectors, lengths = self._encoder.measured([question.text for question in questions])
        ids = [candidate.document_id for candidate in candidates]
        similar = self._store.similarities(ids, vectors)
        assert similar is not None  # an index without vectors is not opened for this
        products = similar * lengths * LONGEST
        scores: NDArray[np.float32] = 1 / (1 + np.exp(-products / _SCALE))
        return scores
