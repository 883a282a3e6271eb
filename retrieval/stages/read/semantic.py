"""The stage ``semantic``: ranks relevant sentences, also by similarity (report, 3.3.11)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Evidence
from retrieval.words import counted


class _SentenceRanker(Stage):
    """Compares sentences with the claim, and keeps those that are similar enough."""

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._encoder = resources.models.encoder
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Rank ``relevant`` and the earlier ``ranked``, and put them first in ``evidence``."""
        ranked = self._ranked(state)
        found = replace(state, ranked=tuple(ranked)).with_ranking(ranked)
        return Step(found, f"{counted(len(found.evidence), 'sentence')} to choose from")

    @abstractmethod
    def _ranked(self, state: ClaimState) -> list[Evidence]:
        """Return the evidence of this hop and of those before, best first."""

    def _similar(self, claim: str, evidence: Sequence[Evidence]) -> list[tuple[Evidence, float]]:
        """Return the sentences that are similar to the claim, with their cosines."""
        vectors = self._encoder.encode([claim, *(item.in_context for item in evidence)])
        compared = zip(evidence, (vectors[1:] @ vectors[0]).tolist(), strict=True)
        return [pair for pair in compared if pair[1] >= self._settings.semantic_cutoff]


class SemanticSentenceRanker(_SentenceRanker):
    """Drops sentences that are about something else and puts the best first.

    The report sorts by similarity alone because its classifier's scores were all near 1. Here the
    scores are calibrated and order the sentences better than similarity does. Similarity is only a
    cutoff and breaks ties. Only the ``semantic_limit`` most relevant sentences of each hop are
    ranked: later ones are never selected and never lead to others. Those of earlier hops are not
    encoded again; they come before new ones of the same relevance.
    """

    def _ranked(self, state: ClaimState) -> list[Evidence]:
        if not state.relevant:
            return list(state.ranked)
        similar = self._similar(state.claim, state.relevant[: self._settings.semantic_limit])
        similar.sort(key=lambda pair: (-round(pair[0].score, 3), -pair[1], pair[0].key))
        both = [*state.ranked, *(item for item, _ in similar)]
        return sorted(both, key=lambda item: -round(item.score, 3))


class SimilaritySentenceRanker(_SentenceRanker):
    """Keeps the sentences that are similar to the claim and puts the most similar first.

    The report does not order them by its classifier, whose scores are nearly all alike.
    """

    def _ranked(self, state: ClaimState) -> list[Evidence]:
        similar = self._similar(state.claim, (*state.ranked, *state.relevant))
        return [item for item, _ in sorted(similar, key=lambda pair: (-pair[1], pair[0].key))]


MAKERS: Makers = {"semantic": SemanticSentenceRanker, "semantic:mpnet": SimilaritySentenceRanker}
