"""The network of the prover, and its input; see ``retrieval.models.prover``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import DistilBertModel

from research.training.networks.minilm import packaged_body, width_for
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.prover import proof_row
from retrieval.types import OPERATORS


@dataclass(frozen=True, slots=True)
class ProofInputs:
    """Claims with their spans and evidence; padded to a common length.

    ``input_ids`` and ``attention_mask``: ``(batch, tokens)``. ``spans``:
    ``(batch, spans, tokens)``, each row the mean over that span's tokens.
    ``span_mask``: ``(batch, spans)``; false, with a row of zeros, for padding and for a span
    without tokens. ``evidence``: ``(batch, tokens)``, true for the evidence's tokens. ``offsets``:
    ``(batch, tokens, 2)``, the position of each token in the claim or in the evidence text, in
    characters.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    spans: torch.Tensor
    span_mask: torch.Tensor
    evidence: torch.Tensor
    offsets: torch.Tensor


@dataclass(frozen=True, slots=True)
class ProofLogits:
    """``operators``: ``(batch, spans, 4)`` in the order of ``OPERATORS``.

    ``starts`` and ``ends``: ``(batch, spans, tokens)``, minus infinity outside the evidence; whole
    rows are minus infinity if an example has no evidence.
    """

    operators: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor


class ProofNetwork(nn.Module):
    """Points from each claim span into the evidence and names the operator."""

    def __init__(self, distilbert: DistilBertModel) -> None:
        """Add new heads to ``distilbert``."""
        super().__init__()
        self.distilbert = distilbert
        width = distilbert.config.dim
        self.start = nn.Linear(width, width)
        self.end = nn.Linear(width, width)
        self.compared = nn.Linear(4 * width, width)
        self.operator = nn.Linear(width, len(OPERATORS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, inputs: ProofInputs) -> ProofLogits:
        """Return the logits of every span, those of padding included."""
        vectors = self.distilbert(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask
        ).last_hidden_state.to(self.start.weight.dtype)
        spans = torch.bmm(inputs.spans.to(vectors.dtype), vectors)
        outside = ~inputs.evidence[:, None, :]
        starts = _pointed(self.start(spans), vectors)
        ends = _pointed(self.end(spans), vectors)
        # The operator is predicted from the words that the pointers select.
        scores = ((starts + ends) / 2).masked_fill(outside, torch.finfo(starts.dtype).min)
        weights = torch.softmax(scores, dim=-1) * inputs.evidence[:, None, :]
        words = torch.bmm(weights.to(vectors.dtype), vectors)
        both = torch.cat([spans, words, spans * words, spans - words], dim=-1)
        hidden = nn.functional.gelu(self.compared(self.dropout(both)))
        return ProofLogits(
            self.operator(self.dropout(hidden)).float(),
            starts.masked_fill(outside, -math.inf),
            ends.masked_fill(outside, -math.inf),
        )


def packaged_proof_network() -> ProofNetwork:
    """Return the packaged weights with new heads, from a fixed seed.

    Raises:
        ModelUnavailable: the packaged weights are missing or damaged.
    """
    distilbert = packaged_body()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ProofNetwork(distilbert)


def proof_inputs(
    tokenizer: Tokenizer,
    claims: Sequence[str],
    spans: Sequence[Sequence[tuple[int, int]]],
    evidence: Sequence[str],
    max_tokens: int,
) -> ProofInputs:
    """Return claims, their spans and evidence texts as a batch of ``proof_row``."""
    rows = [
        proof_row(tokenizer, *example, max_tokens)
        for example in zip(claims, spans, evidence, strict=True)
    ]
    tokens = width_for(max((len(row.ids) for row in rows), default=0))
    most = max((len(row.seen) for row in rows), default=0)
    inputs = ProofInputs(
        input_ids=torch.full((len(rows), tokens), MiniLM.padding),
        attention_mask=torch.zeros((len(rows), tokens), dtype=torch.long),
        spans=torch.zeros((len(rows), most, tokens)),
        span_mask=torch.zeros((len(rows), most), dtype=torch.bool),
        evidence=torch.zeros((len(rows), tokens), dtype=torch.bool),
        offsets=torch.zeros((len(rows), tokens, 2), dtype=torch.long),
    )
    for number, row in enumerate(rows):
        asked, read = row.spans.shape
        inputs.input_ids[number, :read] = torch.tensor(row.ids)
        inputs.attention_mask[number, :read] = 1
        inputs.spans[number, :asked, :read] = torch.from_numpy(row.spans)
        inputs.span_mask[number, :asked] = torch.from_numpy(row.seen)
        inputs.evidence[number, :read] = torch.from_numpy(row.evidence)
        inputs.offsets[number, :read] = torch.from_numpy(row.offsets)
    return inputs


def _pointed(spans: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return the pointer score of each span for each token, scaled as in attention."""
    return torch.bmm(spans, vectors.transpose(1, 2)).float() / math.sqrt(vectors.shape[-1])
