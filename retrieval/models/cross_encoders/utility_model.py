"""The model that predicts which candidates are useful for a verifier (FER, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.models.cross_encoders.joint_reading import USEFUL, joint_row, log_odds
from retrieval.models.delta import read_difference, trained_body
from retrieval.models.networks.arrays import Array, linear, softmax
from retrieval.models.networks.minilm import MiniLM
from retrieval.models.trained_model import TrainedModel, read_config
from retrieval.system.fixes import restore_model


class UtilityModel(TrainedModel):
    """The weights of the relevance model with the difference of FER's training."""

    def __init__(self, folder: Path, relevance_model: Path) -> None:
        """Read ``folder``, which contains the difference; no weights are loaded yet.

        ``relevance_model`` is the folder of the relevance model that training began with.

        Raises:
            ModelUnavailable: a ``config.json`` is missing or damaged, or the
                difference belongs to another relevance model.
        """
        super().__init__(folder, MiniLM())
        self._relevance_model = relevance_model
        self._of_relevance_model = read_config(relevance_model)["sha256"]
        if self._config["relevance_model"] != self._of_relevance_model:
            raise ModelUnavailable(
                "model_damaged",
                f"The model in {folder} belongs to another relevance model than {relevance_model}.",
                restore_model(folder),
            )

    @property
    def _key(self) -> str:
        return sha256(f"{self._of_relevance_model} {self._config['sha256']}".encode()).hexdigest()

    def _base_weights(self) -> Mapping[str, Array]:
        difference = read_difference(self._relevance_model, self._of_relevance_model)
        return trained_body(super()._base_weights(), difference, self._relevance_model)

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.float32]:
        """Return the probability of each (title, sentence) that it is useful evidence.

        They are read together, in one pass; ``relevance`` is the relevance of each. Shape
        ``(len(sentences),)``.
        """
        row = joint_row(self._tokenizer, claim, sentences, self._config["max_tokens"])
        states = self._network.states([row.ids]).vectors[0, : len(row.ids)]
        lengths = np.diff([*row.heads, len(row.ids)])
        means = np.add.reduceat(states, row.heads) / lengths[:, None]
        hidden = np.maximum(linear(means, self._heads, "pre_classifier"), 0)
        logits = linear(hidden, self._heads, "classifier")
        logits[:, USEFUL] += log_odds(relevance)
        useful: NDArray[np.float32] = softmax(logits)[:, USEFUL]
        return useful
