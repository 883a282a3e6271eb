"""The paths whose sentences may settle the claim together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.types import Evidence, Reading, SentenceKey


def surest_paths(
    evidence: Sequence[Evidence],
    paths: Sequence[Evidence],
    read: Iterable[Reading],
    count: int,
    cutoff: float,
) -> list[Evidence]:
    """Return the ``count`` paths with the highest scores, each as its last sentence, best first.

    ``paths``: what the path reader read. A path is left out if its score is below ``cutoff``, if
    it starts from a sentence that is not in ``evidence``, or if the verifier has ``read`` its
    sentences together, in whatever order. Of paths with the same sentences the one with the
    highest score is kept.
    """
    known = {item.key for item in evidence}
    done = {frozenset((*path, key)) for path, key in read}
    surest: dict[frozenset[SentenceKey], Evidence] = {}
    for item in sorted(paths, key=lambda item: -item.score):
        if len(surest) == count or item.score < cutoff:
            break
        together = frozenset((*item.path, item.key))
        if known.issuperset(item.path) and together not in done:
            surest.setdefault(together, item)
    return list(surest.values())
