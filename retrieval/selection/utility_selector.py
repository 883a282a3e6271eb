"""Which of the candidates serve the verifier, as its own feedback taught (FER, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from haystack import component
from numpy.typing import NDArray

from retrieval.selection.with_paths import with_paths
from retrieval.types import Evidence

USEFUL = 0.5  # of two classes, the more probable one decides


class UtilityReader(Protocol):
    """What tells useful sentences from others."""

    def warm_up(self) -> None:
        """Load its weights."""
        ...

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.floating[Any]]:
        """Return the probability of each (title, sentence) that it is useful evidence.

        ``relevance``: the probability of each that it bears on the claim at all.
        """
        ...


@component
class UtilitySelector:
    """Selects sentences by the utility that the verifier has of them, not by their relevance."""

    def __init__(self, model: UtilityReader, candidates: int, limit: int) -> None:
        """Choose from the ``candidates`` best sentences (FER, 4.1: 25), ``limit`` at most."""
        self._model = model
        self._candidates = candidates
        self._limit = limit

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    @component.output_types(evidence=list[Evidence])
    def run(self, claim: str, evidence: list[Evidence]) -> dict[str, list[Evidence]]:
        """Return the evidence, which comes best first, with ``selected`` set anew on each.

        Where no sentence is useful the one that is most so is selected, since a
        verdict needs something to rest on. The sentences that led to a selected one
        are selected with it. Selected sentences stand before others; the order is
        otherwise kept.
        """
        if not evidence:
            return {"evidence": []}
        read = evidence[: self._candidates]
        texts = [(item.title, item.sentence.text) for item in read]
        useful = self._model.usefulness(claim, texts, [item.score for item in read])
        best = sorted(range(len(read)), key=lambda rank: -useful[rank])
        chosen = [read[rank] for rank in best if useful[rank] >= USEFUL] or [read[best[0]]]
        selected = with_paths(chosen, self._limit)
        marked = [replace(item, selected=item.key in selected) for item in evidence]
        return {"evidence": sorted(marked, key=lambda item: not item.selected)}
