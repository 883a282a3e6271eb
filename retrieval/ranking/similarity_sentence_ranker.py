"""Semantic ranking by similarity alone (ESOTERIC report, section 3.3.11)."""

from __future__ import annotations

from haystack import component

from retrieval.encoders.encoder import TextEncoder
from retrieval.types import Evidence


@component
class SimilaritySentenceRanker:
    """Keeps the sentences that are similar to the claim and puts the most similar first.

    The report does not order them by its classifier, whose scores are nearly all alike.
    """

    def __init__(self, encoder: TextEncoder, cutoff: float) -> None:
        """Keep sentences whose cosine with the claim is at least ``cutoff`` (report: 0.7)."""
        self._encoder = encoder
        self._cutoff = cutoff

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    @component.output_types(evidence=list[Evidence])
    def run(
        self, claim: str, evidence: list[Evidence], before: list[Evidence]
    ) -> dict[str, list[Evidence]]:
        """Return the evidence, and what was ranked ``before``, that passes; most similar first."""
        both = [*before, *evidence]
        vectors = self._encoder.encode([claim, *(item.sentence.text for item in both)])
        similarity = (vectors[1:] @ vectors[0]).tolist()
        passing = [pair for pair in zip(both, similarity, strict=True) if pair[1] >= self._cutoff]
        passing.sort(
            key=lambda pair: (
                -pair[1],
                pair[0].sentence.document_id,
                pair[0].sentence.sentence_id,
            )
        )
        return {"evidence": [item for item, _ in passing]}
