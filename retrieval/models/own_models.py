"""Models of the user, by sentence-transformers: an encoder and a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.models.arrays import unit
from retrieval.models.encoders import EncodableDocument, Query
from retrieval.models.folders import NamedModel

_BATCH = 8  # texts in a batch; in larger ones more padding is computed


class OwnEncoder:
    """Unit vectors of texts, each read alone; the model is loaded when it is first needed."""

    def __init__(self, model: NamedModel, prefix: str) -> None:
        """``prefix`` begins the name of every such encoder; the name contains a digest.

        Raises:
            ModelUnavailable: the model cannot be had.
        """
        self._named = model
        self.name = self.query_encoder = f"{prefix}{model.version()}"

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs, which is not the loaded model."""
        return {name: value for name, value in vars(self).items() if name != "_model"}

    @property
    def dimension(self) -> int:
        """The numbers of a vector; loads the model."""
        return int(self._model.get_embedding_dimension())

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is damaged.
        """
        _ = self._model

    @cached_property
    def _model(self) -> Any:
        return self._named.load("SentenceTransformer")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), dimension)``; the model's window cuts texts."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        vectors = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return unit(np.asarray(vectors, np.float32))

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``; each text is read after its title."""
        whole = self.encode([f"{document.title}. {document.text}" for document in documents])
        apart = self.encode(
            [
                f"{document.title}. {document.text[start:end]}"
                for document in documents
                for start, end in document.sentences
            ]
        )
        ends = list(accumulate(len(document.sentences) for document in documents))
        return whole, np.split(apart, ends[:-1]) if documents else []


class OwnQueryEncoder:
    """Claims with their paths as one text each, in the place of M3's query encoder."""

    def __init__(self, encoder: OwnEncoder) -> None:
        """``encoder`` reads the texts."""
        self._encoder = encoder

    def warm_up(self) -> None:
        """Load the model; raises what ``OwnEncoder.warm_up`` raises."""
        self._encoder.warm_up()

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return unit vectors, in the order of the queries."""
        return self._encoder.encode(
            [
                " ".join([claim, *(f"{title}. {sentence}" for title, sentence in path)])
                for claim, path in queries
            ]
        )


class Reranker:
    """Says how relevant a text is to a claim; the model is loaded when it is first needed."""

    def __init__(self, model: NamedModel) -> None:
        """Store which model it is."""
        self._named = model

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing, damaged, or gives more than one score.
        """
        _ = self._model

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the relevance of (claim, text) pairs, 0 to 1, shape ``(len(pairs),)``.

        It is the logistic function of the model's score. If a pair does not fit the model's window,
        the end of its longer text is cut.
        """
        import torch

        if not pairs:
            return np.zeros(0, np.float32)
        scores: NDArray[np.float32] = self._model.predict(
            list(pairs),
            batch_size=_BATCH,
            show_progress_bar=False,
            activation_fn=torch.nn.Sigmoid(),
        )
        return scores

    @cached_property
    def _model(self) -> Any:
        model = self._named.load("CrossEncoder")
        if model.num_labels != 1:
            raise self._named.unavailable(f"gives {model.num_labels} scores instead of one")
        return model
