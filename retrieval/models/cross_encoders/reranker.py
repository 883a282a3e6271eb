"""A reranker of the user: a cross-encoder of sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.models.named_model import NamedModel

_BATCH = 8  # pairs in a batch; in larger ones more padding is computed


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
