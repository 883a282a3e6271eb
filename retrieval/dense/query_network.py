"""The network of the query encoder, and what it reads."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn.functional import normalize
from transformers import DistilBertModel, PreTrainedTokenizerBase

from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
from retrieval.cross_encoders.inputs import evidence_set_text
from retrieval.token_batches import padded
from retrieval.types import LABELS


class QueryNetwork(nn.Module):
    """A DistilBERT whose token vectors are averaged."""

    def __init__(self, distilbert: DistilBertModel) -> None:
        """Encode with ``distilbert``."""
        super().__init__()
        self.distilbert = distilbert

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return unit vectors in float32, ``(queries, 384)``, for ids of ``(queries, tokens)``."""
        tokens = self.distilbert(input_ids=input_ids, attention_mask=attention_mask)[0].float()
        mask = attention_mask[..., None].float()
        return normalize((tokens * mask).sum(1) / mask.sum(1), dim=-1)


def packaged_query_network() -> QueryNetwork:
    """Return the packaged weights, which encode a claim alone as the index's encoder does.

    Raises:
        ModelUnavailable: they are missing or damaged.
    """
    return QueryNetwork(FoldedMiniLM().model(LABELS).distilbert)


def query_inputs(
    tokenizer: PreTrainedTokenizerBase,
    queries: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    max_tokens: int,
) -> dict[str, torch.Tensor]:
    """Return ``input_ids`` and ``attention_mask``, ``(queries, tokens)``, of claims with paths.

    A claim, a separator, and the sentences of its path with their titles, first
    step first; what is past ``max_tokens`` is left out.
    """
    claims = tokenizer([claim for claim, _ in queries], truncation=True, max_length=max_tokens)
    paths = tokenizer(
        [evidence_set_text(path) for _, path in queries],
        truncation=True,
        max_length=max_tokens,
        add_special_tokens=False,
    )
    rows = []
    for claim, path in zip(claims["input_ids"], paths["input_ids"], strict=True):
        kept = path[: max(0, max_tokens - len(claim) - 1)]
        end = [tokenizer.sep_token_id] if kept else []
        rows.append(torch.tensor([*claim, *kept, *end]))
    ids, mask = padded(rows, 0)
    return {"input_ids": ids, "attention_mask": mask}
