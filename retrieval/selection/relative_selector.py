"""Which few of the ranked sentences the verdict rests on."""

from __future__ import annotations

from dataclasses import replace

from haystack import component

from retrieval.types import Evidence


@component
class RelativeSelector:
    """Selects the sentences that bear on the claim nearly as much as the best one does.

    A verifier is served by the few sentences that decide, not by all that are
    about the same thing (FER, section 1). How relevant the best sentence is
    differs from claim to claim, so the bar is a share of it: one sentence where
    one stands out, several where several are alike.
    """

    def __init__(self, share: float, limit: int) -> None:
        """Select sentences with at least ``share`` of the best score, ``limit`` at most."""
        self._share = share
        self._limit = limit

    @component.output_types(evidence=list[Evidence])
    def run(self, evidence: list[Evidence]) -> dict[str, list[Evidence]]:
        """Return the evidence, which comes best first, with ``selected`` set anew on each."""
        bar = self._share * (evidence[0].score if evidence else 0.0)
        return {
            "evidence": [
                replace(item, selected=rank < self._limit and item.score >= bar)
                for rank, item in enumerate(evidence)
            ]
        }
