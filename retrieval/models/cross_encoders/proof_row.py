"""The prover's input: a claim, cut into spans, with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.models.networks.tokenizer import Row, Tokenizer

_MARKS = 3  # around claim and evidence


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
