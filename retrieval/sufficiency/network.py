"""The network of a proof: what the evidence says of each span of a claim, and where.

AdMIRaL (section 3.2) writes its proofs token by token with a sequence-to-sequence
model. Here the claim is cut beforehand (``claim_cutter``) and one pass over claim
and evidence tells all spans at once: two pointers say which words of the evidence
a span is rewritten into, and the operator is told from the span and those words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import DistilBertModel, PreTrainedTokenizerBase

from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
from retrieval.token_batches import width_for
from retrieval.types import LABELS, OPERATORS


@dataclass(frozen=True, slots=True)
class ProofInputs:
    """Claims, each with its spans, beside evidence; padded to a common length.

    ``input_ids`` and ``attention_mask``: ``(batch, tokens)``. ``spans``:
    ``(batch, spans, tokens)``, each row the mean over that span's tokens.
    ``span_mask``: ``(batch, spans)``; false, with a row of zeros, for padding and
    for a span without tokens. ``evidence``: ``(batch, tokens)``, true for the
    evidence's tokens. ``offsets``: ``(batch, tokens, 2)``, where each token lies in
    the claim or in the evidence text, in characters.
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

    ``starts`` and ``ends``: ``(batch, spans, tokens)``, minus infinity outside the
    evidence; so whole rows are where an example has no evidence.
    """

    operators: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor


class ProofNetwork(nn.Module):
    """Points from each claim span into the evidence and names the operator."""

    def __init__(self, distilbert: DistilBertModel) -> None:
        """Put fresh heads on ``distilbert``."""
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
        # The operator is told from the words pointed at, so that it can be read off them.
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
    """Return the packaged weights under fresh heads, always the same.

    Raises:
        ModelUnavailable: the packaged weights are missing or damaged.
    """
    distilbert = FoldedMiniLM().model(LABELS).distilbert
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ProofNetwork(distilbert)


def read(
    tokenizer: PreTrainedTokenizerBase,
    claims: Sequence[str],
    spans: Sequence[Sequence[tuple[int, int]]],
    evidence: Sequence[str],
    max_tokens: int,
) -> ProofInputs:
    """Return claims, their spans and evidence texts as the network reads them.

    Evidence beyond ``max_tokens`` is cut at its end. An English claim of 500
    characters leaves room for it; of a claim that does not fit at all, such as one
    in Chinese, the end is cut and the spans there are masked. The marks between
    sentences are none of the evidence's tokens.
    """
    marks = tokenizer.cls_token_id, tokenizer.sep_token_id
    rows = []
    told = _tokens(tokenizer, claims, max_tokens - 3)
    shown = _tokens(tokenizer, evidence, max_tokens - 3)
    for (claim_ids, claim_offsets), (ids, offsets) in zip(told, shown, strict=True):
        room = max_tokens - 3 - len(claim_ids)
        rows.append((claim_ids, claim_offsets, ids[:room], offsets[:room]))
    tokens = width_for(max((len(row[0]) + len(row[2]) + 3 for row in rows), default=0))
    most = max((len(each) for each in spans), default=0)
    inputs = ProofInputs(
        input_ids=torch.full((len(rows), tokens), int(tokenizer.pad_token_id)),
        attention_mask=torch.zeros((len(rows), tokens), dtype=torch.long),
        spans=torch.zeros((len(rows), most, tokens)),
        span_mask=torch.zeros((len(rows), most), dtype=torch.bool),
        evidence=torch.zeros((len(rows), tokens), dtype=torch.bool),
        offsets=torch.zeros((len(rows), tokens, 2), dtype=torch.long),
    )
    for i, (claim_ids, claim_offsets, ids, offsets) in enumerate(rows):
        joined = [marks[0], *claim_ids, marks[1], *ids, marks[1]]
        inputs.input_ids[i, : len(joined)] = torch.tensor(joined)
        inputs.attention_mask[i, : len(joined)] = 1
        first = len(claim_ids) + 2
        places = [(0, 0), *claim_offsets, (0, 0), *offsets, (0, 0)]
        inputs.offsets[i, : len(places)] = torch.tensor(places)
        inputs.evidence[i, first : first + len(ids)] = torch.tensor(ids) != marks[1]
        for number, (start, end) in enumerate(spans[i]):
            within = [n + 1 for n, (a, b) in enumerate(claim_offsets) if a < end and start < b]
            if within:
                inputs.spans[i, number, within] = 1 / len(within)
                inputs.span_mask[i, number] = True
    return inputs


def _pointed(spans: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return how much each span points to each token, scaled as attention is."""
    return torch.bmm(spans, vectors.transpose(1, 2)).float() / math.sqrt(vectors.shape[-1])


def _tokens(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], most: int
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Return each text's token ids and their offsets, without the marks around it."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        truncation=True,
        max_length=most,
        return_offsets_mapping=True,
        return_token_type_ids=False,
        return_attention_mask=False,
    )
    return list(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True))
