"""Ranks sentences read alone and sentences behind a path in one list (M3, section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from haystack import component

from retrieval.ranking.hybrid_ranking import hybrid_scores
from retrieval.types import Evidence, SentenceKey


@component
class PathRanker:
    """Hybrid ranking; a sentence that says more behind a path keeps what it says there."""

    def __init__(self, threshold: float, weight: float) -> None:
        """Keep paths whose scores multiply to ``threshold``; they count ``weight`` times."""
        self._threshold = threshold
        self._weight = weight

    @component.output_types(evidence=list[Evidence])
    def run(
        self, found: list[Evidence], paths: list[Evidence], hybrid: bool
    ) -> dict[str, list[Evidence]]:
        """Return the evidence of both, each sentence once, best first.

        ``found`` holds sentences read alone, ``paths`` those of all hops read
        behind others. A path is as strong as the product of the scores of its
        sentences (Algorithm 1, line 4): of the first one alone, of each later one
        behind those before it. ``hybrid``: ranked by Algorithm 1, equal ones by the
        surer of both readings; otherwise by that alone.
        """
        scored = {(item.path, item.key): item.score for item in (*found, *paths)}
        strong = [
            (item, sequence)
            for item in paths
            if (sequence := _sequence(item, scored))
            and prod(score for _, score in sequence) >= self._threshold
        ]
        # What a sentence says behind a path counts where it is the surer one.
        surest: dict[SentenceKey, Evidence] = {}
        for item in (*found, *(item for item, _ in strong)):
            if item.key not in surest or item.score > surest[item.key].score:
                surest[item.key] = item
        hybrid_of = dict.fromkeys(surest, 0.0)
        if hybrid:
            hybrid_of = hybrid_scores(
                {item.key: item.score for item in found},
                [sequence for _, sequence in strong],
                self._weight,
            )
        ranked = sorted(
            surest.values(),
            key=lambda item: (
                -round(hybrid_of[item.key], 6),
                -round(item.score, 6),
                item.key.document_id,
                item.key.sentence_id,
            ),
        )
        return {"evidence": ranked}


def _sequence(
    item: Evidence, scored: Mapping[tuple[tuple[SentenceKey, ...], SentenceKey], float]
) -> list[tuple[SentenceKey, float]]:
    """Return the path's sentences with the score of each behind those before it."""
    keys = (*item.path, item.key)
    steps = [(keys[:position], key) for position, key in enumerate(keys)]
    if any(step not in scored for step in steps):
        return []  # one of them was read alone and found irrelevant
    return [(key, scored[behind, key]) for behind, key in steps]
