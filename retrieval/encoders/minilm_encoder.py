"""all-MiniLM-L6-v2, the default encoder of questions, claims, sentences and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.minilm_weights import minilm_folder


class MiniLMEncoder:
    """Sentence-transformers' 384-dimensional MiniLM, on the CPU.

    It computes in ``fastest_precision``; the vectors come back as float32.
    """

    name = "all-MiniLM-L6-v2"
    dimension = 384

    def __init__(self, batch_size: int = 32) -> None:
        """Remember the batch size; nothing is loaded yet."""
        self._batch_size = batch_size
        self._model: Any = None

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        if self._model is None:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            from retrieval.precision import fastest_precision

            logging.disable_progress_bar()  # type: ignore[no-untyped-call]
            self._model = SentenceTransformer(
                str(minilm_folder()),
                device="cpu",
                local_files_only=True,
                model_kwargs={"dtype": fastest_precision()},
            )

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 384)``; texts past 256 tokens are cut."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        self.warm_up()
        vectors: NDArray[np.float32] = (
            self._model.encode(
                list(texts),
                batch_size=self._batch_size,
                convert_to_tensor=True,
                show_progress_bar=False,
            )
            .float()
            .numpy()
        )
        # Normalised here and not in bfloat16, where a unit vector is one to 0.4% only.
        norms: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / norms
