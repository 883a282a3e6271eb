"""Semantic ranking of the relevant sentences against the claim (report, 3.3.11)."""

from __future__ import annotations

from haystack import component

from retrieval.encoders.encoder import TextEncoder
from retrieval.types import Evidence


@component
class SemanticSentenceRanker:
    """Drops sentences that are about something else and puts the best first.

    The report sorts by similarity alone because its classifier's scores were
    all near 1. Here they are calibrated and order the sentences better than
    similarity does, so similarity cuts off and breaks ties.
    """

    def __init__(self, encoder: TextEncoder, cutoff: float = 0.1, limit: int = 15) -> None:
        """Keep sentences whose similarity to the claim is at least ``cutoff``.

        They are the ``limit`` most relevant ones of each hop at most: what stands further
        behind is neither selected nor led on from.
        """
        self._encoder = encoder
        self._cutoff = cutoff
        self._limit = limit

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    @component.output_types(evidence=list[Evidence])
    def run(
        self, claim: str, evidence: list[Evidence], before: list[Evidence]
    ) -> dict[str, list[Evidence]]:
        """Return the evidence that passes the cutoff and what passed it ``before``, best first.

        ``evidence`` comes most relevant first. What was ranked in earlier hops is not encoded
        again; it stands before what is as relevant.
        """
        if not evidence:
            return {"evidence": before}
        evidence = evidence[: self._limit]
        vectors = self._encoder.encode([claim, *(item.sentence.text for item in evidence)])
        similarity = vectors[1:] @ vectors[0]
        ranked = sorted(
            (
                (item, float(alike))
                for item, alike in zip(evidence, similarity, strict=True)
                if alike >= self._cutoff
            ),
            key=lambda pair: (
                -round(pair[0].score, 3),
                -pair[1],
                pair[0].sentence.document_id,
                pair[0].sentence.sentence_id,
            ),
        )
        both = [*before, *(item for item, _ in ranked)]
        return {"evidence": sorted(both, key=lambda item: -round(item.score, 3))}
