"""Text match: documents whose text holds a span of the claim (report, 3.3.7)."""

from __future__ import annotations

from collections.abc import Sequence

from haystack import component

from retrieval.index.store import DocumentStore
from retrieval.types import Candidate, Span


@component
class PhraseMatcher:
    """Documents that contain any telling span as a phrase, in BM25 order."""

    def __init__(self, store: DocumentStore, limit: int = 200) -> None:
        """Return ``limit`` documents at most."""
        self._store = store
        self._limit = limit

    @component.output_types(candidates=list[Candidate])
    def run(self, spans: list[Span]) -> dict[str, list[Candidate]]:
        """Return the documents, best first; the ranker scores them."""
        phrases = [span.text for span in _telling(spans)]
        matches = self._store.phrase_matches(phrases, self._limit)
        return {
            "candidates": [Candidate(match.document_id, ("text",), 0.0, 1) for match in matches]
        }


def _telling(spans: Sequence[Span]) -> list[Span]:
    """Leave out single common words and bare numbers where something more specific is there.

    "film" or "two" stand in a good part of any corpus; "Sputnik 1" does not.
    """
    specific = [
        span
        for span in spans
        if span.kind in {"entity", "name", "quotation", "date"} or " " in span.text
    ]
    return specific or list(spans)
