"""Fits the calibration for given evidence: a temperature and a bias of NOT ENOUGH INFO."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

TEMPERATURES = tuple(0.5 + 0.05 * step for step in range(91))
BIASES = tuple(-2 + 0.05 * step for step in range(81))
_LEAST = 1e-30  # so small that a label which a model lacks stays impossible at any temperature


def fitted_scaling(
    opinions: NDArray[np.float32], labels: Sequence[Label]
) -> tuple[float, tuple[float, ...]]:
    """Return the temperature, and the bias of each of ``LABELS``, that make the labels most likely.

    Only NOT ENOUGH INFO gets a bias (vector scaling with one scale, Guo et al. 2017, 4.2).
    ``opinions``: probabilities of ``LABELS``, shape (pairs, 3).
    """
    logits = np.log(np.maximum(opinions.astype(np.float64), _LEAST))
    truth = np.array([LABELS.index(label) for label in labels])
    undecided = np.array([label == NOT_ENOUGH_INFO for label in LABELS], dtype=np.float64)

    def log_loss(candidate: tuple[float, float]) -> float:
        temperature, bias = candidate
        scaled = logits / temperature + bias * undecided
        of_labels = scaled[np.arange(len(truth)), truth]
        return float((np.logaddexp.reduce(scaled, axis=1) - of_labels).mean())

    temperature, bias = min(((t, b) for t in TEMPERATURES for b in BIASES), key=log_loss)
    biases = tuple(round(bias, 2) if label == NOT_ENOUGH_INFO else 0.0 for label in LABELS)
    return round(temperature, 2), biases
