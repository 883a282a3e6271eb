"""A model that reads a claim with evidence: packaged base weights and a trained difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.models.cross_encoders.heads import Head
from retrieval.models.cross_encoders.scaling import Scaling, VerdictFit
from retrieval.models.networks.base import PackagedBody
from retrieval.models.trained_model import TrainedModel
from retrieval.models.weights import damaged
from retrieval.types import LABELS

_BATCH = 8  # pairs in a batch; in larger ones more padding is computed


class CrossEncoder(TrainedModel):
    """Scores (claim, evidence) pairs over ``LABELS``, the outputs of every model of ours."""

    def __init__(
        self, folder: Path, base: PackagedBody, head: Head, in_search: bool = False
    ) -> None:
        """Read ``folder``, whose model was trained from ``base``; no weights are loaded yet.

        ``head`` turns states into labels. ``in_search``: use the calibration ``in_search`` of the
        configuration if it has one.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged, or names other labels.
        """
        super().__init__(folder, base)
        if self._config["labels"] != list(LABELS):
            raise damaged(
                f"The labels of the model in {folder} are not {', '.join(LABELS)}, in this order.",
                "Restore its config.json, or train it again.",
            )
        self.first_only = head.first_only
        self._head = head
        self._scaling = Scaling.of(self._config, in_search)

    @property
    def verdict_fit(self) -> VerdictFit:
        """How its readings of a claim make a verdict."""
        return self._scaling.verdict

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated class probabilities of (claim, evidence) pairs (``Scaling``).

        Shape ``(len(pairs), len(LABELS))``, in the order of the pairs. If a pair does not fit the
        model's window, the end of its longer text is cut. Pairs are batched by length, to reduce
        padding.
        """
        result = np.zeros((len(pairs), len(LABELS)), dtype=np.float32)
        rows = self._tokenizer.pairs(pairs)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            states = self._network.states([rows[row] for row in part])
            logits = self._head.logits(states, self._heads)
            result[part] = self._scaling.probabilities(logits)
        return result

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the whole pair fits the model's window."""
        return self._tokenizer.length(claim, evidence) <= int(self._config["max_tokens"])
