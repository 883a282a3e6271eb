"""A model that reads a claim beside evidence: packaged base weights and a trained difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.heads import Head
from retrieval.cross_encoders.inputs import SEPARATOR
from retrieval.networks.base import Base
from retrieval.networks.weights import softmax
from retrieval.trained.trained_model import TrainedModel

_BATCH = 8  # pairs that are read together; of more the longest pads too many


class CrossEncoder(TrainedModel):
    """Scores (claim, evidence) pairs over the labels in the model's ``config.json``."""

    def __init__(self, folder: Path, base: Base, head: Head, in_search: bool = False) -> None:
        """Read ``folder``, whose model was trained from ``base``; no weights are loaded yet.

        ``head`` turns states into labels. ``in_search``: use the configuration's calibration
        ``in_search``, where it has one.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        super().__init__(folder, base)
        self.first_only = head.first_only
        self._head = head
        config = self._config
        self._calibration = config.get("in_search", config) if in_search else config

    @property
    def verdict_scale(self) -> float:
        """The power that the calibration raises a verdict's probabilities to."""
        return float(self._calibration.get("verdict_scale", 1.0))

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated class probabilities of (claim, evidence) pairs.

        Logits are divided by the calibration's ``temperature``, and its ``bias``, one number for
        each label, is added (vector scaling with one scale, Guo et al. 2017, 4.2). Where the
        evidence is several sentences, ``bias_of_several`` is added too.

        Shape ``(len(pairs), labels)``, in the order of the pairs. Of what does not fit
        the model's window the longer one is cut at its end. Pairs are batched by length, so
        that little is padded.
        """
        labels = self._config["labels"]
        bias = np.array(self._calibration.get("bias", [0.0] * len(labels)), np.float32)
        of_several = np.array(
            self._calibration.get("bias_of_several", [0.0] * len(labels)), np.float32
        )
        result = np.zeros((len(pairs), len(labels)), dtype=np.float32)
        rows = self._tokenizer.pairs(pairs)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            states = self._network.states([rows[row] for row in part])
            logits = self._head.logits(states, self._heads)
            several = np.array([[SEPARATOR in pairs[row][1]] for row in part], np.float32)
            scaled = logits / np.float32(self._calibration["temperature"]) + bias
            result[part] = softmax(scaled + several * of_several)
        return result

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the pair is read whole."""
        return self._tokenizer.length(claim, evidence) <= int(self._config["max_tokens"])
