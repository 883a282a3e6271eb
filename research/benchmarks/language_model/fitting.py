"""Fits pools of probabilities to labelled claims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from retrieval.llm_judge.local_explainer import Opinions, Pool
from retrieval.types import LABELS

_RIDGE = 1e-3  # keeps the parameters small if there are few claims


def fitted(models: Sequence[Opinions], truth: NDArray[np.intp]) -> Pool:
    """Return the pool with which the labels are the most probable.

    ``truth``: positions of the labels in ``LABELS``.
    """
    rows = np.arange(len(truth))

    def log_loss(parameters: NDArray[np.float64]) -> float:
        logits = _pool(parameters, len(models)).logits(models)
        of_labels = logits[rows, truth]
        loss = (np.logaddexp.reduce(logits, axis=1) - of_labels).mean()
        return float(loss + _RIDGE * (parameters**2).sum())

    start = np.array([1 / len(models)] * len(models) + [0.0] * len(LABELS))
    # No weight is negative: each model is right more often than wrong.
    bounds = [(0, None)] * len(models) + [(None, None)] * len(LABELS)
    found = minimize(log_loss, start, method="L-BFGS-B", bounds=bounds).x
    return _pool(found, len(models))


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


def _pool(parameters: NDArray[np.float64], models: int) -> Pool:
    weights, biases = parameters[:models].tolist(), parameters[models:].tolist()
    return Pool(tuple(weights), tuple(biases))
