"""The stage ``ranking``: which candidates answer the questions about the claim (report, 3.3.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retrieval.models.papers.report_networks import LONGEST
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.find.next import interleaved
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step
from retrieval.types import Candidate
from retrieval.words import counted

# Haystack, which the report used, maps an inner product x to 1 / (1 + exp(-x / 100)). The report's
# cutoff is on that scale, like the scores on its result page, 0.67 to 0.68 (appendix E).
_SCALE = 100.0


class DenseDocumentRanker(Stage):
    """Chooses the documents whose sentences are read, by the question that each answers best.

    The vectors of the documents, with their titles, are stored in the index; only the questions
    are encoded here. If more exact title matches are found than ``document_limit``, those that
    answer a question best are kept, so that a claim full of common nouns does not lose the page
    that it is about; with ``keep_exact_titles`` all of them are. Then disambiguated ones come
    before documents that answer a question only a little better. If the index has no vectors, the
    candidates stay in the order in which they were found.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._encoder = resources.models.encoder
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Find ``candidates``, best first, among the documents of title and text match.

        Exact title matches have the score 1, and the cutoff does not apply to them. Documents that
        the claim's words find are read in any case.
        """
        found = interleaved([[*state.exact, *state.disambiguated, *state.by_text, *state.by_words]])
        exact = {candidate.document_id for candidate in state.exact}
        kept = {candidate.document_id for candidate in state.by_words}
        asked = [question.text for question in state.questions]
        ranked = self._ranked(asked, found, exact, kept) if found else []
        message = f"{counted(len(ranked), 'document')} that may contain an answer"
        return Step(replace(state, candidates=tuple(ranked)), message)

    def _ranked(
        self, asked: Sequence[str], found: Sequence[Candidate], exact: set[str], kept: set[str]
    ) -> list[Candidate]:
        """Return the candidates to read, best first.

        ``exact``: ids of those with an exact title; ``kept``: of those that are read in any case.
        """
        settings = self._settings

        def order(pair: tuple[Candidate, float]) -> tuple[bool, float, str]:
            candidate, answer = pair
            bonus = settings.title_bonus if "disambiguation" in candidate.found_by else 0.0
            return candidate.document_id not in exact, -(answer + bonus), candidate.document_id

        similar = self._store.similarities(
            [c.document_id for c in found], self._encoder.encode(asked)
        )
        if similar is None:
            step = (1 - settings.document_cutoff) / len(found)
            answers = [1 - place * step for place in range(len(found))]
        else:
            answers = [float(score) for score in similar.max(axis=1)]
        answering = [
            (candidate, answer)
            for candidate, answer in zip(found, answers, strict=True)
            if candidate.document_id in exact | kept or answer >= settings.document_cutoff
        ]
        whatever_rank = kept | exact if settings.keep_exact_titles else kept
        return [
            replace(candidate, score=1.0 if candidate.document_id in exact else answer)
            for rank, (candidate, answer) in enumerate(sorted(answering, key=order))
            if rank < settings.document_limit or candidate.document_id in whatever_rank
        ]


class EachQuestionRanker(DenseDocumentRanker):
    """Chooses the documents nearest to each question (report, 3.3.8 and 3.3.9), by their cosines.

    The score of a document is that of the question that it answers best. All exact title matches
    are read; they come first. Of the others the ``document_limit`` best for each question are read.
    """

    def _ranked(
        self, asked: Sequence[str], found: Sequence[Candidate], exact: set[str], kept: set[str]
    ) -> list[Candidate]:
        scores = self._scores(asked, [candidate.document_id for candidate in found])
        places = [n for n, candidate in enumerate(found) if candidate.document_id not in exact]
        chosen = {
            place
            for column in scores.T
            for place in sorted(places, key=lambda n: -column[n])[: self._settings.document_limit]
            if column[place] >= self._settings.document_cutoff
        }
        best_scores = scores.max(axis=1, initial=0).tolist()  # 0 if there is no question
        ranked = [
            replace(candidate, score=1.0 if candidate.document_id in exact else best)
            for n, (candidate, best) in enumerate(zip(found, best_scores, strict=True))
            if n in chosen or candidate.document_id in exact | kept
        ]
        return sorted(ranked, key=lambda c: (c.document_id not in exact, -c.score, c.document_id))

    def _scores(self, asked: Sequence[str], ids: Sequence[str]) -> NDArray[np.float32]:
        """Return the score of each candidate for each question, ``(candidates, questions)``.

        It is 1 for all if the index has no vectors.
        """
        similar = self._store.similarities(ids, self._encoder.encode(asked))
        alike: NDArray[np.float32] = np.ones((len(ids), len(asked)), np.float32)
        return alike if similar is None else similar


class DprDocumentRanker(EachQuestionRanker):
    """Scores documents by DPR's inner products, scaled to 0..1. The index has vectors of DPR."""

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        super().__init__(resources, settings)
        self._dpr = resources.models.dpr

    def _scores(self, asked: Sequence[str], ids: Sequence[str]) -> NDArray[np.float32]:
        vectors, lengths = self._dpr.measured(asked)
        similar = self._store.similarities(ids, vectors)
        assert similar is not None  # an index without vectors is not opened for this
        products = similar * lengths * LONGEST
        scores: NDArray[np.float32] = 1 / (1 + np.exp(-products / _SCALE))
        return scores


MAKERS: Makers = {
    "ranking": DenseDocumentRanker,
    "ranking:each": EachQuestionRanker,
    "ranking:dpr": DprDocumentRanker,
}
