"""How often labels are right, and whether one system is right more often than another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from research.evaluation.measures.calibration import calibration_error
from retrieval.types import LABELS, NOT_ENOUGH_INFO

RESAMPLES = 10_000
SEED = 0
_UNDECIDED = LABELS.index(NOT_ENOUGH_INFO)


@dataclass(frozen=True, slots=True)
class Figures:
    """Accuracies in %. ``error``: the expected calibration error, 0 to 1.

    ``decided``: of decided claims, without regard to the probability of NOT ENOUGH INFO.
    ``predicted``: how many claims were given each of ``LABELS``.
    """

    accuracy: float
    decided: float
    error: float
    predicted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Of two accuracies in points, with a 95 % interval and McNemar's exact p value.

    ``better`` and ``worse``: claims that only the first, or only the second, labels right.
    """

    points: float
    low: float
    high: float
    better: int
    worse: int
    p_value: float


def right(opinions: NDArray[np.float64], truth: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which claims have their label as the most probable of three."""
    result: NDArray[np.bool_] = opinions.argmax(axis=1) == truth
    return result


def figures(opinions: NDArray[np.float64], truth: NDArray[np.intp]) -> Figures:
    """Return the figures of probabilities of ``LABELS``, shape (claims, 3)."""
    decided = truth != _UNDECIDED
    stance = opinions[decided, :_UNDECIDED].argmax(axis=1) == truth[decided]
    correct = right(opinions, truth)
    predicted = np.bincount(opinions.argmax(axis=1), minlength=len(LABELS))
    return Figures(
        accuracy=100 * float(correct.mean()),
        decided=100 * float(stance.mean()),
        error=calibration_error(opinions.max(axis=1), correct),
        predicted=tuple(predicted.tolist()),
    )


def difference(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Difference:
    """Return how much more often the first is right about the same claims.

    The interval is a percentile bootstrap over claims, from a fixed seed.
    """
    paired = first.astype(np.float64) - second
    random = np.random.default_rng(SEED)
    drawn = paired[random.integers(0, len(paired), (RESAMPLES, len(paired)))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    better, worse = int((paired > 0).sum()), int((paired < 0).sum())
    p_value = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return Difference(
        points=100 * float(paired.mean()),
        low=100 * float(low),
        high=100 * float(high),
        better=better,
        worse=worse,
        p_value=float(p_value),
    )
