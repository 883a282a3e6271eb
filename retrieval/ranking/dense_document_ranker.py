"""Dense ranking: which candidates answer the questions about the claim (report, 3.3.9)."""

from __future__ import annotations

from collections.abc import Sequence

from haystack import component

from retrieval.encoders.encoder import TextEncoder
from retrieval.index.store import DocumentStore
from retrieval.types import Candidate, FoundBy, Question

# What a document counts as more similar by whose title is a name in the claim but for words in
# parentheses. ``docs/experiments.md`` has what that is worth.
_NAMED = 0.1


@component
class DenseDocumentRanker:
    """Scores each candidate by the question it answers best.

    The document encodings were stored when the index was built, title included;
    only the questions are encoded here.
    """

    def __init__(
        self, store: DocumentStore, encoder: TextEncoder, cutoff: float = 0.35, limit: int = 20
    ) -> None:
        """Keep candidates that score at least ``cutoff``, ``limit`` of them at most."""
        self._store = store
        self._encoder = encoder
        self._cutoff = cutoff
        self._limit = limit

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    @component.output_types(candidates=list[Candidate])
    def run(
        self,
        questions: list[Question],
        exact: list[Candidate],
        others: list[Candidate],
        kept: list[Candidate],
    ) -> dict[str, list[Candidate]]:
        """Return the candidates to read, best first.

        Exact title matches score 1 and are never cut off; where there are more
        of them than ``limit``, those that answer a question best are kept, so
        that a claim full of common nouns cannot drown the page it is about. Behind them
        disambiguated ones stand before what answers a question little better.
        ``kept`` are read beside those, whatever they answer. Over an index without
        vectors candidates stay in the order in which they were found.
        """
        found = merged([*exact, *others, *kept])
        if not found:
            return {"candidates": []}
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
            key=lambda entry: (not entry[0], -_rank(entry[1], entry[2]), entry[2].document_id)
        )
        return {
            "candidates": [
                candidate
                for rank, (_, _, candidate) in enumerate(ranked)
                if rank < self._limit or candidate.document_id in kept_ids
            ]
        }

    def _best_answers(
        self, questions: Sequence[Question], candidates: Sequence[Candidate]
    ) -> list[float]:
        asked = self._encoder.encode([question.text for question in questions])
        similar = self._store.similarities([c.document_id for c in candidates], asked)
        if similar is None:
            step = (1 - self._cutoff) / len(candidates)
            return [1 - place * step for place in range(len(candidates))]
        return [float(score) for score in similar.max(axis=1)]


def _rank(answer: float, candidate: Candidate) -> float:
    return answer + (_NAMED if "disambiguation" in candidate.found_by else 0.0)


def merged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return one candidate per document, which has every way that it was found."""
    found: dict[str, tuple[tuple[FoundBy, ...], Candidate]] = {}
    for candidate in candidates:
        ways, first = found.get(candidate.document_id, ((), candidate))
        new = tuple(way for way in candidate.found_by if way not in ways)
        found[candidate.document_id] = (ways + new, first)
    return [
        Candidate(first.document_id, ways, first.score, first.hop) for ways, first in found.values()
    ]
