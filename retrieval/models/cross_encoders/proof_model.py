"""The prover: predicts the operator and the evidence words of each span of a claim.

AdMIRaL (section 3.2) writes its proofs token by token with a sequence-to-sequence model. Here the
claim is cut first (``part_cutter``), and one pass over claim and evidence classifies all spans:
two pointers give the words of the evidence that a span is rewritten into, and the operator is
predicted from the span and those words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.models.cross_encoders.proof_row import proof_row
from retrieval.models.networks.arrays import Array, gelu, linear, softmax
from retrieval.models.networks.minilm import MiniLM
from retrieval.models.trained_model import TrainedModel


@dataclass(frozen=True, slots=True)
class ProofReading:
    """The network's output for one claim's spans and an evidence text.

    ``operators``: calibrated probabilities, ``(spans, 4)`` in the order of ``OPERATORS``. ``seen``:
    ``(spans,)``, false for a span without tokens. ``starts`` and ``ends``: the scores of each token
    as the first and last word of a span's evidence, ``(spans, tokens)``; minus infinity outside the
    evidence. ``evidence``: ``(tokens,)``, true for the evidence's. ``offsets``: ``(tokens, 2)``,
    their characters in the evidence text.
    """

    operators: NDArray[np.float32]
    seen: NDArray[np.bool_]
    starts: NDArray[np.float32]
    ends: NDArray[np.float32]
    evidence: NDArray[np.bool_]
    offsets: NDArray[np.int64]


class ProofModel(TrainedModel):
    """Reads a claim, cut into spans, with evidence."""

    def __init__(self, folder: Path) -> None:
        """Read ``folder``; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        super().__init__(folder, MiniLM())

    def read(self, claim: str, spans: Sequence[tuple[int, int]], evidence: str) -> ProofReading:
        """Return the output for the spans, offsets of the claim; evidence is cut at its end."""
        row = proof_row(self._tokenizer, claim, spans, evidence, self._config["max_tokens"])
        tokens = self._network.states([row.ids]).vectors[0]
        of_spans = row.spans @ tokens
        starts = _pointed(linear(of_spans, self._heads, "start"), tokens)
        ends = _pointed(linear(of_spans, self._heads, "end"), tokens)
        # The operator is predicted from the words that the pointers select; they are shown with it.
        scores = np.where(row.evidence, (starts + ends) / 2, np.finfo(np.float32).min)
        words = (softmax(scores) * row.evidence) @ tokens
        both = np.concatenate([of_spans, words, of_spans * words, of_spans - words], axis=-1)
        logits = linear(gelu(linear(both, self._heads, "compared")), self._heads, "operator")
        return ProofReading(
            softmax(logits / np.float32(self._config["temperature"])),
            row.seen,
            np.where(row.evidence, starts, np.float32(-np.inf)),
            np.where(row.evidence, ends, np.float32(-np.inf)),
            row.evidence,
            row.offsets,
        )


def _pointed(spans: Array, tokens: Array) -> Array:
    """Return the pointer score of each span for each token, scaled as in attention."""
    return spans @ tokens.T / np.float32(math.sqrt(tokens.shape[-1]))
