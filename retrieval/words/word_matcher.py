"""Documents that hold the claim's words, whether or not they stand together there.

The report matches whole spans (3.3.5 and 3.3.7). A claim that rewords a name or
a description has none that its document holds, and is still found by its words.
``docs/experiments.md`` has what that is worth.
"""

from __future__ import annotations

from haystack import component
from spacy.tokens import Doc

from retrieval.index.store import DocumentStore
from retrieval.types import Candidate


@component
class WordMatcher:
    """The first documents in BM25 order for the claim's words, without function words."""

    def __init__(self, store: DocumentStore, limit: int = 8) -> None:
        """Return ``limit`` documents at most."""
        self._store = store
        self._limit = limit

    @component.output_types(candidates=list[Candidate])
    def run(self, doc: Doc) -> dict[str, list[Candidate]]:
        """Return the documents, best first; the ranker scores them."""
        words = [token.text for token in doc if not (token.is_stop or token.is_punct)]
        matches = self._store.phrase_matches(words, self._limit)
        return {
            "candidates": [Candidate(match.document_id, ("words",), 0.0, 1) for match in matches]
        }
