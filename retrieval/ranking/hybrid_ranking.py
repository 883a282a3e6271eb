"""Sentences found by the claim and sentences on paths, in one order (M3, section 3.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from retrieval.types import SentenceKey


def hybrid_scores(
    single: Mapping[SentenceKey, float],
    sequences: Sequence[Sequence[tuple[SentenceKey, float]]],
    weight: float,
) -> dict[SentenceKey, float]:
    """Return a score for every sentence (M3, algorithm 1).

    ``single`` holds what each sentence scores beside the claim alone. Each of
    ``sequences`` is a path, step by step, with what each sentence scores beside
    the claim and the steps before it; none is empty. A path scores the product of
    its steps, a sentence as much as the best path that it is on. Both kinds of
    scores are spread over 0..1, least to greatest, a sentence that has none of a
    kind gets the least, and the result is the first plus ``weight`` (gamma) times
    the second: 0 to 1 + ``weight``.

    Scores of a kind that are all equal become 0, as in the authors' program.
    That they are equal tells no sentence from another, those without a score
    included, since these get the least: one path alone changes no order.
    """
    multi: dict[SentenceKey, float] = {}
    for sequence in sequences:
        score = math.prod(step for _, step in sequence)
        for key, _ in sequence:
            multi[key] = max(score, multi.get(key, score))
    by_claim, by_path = _normalised(single), _normalised(multi)
    # 0.0 is the least of both once they are normalised.
    return {
        key: by_claim.get(key, 0.0) + weight * by_path.get(key, 0.0)
        for key in by_claim.keys() | by_path.keys()
    }


def _normalised(scores: Mapping[SentenceKey, float]) -> dict[SentenceKey, float]:
    if not scores:
        return {}
    least, greatest = min(scores.values()), max(scores.values())
    if least == greatest:
        return dict.fromkeys(scores, 0.0)
    return {key: (score - least) / (greatest - least) for key, score in scores.items()}
