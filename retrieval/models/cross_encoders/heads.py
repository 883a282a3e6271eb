"""The heads that turn the states of a network's body into labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from retrieval.models.networks.arrays import Array, linear
from retrieval.models.networks.interface import States


@dataclass(frozen=True, slots=True)
class Head:
    """``logits`` returns those of each row, ``(rows, labels)``, from states and the head's weights.

    ``first_only``: whether it reads only the state of the first token.
    """

    first_only: bool
    logits: Callable[[States, Mapping[str, Array]], Array]


def _of_first(states: States, weights: Mapping[str, Array]) -> Array:
    hidden = np.maximum(linear(states.first, weights, "pre_classifier"), 0)
    return linear(hidden, weights, "classifier")


def _of_first_and_mean(states: States, weights: Mapping[str, Array]) -> Array:
    pooled = np.concatenate([states.first, states.mean], axis=-1)
    return linear(np.tanh(linear(pooled, weights, "pre_classifier")), weights, "classifier")


OF_FIRST = Head(first_only=True, logits=_of_first)
"""The head of the small models, that of DistilBERT's classifiers."""
OF_FIRST_AND_MEAN = Head(first_only=False, logits=_of_first_and_mean)
"""The verifier's."""
