"""M3's query encoder: a claim, and a path of sentences after it, as one vector (section 3.2).

The paper trains an encoder for queries and one for sentences. Here only the query encoder is
trained. The sentence vectors are those of the index that all recipes use, the means of packaged
MiniLM's token vectors (``retrieval/models/encoders/minilm_encoder.py``), so an index of five
million pages need not be encoded again. A query's vector is also the mean of its tokens', while
the paper takes the first token's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.models.networks.arrays import unit
from retrieval.models.networks.minilm import MiniLM
from retrieval.models.networks.tokenizer import Row, Tokenizer
from retrieval.models.trained_model import TrainedModel
from retrieval.text.model_texts import evidence_set_text

Query: TypeAlias = tuple[str, Sequence[tuple[str, str]]]
"""A claim and the (title, sentence) pairs of a path, first step first; none for the claim alone."""

_BATCH = 8  # queries in a batch; in larger ones more padding is computed


class PathEncoder(Protocol):
    """Turns claims with their paths into unit vectors to search the sentence vectors with."""

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        ...

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return unit vectors, one for each query, in their order."""
        ...


class QueryEncoder(TrainedModel):
    """M3's encoder; see ``PathEncoder``."""

    dimension = 384

    def __init__(self, folder: Path) -> None:
        """Read ``folder``; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        super().__init__(folder, MiniLM())

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(queries), 384)``, in the order of the queries.

        If claim and path are longer than the model's window, the end of the path is left out. The
        claim is cut only if it alone is too long.
        """
        result = np.zeros((len(queries), self.dimension), dtype=np.float32)
        rows = query_rows(self._tokenizer, queries, self._config["max_tokens"])
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            result[part] = unit(self._network.states([rows[row] for row in part]).mean)
        return result


def query_rows(tokenizer: Tokenizer, queries: Sequence[Query], max_tokens: int) -> list[Row]:
    """Return the token ids of claims with paths.

    A claim, a separator, and the sentences of its path with their titles, first step first; cut
    after ``max_tokens``.
    """
    claims = tokenizer.texts([claim for claim, _ in queries])
    paths = tokenizer.placed([evidence_set_text(path) for _, path in queries])
    rows = []
    for claim, (path, _) in zip(claims, paths, strict=True):
        kept = path[: max(0, max_tokens - len(claim) - 1)]
        rows.append([*claim, *kept, tokenizer.end] if kept else claim)
    return rows
