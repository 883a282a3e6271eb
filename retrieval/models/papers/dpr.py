"""DPR: one encoder of questions, one of documents (ESOTERIC report, section 3.3.9).

Karpukhin et al. 2020 ("Dense Passage Retrieval for Open-Domain Question Answering", section 3)
compare both by the inner product of vectors of any length. An index contains unit vectors. So a
document's vector is divided by ``LONGEST``, and more numbers are appended that make it a unit
vector; a question has zeros there, so the inner product does not change. DPR's own program does
the same for an index that computes only distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.models.arrays import unit
from retrieval.models.encoders import EncodableDocument
from retrieval.models.papers.report_models import DPR_CONTEXTS, DPR_QUESTIONS
from retrieval.models.papers.report_networks import VectorNetwork

# No vector may be longer. The last layer of a BERT that is not trained gives vectors of length
# sqrt(768), which is 27.7; those of the published weights were not measured.
LONGEST = 32.0
# How many numbers are appended. The missing length is spread over several, because an index stores
# each number as a byte, and the largest number of a vector sets the step.
_SPREAD = 8
_DOCUMENT_TOKENS, _QUESTION_TOKENS = 256, 64  # of Haystack's retriever, which the report uses


class DprDocumentEncoder:
    """Documents as unit vectors that keep their inner products; sentences have none.

    The report ranks only documents by DPR, so sentences get vectors of zeros. The vectors are
    compared with those of ``DprQuestionEncoder``.
    """

    def __init__(self, models: Path) -> None:
        """Read the lock and ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: one of them is missing or damaged.
        """
        self._network = VectorNetwork(models, DPR_CONTEXTS)
        self.name = self._network.version
        self.query_encoder = DprQuestionEncoder(models).name
        self.dimension: int = self._network.config["hidden_size"] + _SPREAD

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``.

        Title and text are read as a pair, 256 tokens at most.

        Raises:
            ModelUnavailable: a vector is longer than ``LONGEST``.
        """
        texts = [(document.title, document.text) for document in documents]
        scaled = self._network.pooled(texts, _DOCUMENT_TOKENS) / LONGEST
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        if (lengths > 1).any():
            raise ModelUnavailable(
                "vector_too_long",
                f"{self.name} gives a document a vector of length {LONGEST * lengths.max():.1f};"
                f" an index can store the inner products of vectors up to {LONGEST:.0f}.",
                "Set LONGEST in retrieval/models/papers/dpr.py to a larger number, and"
                " encode the index again.",
            )
        missing = np.sqrt(np.maximum(0, 1 - lengths**2) / _SPREAD)
        whole = np.hstack([scaled, np.repeat(missing, _SPREAD, axis=1)]).astype(np.float32)
        nothing = [
            np.zeros((len(document.sentences), self.dimension), dtype=np.float32)
            for document in documents
        ]
        return whole, nothing


class DprQuestionEncoder:
    """Questions as unit vectors, with their original lengths."""

    def __init__(self, models: Path) -> None:
        """Read the lock and ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: one of them is missing or damaged.
        """
        self._network = VectorNetwork(models, DPR_QUESTIONS)
        self.name = self._network.version
        self.dimension: int = self._network.config["hidden_size"] + _SPREAD

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        self._network.warm_up()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 776)``; texts past 64 tokens are cut."""
        return self.measured(texts)[0]

    def measured(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the same vectors and their original lengths, shape ``(len(texts),)``.

        The product of such a vector with a stored one, times its length, times ``LONGEST``, is
        DPR's inner product.
        """
        vectors = self._network.pooled(texts, _QUESTION_TOKENS)
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1)
        return unit(np.pad(vectors, ((0, 0), (0, _SPREAD)))), lengths
