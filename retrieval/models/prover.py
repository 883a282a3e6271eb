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

import numpy as np
from numpy.typing import NDArray

from retrieval.models.arrays import Array, gelu, linear, softmax
from retrieval.models.networks import Row, Tokenizer
from retrieval.models.trained_model import TrainedModel

_MARKS = 3  # special tokens around claim and evidence


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


@dataclass(frozen=True, slots=True)
class ProofRow:
    """One row of tokens with the claim's spans.

    ``ids``: the tokens. ``spans``: ``(spans, tokens)``, each row the mean over that span's
    tokens. ``seen``: ``(spans,)``; false, with a row of zeros, for a span without tokens.
    ``evidence``: ``(tokens,)``, true for the evidence's tokens. ``offsets``: ``(tokens, 2)``, the
    position of each token in the claim or in the evidence text, in characters.
    """

    ids: Row
    spans: NDArray[np.float32]
    seen: NDArray[np.bool_]
    evidence: NDArray[np.bool_]
    offsets: NDArray[np.int64]


def proof_row(
    tokenizer: Tokenizer,
    claim: str,
    spans: Sequence[tuple[int, int]],
    evidence: str,
    max_tokens: int,
) -> ProofRow:
    """Return claim, spans (offsets of the claim) and evidence as one row.

    The end of the evidence is cut to ``max_tokens``. An English claim of 500 characters leaves room
    for it. If a claim alone does not fit, as a long one in Chinese, its end is cut and the spans
    there are not seen. The separators of sentences do not count as tokens of the evidence.
    """
    most = max_tokens - _MARKS
    of_claim, of_evidence = (
        (ids[:most], offsets[:most]) for ids, offsets in tokenizer.placed([claim, evidence])
    )
    claim_ids, claim_offsets = of_claim
    room = most - len(claim_ids)
    ids, offsets = of_evidence[0][:room], of_evidence[1][:room]
    row = [tokenizer.begin, *claim_ids, tokenizer.end, *ids, tokenizer.end]
    first = len(claim_ids) + 2
    means = np.zeros((len(spans), len(row)), np.float32)
    for number, (start, end) in enumerate(spans):
        within = [n + 1 for n, (a, b) in enumerate(claim_offsets) if a < end and start < b]
        if within:
            means[number, within] = 1 / len(within)
    shown = np.zeros(len(row), np.bool_)
    shown[first : first + len(ids)] = [token != tokenizer.end for token in ids]
    places = [(0, 0), *claim_offsets, (0, 0), *offsets, (0, 0)]
    return ProofRow(row, means, np.asarray(means.any(axis=1)), shown, np.array(places, np.int64))
