"""The stage ``semantic``: ranks relevant sentences, also by similarity (report, 3.3.11)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from retrieval.models.encoders import TextEncoder
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Evidence
from retrieval.words import counted


class _SentenceRanker(Stage):
    """Compares sentences with the claim."""

    def __init__(self, encoder: TextEncoder, cutoff: float) -> None:
        """Keep sentences whose cosine with the claim is at least ``cutoff``."""
        self._encoder = encoder
        self._cutoff = cutoff

    def run(self, state: ClaimState) -> Step:
        """Rank ``relevant`` and the earlier ``ranked``, and put them first in ``evidence``."""
        ranked = self.rank(state.claim, state.relevant, state.ranked)
        found = replace(state, ranked=tuple(ranked)).with_ranking(ranked)
        return Step(found, f"{counted(len(found.evidence), 'sentence')} to choose from")

    @abstractmethod
    def rank(
        self, claim: str, evidence: Sequence[Evidence], before: Sequence[Evidence]
    ) -> list[Evidence]:
        """Return the new ``evidence`` and that of the hops ``before``, best first."""


class SemanticSentenceRanker(_SentenceRanker):
    """Drops sentences that are about something else and puts the best first.

    The report sorts by similarity alone because its classifier's scores were all near 1. Here the
    scores are calibrated and order the sentences better than similarity does. Similarity is only a
    cutoff and breaks ties.
    """

    def __init__(self, encoder: TextEncoder, cutoff: float, limit: int) -> None:
        """Keep sentences whose similarity to the claim is at least ``cutoff``.

        Only the ``limit`` most relevant ones of each hop are ranked: later ones are never selected
        and never lead to others.
        """
        super().__init__(encoder, cutoff)
        self._limit = limit

    def rank(
        self, claim: str, evidence: Sequence[Evidence], before: Sequence[Evidence]
    ) -> list[Evidence]:
        """Return the evidence that passes the cutoff and what passed it ``before``, best first.

        ``evidence`` comes most relevant first. Sentences of earlier hops are not encoded again;
        they come before new ones of the same relevance.
        """
        if not evidence:
            return list(before)
        evidence = evidence[: self._limit]
        vectors = self._encoder.encode([claim, *(item.in_context for item in evidence)])
        similarity = vectors[1:] @ vectors[0]
        ranked = sorted(
            (
                (item, float(alike))
                for item, alike in zip(evidence, similarity, strict=True)
                if alike >= self._cutoff
            ),
            key=lambda pair: (
                -round(pair[0].score, 3),
                -pair[1],
                pair[0].sentence.document_id,
                pair[0].sentence.sentence_id,
            ),
        )
        both = [*before, *(item for item, _ in ranked)]
        return sorted(both, key=lambda item: -round(item.score, 3))


class SimilaritySentenceRanker(_SentenceRanker):
    """Keeps the sentences that are similar to the claim and puts the most similar first.

    The report does not order them by its classifier, whose scores are nearly all alike.
    """

    def rank(
        self, claim: str, evidence: Sequence[Evidence], before: Sequence[Evidence]
    ) -> list[Evidence]:
        """Return the evidence, and earlier ``before``, that passes; most similar first."""
        both = [*before, *evidence]
        vectors = self._encoder.encode([claim, *(item.in_context for item in both)])
        similarity = (vectors[1:] @ vectors[0]).tolist()
        passing = [pair for pair in zip(both, similarity, strict=True) if pair[1] >= self._cutoff]
        passing.sort(
            key=lambda pair: (
                -pair[1],
                pair[0].sentence.document_id,
                pair[0].sentence.sentence_id,
            )
        )
        return [item for item, _ in passing]


MAKERS: Makers = {
    "semantic": lambda r, c: SemanticSentenceRanker(
        r.models.encoder, c.semantic_cutoff, c.semantic_limit
    ),
    "semantic:mpnet": lambda r, c: SimilaritySentenceRanker(r.models.encoder, c.semantic_cutoff),
}
