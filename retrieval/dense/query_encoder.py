"""M3's query encoder: a claim, and a path of sentences behind it, as one vector (section 3.2).

The paper trains an encoder for queries and one for sentences. Here the sentence
vectors are those that the index holds for every recipe, the means of packaged
MiniLM's token vectors (``retrieval/encoders/minilm_encoder.py``), and the query
encoder alone is trained, to meet them: an index of five million pages need not
be encoded anew for it. As for the sentences, the vector is the mean of the
tokens', where the paper takes the first token's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.inputs import evidence_set_text
from retrieval.trained.trained_model import TrainedModel

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from retrieval.dense.query_network import QueryNetwork

Query: TypeAlias = tuple[str, Sequence[tuple[str, str]]]
"""A claim and the (title, sentence) pairs of a path, first step first; none for the claim alone."""

_BATCH = 32


class QueryEncoder(TrainedModel["QueryNetwork", "PreTrainedTokenizerBase"]):
    """Turns claims with their paths into unit vectors to search the sentence vectors with."""

    dimension = 384

    def _base(self) -> tuple[QueryNetwork, PreTrainedTokenizerBase]:
        from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
        from retrieval.dense.query_network import packaged_query_network

        return packaged_query_network(), FoldedMiniLM().tokenizer()

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(queries), 384)``, in the order of the queries.

        Where claim and path are longer than the model's window, the end of the
        path is left out, and the claim is cut only if it alone is too long.
        """
        return encoded(*self._loaded(), queries, self._config["max_tokens"])


def encoded(
    network: QueryNetwork,
    tokenizer: PreTrainedTokenizerBase,
    queries: Sequence[Query],
    max_tokens: int,
) -> NDArray[np.float32]:
    """Return what a network makes of queries, as ``QueryEncoder.encode`` does."""
    import torch

    from retrieval.dense.query_network import query_inputs

    result = np.zeros((len(queries), QueryEncoder.dimension), dtype=np.float32)
    # Queries of like length are read together, so that little is padded.
    order = sorted(range(len(queries)), key=lambda i: query_length(queries[i]))
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        inputs = query_inputs(tokenizer, [queries[i] for i in part], max_tokens)
        with torch.inference_mode():
            result[part] = network(**inputs).numpy()
    return result


def query_length(query: Query) -> int:
    """Return how many characters a query has."""
    claim, path = query
    return len(claim) + len(evidence_set_text(path))
