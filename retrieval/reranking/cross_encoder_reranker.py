"""A second reading of the few best sentences by a larger model."""

from __future__ import annotations

from dataclasses import replace

from haystack import component

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import path_text
from retrieval.types import Evidence


@component
class CrossEncoderReranker:
    """Reads the most relevant sentences again; both readings count the same from then on.

    The two models err on different claims, so the mean of their opinions (a
    linear pool, Stone 1961) is right more often than either.
    """

    def __init__(self, model: CrossEncoder, limit: int) -> None:
        """Read ``limit`` sentences at most."""
        self._model = model
        self._limit = limit

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    @component.output_types(evidence=list[Evidence])
    def run(
        self, claim: str, evidence: list[Evidence], keep_order: bool
    ) -> dict[str, list[Evidence]]:
        """Return the evidence, which comes best first, in its new order.

        A sentence that others led to is read beside those again. What was read twice
        stays before what was read once. ``keep_order``: for evidence whose order owes
        to its paths what no opinion of a single sentence tells.
        """
        best, rest = evidence[: self._limit], evidence[self._limit :]
        known = {item.key: (item.title, item.sentence.text) for item in evidence}
        second = self._model.probabilities(
            [
                (
                    claim,
                    path_text(
                        (item.title, item.sentence.text),
                        [known[key] for key in item.path if key in known],
                    ),
                )
                for item in best
            ]
        )
        pooled = [
            replace(item, opinion=_mean(item.opinion, row.tolist()))
            for item, row in zip(best, second, strict=True)
        ]
        if not keep_order:
            pooled.sort(key=lambda item: -item.score)
        return {"evidence": [*pooled, *rest]}


def _mean(first: tuple[float, float, float], second: list[float]) -> tuple[float, float, float]:
    supports, refutes, undecided = ((a + b) / 2 for a, b in zip(first, second, strict=True))
    return supports, refutes, undecided
