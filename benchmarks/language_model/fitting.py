"""Probabilities made comparable, and those of two models made one, by a fit to labelled claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from retrieval.types import LABELS

_LEAST = 1e-6  # probability
_RIDGE = 1e-3  # holds the parameters where few claims are fitted to

Opinions = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pool:
    """A weight of the log probabilities of each model, and a bias of each of ``LABELS``.

    With one model this is vector scaling with one scale (Guo et al. 2017, 4.2), with several a
    logarithmic opinion pool (Heskes 1998) with biases.
    """

    weights: tuple[float, ...]
    biases: tuple[float, ...]

    def of(self, models: Sequence[Opinions]) -> Opinions:
        """Return the probabilities; each model's have the shape (claims, 3)."""
        odds = np.exp(_log_odds(np.array([*self.weights, *self.biases]), models))
        result: Opinions = odds / odds.sum(axis=1, keepdims=True)
        return result


def fitted(models: Sequence[Opinions], truth: NDArray[np.intp]) -> Pool:
    """Return the pool with which the labels are the most probable.

    ``truth``: positions of the labels in ``LABELS``.
    """
    rows = np.arange(len(truth))

    def surprise(parameters: NDArray[np.float64]) -> float:
        logits = _log_odds(parameters, models)
        of_labels = logits[rows, truth]
        loss = (np.logaddexp.reduce(logits, axis=1) - of_labels).mean()
        return float(loss + _RIDGE * (parameters**2).sum())

    start = np.array([1 / len(models)] * len(models) + [0.0] * len(LABELS))
    # A model that is right more often than not is never turned round.
    bounds = [(0, None)] * len(models) + [(None, None)] * len(LABELS)
    found = minimize(surprise, start, method="L-BFGS-B", bounds=bounds).x.tolist()
    return Pool(tuple(found[: len(models)]), tuple(found[len(models) :]))


def crossed(
    models: Sequence[Opinions], truth: NDArray[np.intp], first: NDArray[np.bool_]
) -> Opinions:
    """Return the pooled probabilities of each half of the claims by a fit to the other half.

    ``first``: which claims are in the first half.
    """
    result = np.empty_like(models[0])
    for half in (first, ~first):
        fit = fitted([opinions[~half] for opinions in models], truth[~half])
        result[half] = fit.of([opinions[half] for opinions in models])
    return result


def _log_odds(parameters: NDArray[np.float64], models: Sequence[Opinions]) -> Opinions:
    logs = [np.log(np.maximum(opinions, _LEAST)) for opinions in models]
    weighted = zip(parameters[: len(models)], logs, strict=True)
    result: Opinions = sum(weight * log for weight, log in weighted) + parameters[len(models) :]
    return result
