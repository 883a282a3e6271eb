"""Brings the documents that several ways propose into one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from retrieval.types import Candidate


def interleaved(ways: Sequence[Sequence[Candidate]], limit: int) -> list[Candidate]:
    """Return ``limit`` candidates at most: the first of every way, the second of every way, …

    Each way comes best first; their scores cannot be compared. A document that
    several ways propose stands once, with all of them in ``found_by`` and the
    score and lead of the first.
    """
    merged: dict[str, Candidate] = {}
    for candidates in zip_longest(*ways):
        for candidate in candidates:
            if candidate is None:
                continue
            first = merged.get(candidate.document_id)
            if first is None:
                merged[candidate.document_id] = candidate
            else:
                ways_found = dict.fromkeys((*first.found_by, *candidate.found_by))
                merged[candidate.document_id] = replace(first, found_by=tuple(ways_found))
    return list(merged.values())[:limit]
