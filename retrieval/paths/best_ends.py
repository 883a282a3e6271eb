"""The paths whose last sentence may complete the best sentences."""

from __future__ import annotations

from collections.abc import Container, Sequence

from retrieval.types import Evidence, Reading, SentenceKey


def best_ends(
    evidence: Sequence[Evidence],
    paths: Sequence[Evidence],
    read: Container[Reading],
    count: int,
) -> list[Evidence]:
    """Return the ``count`` paths with the highest scores, each as its last sentence, best first.

    ``paths``: what the path reader read. A path is left out if the verifier has ``read`` it or if
    it starts from a sentence that is not in ``evidence``. Of several paths with the same last
    sentence, or with the same sentences in another order, the one with the highest score is kept.
    """
    known = {item.key for item in evidence}
    ends: dict[SentenceKey, Evidence] = {}
    pairs: set[frozenset[SentenceKey]] = set()
    for item in sorted(paths, key=lambda item: -item.score):
        if len(ends) == count:
            break
        pair = frozenset((*item.path, item.key))
        new = item.key not in ends and pair not in pairs and (item.path, item.key) not in read
        if new and known.issuperset(item.path):
            ends[item.key] = item
            pairs.add(pair)
    return list(ends.values())
