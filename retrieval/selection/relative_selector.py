"""Which few of the ranked sentences the verdict rests on."""

from __future__ import annotations

from dataclasses import replace

from haystack import component

from retrieval.selection.with_paths import with_paths
from retrieval.types import Evidence


@component
class RelativeSelector:
    """Selects the sentences that bear on the claim nearly as much as the best one does.

    A verifier is served by the few sentences that decide, not by all that are
    about the same thing (FER, section 1). How relevant the best sentence is
    differs from claim to claim, so the bar is a share of it: one sentence where
    one stands out, several where several are alike. The sentences of
    a path say nothing without each other: they are selected together.
    """

    def __init__(self, share: float, limit: int) -> None:
        """Select sentences with at least ``share`` of the best score, ``limit`` at most."""
        self._share = share
        self._limit = limit

    @component.output_types(evidence=list[Evidence])
    def run(self, evidence: list[Evidence]) -> dict[str, list[Evidence]]:
        """Return the evidence, which comes best first, with ``selected`` set anew on each."""
        first = evidence[: self._limit]
        bar = self._share * max((item.score for item in first), default=0.0)
        best = [item for item in first if item.score >= bar]
        selected = with_paths(best, self._limit)
        return {"evidence": [replace(item, selected=item.key in selected) for item in evidence]}
