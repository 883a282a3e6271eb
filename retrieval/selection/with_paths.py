"""A sentence that was read together with others is selected with them or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from retrieval.types import Evidence, SentenceKey


def with_paths(best: Iterable[Evidence], limit: int) -> set[SentenceKey]:
    """Return which sentences are selected, ``limit`` at most.

    Of those in ``best``, which come best first, as many as find room with their
    paths.
    """
    selected: set[SentenceKey] = set()
    for item in best:
        wanted = selected | {item.key, *item.path}
        if len(wanted) <= limit:
            selected = wanted
    return selected
