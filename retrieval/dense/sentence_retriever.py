"""Dense sentence retrieval: the sentences nearest to a claim and its path (M3, section 3.2)."""

from __future__ import annotations

from collections.abc import Collection

from haystack import component

from retrieval.dense.query_encoder import Query, QueryEncoder
from retrieval.index.store import DocumentStore
from retrieval.types import Candidate, Evidence, SentenceKey


@component
class DenseSentenceRetriever:
    """Searches the stored sentence vectors with the claim, or with the claim and each path.

    The sentences found do not depend on any word or name that they share with
    the claim, nor on links between pages.
    """

    def __init__(self, store: DocumentStore, encoder: QueryEncoder, limit: int) -> None:
        """Find ``limit`` sentences of documents not read yet for each path."""
        self._store = store
        self._encoder = encoder
        self._limit = limit

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    @component.output_types(candidates=list[Candidate])
    def run(
        self, claim: str, paths: list[list[Evidence]], seen: Collection[str], hop: int
    ) -> dict[str, list[Candidate]]:
        """Return the documents of the sentences nearest to each path that are not ``seen`` yet.

        Best first by their best sentence, which sets their score; each is led by the
        last sentence of the path that found it. Without paths the claim alone is
        searched with.
        """
        steps = paths or [[]]
        queries: list[Query] = [
            (claim, [(item.title, item.sentence.text) for item in path]) for path in steps
        ]
        vectors = self._encoder.encode(queries)
        nearest = self._store.nearest_sentences(vectors, self._limit, seen)
        best: dict[str, tuple[float, SentenceKey | None]] = {}
        for path, matches in zip(steps, nearest, strict=True):
            led_by = path[-1].key if path else None
            for match in matches:
                page = match.key.document_id
                if page not in best or match.similarity > best[page][0]:
                    best[page] = (match.similarity, led_by)
        ranked = sorted(best.items(), key=lambda entry: (-entry[1][0], entry[0]))
        return {
            "candidates": [
                Candidate(page, ("dense",), similarity, hop, led_by)
                for page, (similarity, led_by) in ranked
            ]
        }
