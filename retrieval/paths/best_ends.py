"""The sentences that complete the best ones."""

from __future__ import annotations

from collections.abc import Container, Sequence

from retrieval.types import Evidence, Reading, SentenceKey


def best_ends(
    evidence: Sequence[Evidence],
    paths: Sequence[Evidence],
    read: Container[Reading],
    count: int,
) -> list[Evidence]:
    """Return the ``count`` sentences, best first, that say the most behind some of the evidence.

    ``paths``: sentences at the end of a path, as the path reader finds them. ``read``: what the
    verifier has read, which is not returned again. Each sentence is returned once and each pair
    of sentences in one direction, the surer one.
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
