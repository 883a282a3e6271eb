"""The network of the query encoder, and its input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import normalize
from transformers import DistilBertModel

from research.training.networks.minilm import packaged_body, padded
from retrieval.models.encoders import Query, QueryEncoder, query_rows
from retrieval.models.networks import Row, Tokenizer
from retrieval.models.packaged import MiniLM

_BATCH = 32  # queries that are read together while the network is evaluated


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
    """Return the packaged weights, which encode a claim alone like the index's encoder.

    Raises:
        ModelUnavailable: they are missing or damaged.
    """
    return QueryNetwork(packaged_body())


def query_inputs(
    tokenizer: Tokenizer, queries: Sequence[Query], max_tokens: int
) -> dict[str, torch.Tensor]:
    """Return ``input_ids`` and ``attention_mask``, ``(queries, tokens)``, of claims with paths."""
    return _inputs(query_rows(tokenizer, queries, max_tokens))


def encoded(
    network: QueryNetwork, tokenizer: Tokenizer, queries: Sequence[Query], max_tokens: int
) -> NDArray[np.float32]:
    """Return a network's vectors of queries, like ``QueryEncoder.encode``."""
    result = np.zeros((len(queries), QueryEncoder.dimension), dtype=np.float32)
    rows = query_rows(tokenizer, queries, max_tokens)
    # Queries of similar length are read together, to reduce padding.
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        with torch.inference_mode():
            result[part] = network(**_inputs([rows[row] for row in part])).numpy()
    return result


def _inputs(rows: Sequence[Row]) -> dict[str, torch.Tensor]:
    ids, mask = padded([torch.tensor(row) for row in rows], MiniLM.padding)
    return {"input_ids": ids, "attention_mask": mask}
