"""Which of the selected sentences the proof of the claim needs."""

from __future__ import annotations

from dataclasses import replace

from haystack import component

from retrieval.selection.with_paths import with_paths
from retrieval.types import Evidence, Proof


@component
class ProvedSelector:
    """Keeps the selected sentences that the proof rests on and those that are as good as the best.

    A sentence may be relevant enough to be selected and yet leave every part of the
    claim to others: it is about the same thing, but decides nothing.
    """

    def __init__(self, share: float) -> None:
        """Keep what no part rests on from ``share`` of the best selected one's relevance on."""
        self._share = share

    @component.output_types(evidence=list[Evidence])
    def run(self, evidence: list[Evidence], proof: Proof) -> dict[str, list[Evidence]]:
        """Return the evidence, which comes best first, with fewer of it ``selected``.

        What led to a sentence that is kept is kept with it.
        """
        selected = [item for item in evidence if item.selected]
        needed = {step.evidence.key for step in proof.mutations if step.evidence is not None}
        bar = self._share * max((item.score for item in selected), default=0.0)
        best = [item for item in selected if item.key in needed or item.score >= bar]
        kept = with_paths(best, len(selected))
        return {"evidence": [replace(item, selected=item.key in kept) for item in evidence]}
