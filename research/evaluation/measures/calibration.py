"""Whether confidence equals accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence: their mean confidence and their accuracy."""

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


def accuracy_of_most_confident(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], share: float
) -> float:
    """Return the accuracy of the most confident ``share`` of the answers, 0..1.

    Of answers with equal confidence, earlier claims count first.
    """
    kept = np.argsort(-confidence, kind="stable")[: max(1, round(share * len(confidence)))]
    return float(right[kept].mean())
