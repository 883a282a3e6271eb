"""Whether a confidence means what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers of similar confidence: how sure they were, how often they were right."""

    low: float
    high: float
    answers: int
    confidence: float
    accuracy: float


def reliability(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Bin]:
    """Return the reliability curve: ten bins of equal width, without the empty ones.

    Guo et al. (2017), "On Calibration of Modern Neural Networks", section 2.
    """
    numbers = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return [
        Bin(
            number / BINS,
            (number + 1) / BINS,
            int(chosen.sum()),
            float(confidence[chosen].mean()),
            float(right[chosen].mean()),
        )
        for number in range(BINS)
        if (chosen := numbers == number).any()
    ]


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over those bins, 0..1 (their equation 3)."""
    return sum(
        abs(part.confidence - part.accuracy) * part.answers / len(confidence)
        for part in reliability(confidence, right)
    )


def accuracy_of_the_surest(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], share: float
) -> float:
    """Return the accuracy when only the surest ``share`` of the answers counts, 0..1.

    Of equally sure answers the earlier claims' are kept.
    """
    kept = np.argsort(-confidence, kind="stable")[: max(1, round(share * len(confidence)))]
    return float(right[kept].mean())
