"""The stage ``ranking``: which candidates answer the questions about the claim (report, 3.3.9)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import TextEncoder
from retrieval.models.papers.report_networks import LONGEST, DprQuestionEncoder
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Candidate, Question
from retrieval.words import counted

# Haystack, which the report used, maps an inner product x to 1 / (1 + exp(-x / 100)). The report's
# cutoff is on that scale, like the scores on its result page, 0.67 to 0.68 (appendix E).
_SCALE = 100.0


class DocumentRanker(Stage):
    """Chooses the documents whose sentences are read."""

    def run(self, state: ClaimState) -> Step:
        """Find ``candidates`` among the documents of title and text match."""
        others = (*state.disambiguated, *state.by_text)
        ranked = self.rank(state.questions, state.exact, others, state.by_words)
        message = f"{counted(len(ranked), 'document')} that may contain an answer"
        return Step(replace(state, candidates=tuple(ranked)), message)

    @abstractmethod
    def rank(
        self,
        questions: Sequence[Question],
        exact: Sequence[Candidate],
        others: Sequence[Candidate],
        kept: Sequence[Candidate],
    ) -> list[Candidate]:
        """Return the candidates to read, best first.

        ``exact``: those with an exact title. ``kept``: those that are read in any case.
        """


class DenseDocumentRanker(DocumentRanker):
    """Scores each candidate by the question it answers best.

    The vectors of the documents, with their titles, are stored in the index; only the questions
    are encoded here.
    """

    def __init__(
        self, store: DocumentStore, encoder: TextEncoder, settings: RetrievalConfig
    ) -> None:
        """Keep ``document_limit`` candidates that score at least ``document_cutoff``."""
        self._store = store
        self._encoder = encoder
        self._cutoff = settings.document_cutoff
        self._limit = settings.document_limit
        self._bonus = settings.title_bonus
        self._keep_exact = settings.keep_exact_titles

    def rank(
        self,
        questions: Sequence[Question],
        exact: Sequence[Candidate],
        others: Sequence[Candidate],
        kept: Sequence[Candidate],
    ) -> list[Candidate]:
        """Return the candidates to read, best first.

        Exact title matches have the score 1, and the cutoff does not apply to them. If there are
        more of them than ``document_limit``, those that answer a question best are kept, so that a
        claim full of common nouns does not lose the page that it is about; with
        ``keep_exact_titles`` all of them are. Then disambiguated ones come
        before documents that answer a question only a little better. ``kept`` are always read as
        well. If the index has no vectors, the candidates stay in the order in which they were
        found.
        """
        found = _merged([*exact, *others, *kept])
        if not found:
            return []
        answers = self._best_answers(questions, found)
        exact_ids = {candidate.document_id for candidate in exact}
        kept_ids = {candidate.document_id for candidate in kept}
        ranked = [
            (
                candidate.document_id in exact_ids,
                answer,
                Candidate(
                    candidate.document_id,
                    candidate.found_by,
                    1.0 if candidate.document_id in exact_ids else answer,
                    candidate.hop,
                ),
            )
            for candidate, answer in zip(found, answers, strict=True)
            if candidate.document_id in exact_ids | kept_ids or answer >= self._cutoff
        ]
        ranked.sort(
            key=lambda entry: (not entry[0], -self._rank(entry[1], entry[2]), entry[2].document_id)
        )
        whatever_rank = kept_ids | exact_ids if self._keep_exact else kept_ids
        return [
            candidate
            for rank, (_, _, candidate) in enumerate(ranked)
            if rank < self._limit or candidate.document_id in whatever_rank
        ]

    def _rank(self, answer: float, candidate: Candidate) -> float:
        return answer + (self._bonus if "disambiguation" in candidate.found_by else 0.0)

    def _best_answers(
        self, questions: Sequence[Question], candidates: Sequence[Candidate]
    ) -> list[float]:
        asked = self._encoder.encode([question.text for question in questions])
        similar = self._store.similarities([c.document_id for c in candidates], asked)
        if similar is None:
            step = (1 - self._cutoff) / len(candidates)
            return [1 - place * step for place in range(len(candidates))]
        return [float(score) for score in similar.max(axis=1)]


class EachQuestionRanker(DocumentRanker):
    """Chooses the documents nearest to each question (report, 3.3.8 and 3.3.9).

    The score of a document is that of the question that it answers best.
    """

    def __init__(self, cutoff: float, limit: int) -> None:
        """Keep candidates that score at least ``cutoff``, ``limit`` of them for each question."""
        self._cutoff = cutoff
        self._limit = limit

    def rank(
        self,
        questions: Sequence[Question],
        exact: Sequence[Candidate],
        others: Sequence[Candidate],
        kept: Sequence[Candidate],
    ) -> list[Candidate]:
        """Return the candidates to read, best first.

        All exact title matches are read; they come first, with the score 1. Of the others the best
        for each question are read, with scores of 0 to 1. ``kept`` are always read.
        """
        found = _merged([*exact, *others, *kept])
        if not found:
            return []
        scores = self._scores(questions, found)
        first = {candidate.document_id for candidate in exact}
        places = [n for n, candidate in enumerate(found) if candidate.document_id not in first]
        chosen = {
            place
            for column in scores.T
            for place in sorted(places, key=lambda n: -column[n])[: self._limit]
            if column[place] >= self._cutoff
        }
        best_scores = scores.max(axis=1, initial=0).tolist()  # 0 if there is no question
        also = first | {candidate.document_id for candidate in kept}
        ranked = [
            Candidate(c.document_id, c.found_by, 1.0 if c.document_id in first else best, c.hop)
            for n, (c, best) in enumerate(zip(found, best_scores, strict=True))
            if n in chosen or c.document_id in also
        ]
        ranked.sort(key=lambda c: (c.document_id not in first, -c.score, c.document_id))
        return ranked

    @abstractmethod
    def _scores(
        self, questions: Sequence[Question], candidates: Sequence[Candidate]
    ) -> NDArray[np.float32]:
        """Return the score of each candidate for each question, ``(candidates, questions)``."""


class MiniLMDocumentRanker(EachQuestionRanker):
    """Scores documents by the cosine of their vectors with those of the questions."""

    def __init__(
        self, store: DocumentStore, encoder: TextEncoder, cutoff: float, limit: int
    ) -> None:
        """See ``EachQuestionRanker``."""
        super().__init__(cutoff, limit)
        self._store = store
        self._encoder = encoder

    def _scores(
        self, questions: Sequence[Question], candidates: Sequence[Candidate]
    ) -> NDArray[np.float32]:
        """Return the cosines; 1 for all if the index has no vectors."""
        asked = self._encoder.encode([question.text for question in questions])
        similar = self._store.similarities([c.document_id for c in candidates], asked)
        alike: NDArray[np.float32] = np.ones((len(candidates), len(questions)), np.float32)
        return alike if similar is None else similar


class DprDocumentRanker(EachQuestionRanker):
    """Scores documents by DPR's inner products, scaled to 0..1. The index has vectors of DPR."""

    def __init__(
        self, store: DocumentStore, encoder: DprQuestionEncoder, cutoff: float, limit: int
    ) -> None:
        """See ``EachQuestionRanker``."""
        super().__init__(cutoff, limit)
        self._store = store
        self._encoder = encoder

    def _scores(
        self, questions: Sequence[Question], candidates: Sequence[Candidate]
    ) -> NDArray[np.float32]:
        """Return the scaled inner products."""
        vectors, lengths = self._encoder.measured([question.text for question in questions])
        ids = [candidate.document_id for candidate in candidates]
        similar = self._store.similarities(ids, vectors)
        assert similar is not None  # an index without vectors is not opened for this
        products = similar * lengths * LONGEST
        scores: NDArray[np.float32] = 1 / (1 + np.exp(-products / _SCALE))
        return scores


def _merged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return one candidate for each document, with all stages that found it."""
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        first = merged.setdefault(candidate.document_id, candidate)
        found_by = tuple(dict.fromkeys((*first.found_by, *candidate.found_by)))
        merged[candidate.document_id] = replace(first, found_by=found_by)
    return list(merged.values())


MAKERS: Makers = {
    "ranking": lambda r, c: DenseDocumentRanker(r.store, r.models.encoder, c),
    "ranking:each": lambda r, c: MiniLMDocumentRanker(
        r.store, r.models.encoder, c.document_cutoff, c.document_limit
    ),
    "ranking:dpr": lambda r, c: DprDocumentRanker(
        r.store, r.models.dpr, c.document_cutoff, c.document_limit
    ),
}
