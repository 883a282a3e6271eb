"""Dense sentence retrieval: the sentences nearest to a claim and its path (M3, section 3.2)."""

from __future__ import annotations

from collections.abc import Collection

from haystack import component

from retrieval.dense.query_encoder import Query, QueryEncoder
from retrieval.index.store import DocumentStore
from retrieval.types import Candidate, Evidence, SentenceKey, SentenceMatch


@component
class DenseSentenceRetriever:
    """Searches the stored sentence vectors with the claim, or with the claim and each path.

    The sentences found do not depend on any word or name that they share with
    the claim, nor on links between pages.
    """

    def __init__(self, store: DocumentStore, encoder: QueryEncoder, limit: int) -> None:
        """Find ``limit`` sentences for each path."""
        self._store = store
        self._encoder = encoder
        self._limit = limit

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    @component.output_types(candidates=list[Candidate], sentences=list[list[SentenceMatch]])
    def run(
        self, claim: str, paths: list[list[Evidence]], seen: Collection[str], hop: int
    ) -> dict[str, list[Candidate] | list[list[SentenceMatch]]]:
        """Return the nearest sentences, and their documents that are not ``seen`` yet.

        ``sentences`` holds a list for each path, in their order, best first,
        without the path's own sentences, whether or not their documents are
        seen; without paths, one list for the claim alone. ``candidates`` are
        best first by their best sentence, which sets their score, each led by
        the last sentence of the path that found it.
        """
        steps = paths or [[]]
        queries: list[Query] = [
            (claim, [(item.title, item.sentence.text) for item in path]) for path in steps
        ]
        longest = max(len(path) for path in steps)
        nearest = self._store.nearest_sentences(
            self._encoder.encode(queries), self._limit + longest
        )
        sentences = []
        best: dict[str, tuple[float, SentenceKey | None]] = {}
        for path, matches in zip(steps, nearest, strict=True):
            on_path = [_key(item) for item in path]
            others = [match for match in matches if match.key not in on_path][: self._limit]
            led_by = on_path[-1] if on_path else None
            for match in others:
                page = match.key.document_id
                if page not in seen and (page not in best or match.similarity > best[page][0]):
                    best[page] = (match.similarity, led_by)
            sentences.append(others)
        ranked = sorted(best.items(), key=lambda entry: (-entry[1][0], entry[0]))
        return {
            "candidates": [
                Candidate(page, ("dense",), similarity, hop, led_by)
                for page, (similarity, led_by) in ranked
            ],
            "sentences": sentences,
        }


def _key(item: Evidence) -> SentenceKey:
    return SentenceKey(item.sentence.document_id, item.sentence.sentence_id)
