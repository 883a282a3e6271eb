"""all-mpnet-base-v2, by which the ESOTERIC report compares sentences (section 3.3.11)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.models.networks.arrays import unit
from retrieval.models.report.models import SIMILARITY
from retrieval.models.report.networks import VectorNetwork

_TOKENS = 384  # that are read at once, the special ones too (``sentence_bert_config.json``)


class MPNetEncoder:
    """Unit vectors of claims, sentences and titles, from the means of their tokens' states."""

    name = SIMILARITY.name

    def __init__(self, models: Path) -> None:
        """Read the model's ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: the file is missing or damaged.
        """
        self._network = VectorNetwork(models, SIMILARITY, add_pooling_layer=False)
        self.dimension: int = self._network.config["hidden_size"]

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        self._network.warm_up()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 768)``; texts past 384 tokens are cut."""
        return unit(self._network.means(texts, _TOKENS))
