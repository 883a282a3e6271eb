"""Combines the probabilities of several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.recipes.config import LANGUAGE_MODEL

_LEAST = 1e-6  # probability

Opinions: TypeAlias = NDArray[np.float64]
"""Probabilities of ``LABELS``, shape (claims, 3)."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A weight for the log probabilities of each model, and a bias for each of ``LABELS``.

    With one model this is vector scaling with one scale (Guo et al. 2017, 4.2), with several a
    logarithmic opinion pool (Heskes 1998) with biases.
    """

    weights: tuple[float, ...]
    biases: tuple[float, ...]

    def of(self, models: Sequence[Opinions]) -> Opinions:
        """Return the combined probabilities, shape (claims, 3), as those of each model."""
        logits = self.logits(models)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Opinions = odds / odds.sum(axis=1, keepdims=True)
        return result

    def logits(self, models: Sequence[Opinions]) -> Opinions:
        """Return the log probabilities, each row up to a constant."""
        logs = [np.log(np.maximum(opinions, _LEAST)) for opinions in models]
        weighted = zip(self.weights, logs, strict=True)
        result: Opinions = sum(weight * log for weight, log in weighted) + np.array(self.biases)
        return result


ALONE = Pool(LANGUAGE_MODEL.alone_weights, LANGUAGE_MODEL.alone_biases)
TOGETHER = Pool(LANGUAGE_MODEL.together_weights, LANGUAGE_MODEL.together_biases)
