"""What is compared: each model alone, and both together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.language_model.claims import Given
from benchmarks.language_model.figures import right
from benchmarks.language_model.fitting import Opinions, crossed, fitted
from retrieval.types import LABELS

HALVINGS = 100
SEED = 0

RAW = "language model, raw"
CALIBRATED = "language model, calibrated on train"
VERIFIER = "verifier"
RESCALED = "verifier, rescaled on the other half of dev"
TOGETHER_TRAIN = "both, fitted to train"
TOGETHER = "both, fitted to the other half of dev"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Claims by the positions of their labels, and the probabilities that each model gives."""

    truth: NDArray[np.intp]
    language_model: Opinions
    verifier: Opinions

    @property
    def both(self) -> tuple[Opinions, Opinions]:
        """The models whose opinions are pooled."""
        return self.verifier, self.language_model


def truth_of(claims: Sequence[Given]) -> NDArray[np.intp]:
    """Return the positions of the claims' labels in ``LABELS``."""
    return np.array([LABELS.index(given.label) for given in claims], dtype=np.intp)


def systems(train: Labelled, dev: Labelled) -> dict[str, Opinions]:
    """Return what each system says of the dev claims."""
    # The claims lie by label and kind in their file, so each half has as many of all.
    even = np.arange(len(dev.truth)) % 2 == 0
    return {
        RAW: dev.language_model,
        CALIBRATED: fitted([train.language_model], train.truth).of([dev.language_model]),
        VERIFIER: dev.verifier,
        RESCALED: crossed([dev.verifier], dev.truth, even),
        TOGETHER_TRAIN: fitted(train.both, train.truth).of(dev.both),
        TOGETHER: crossed(dev.both, dev.truth, even),
    }


def halved(dev: Labelled) -> tuple[float, float]:
    """Return mean label accuracies, %, over random halvings: of the verifier rescaled, of both."""
    random = np.random.default_rng(SEED)
    alone, together = [], []
    for _ in range(HALVINGS):
        first = random.permutation(len(dev.truth)) % 2 == 0
        alone.append(right(crossed([dev.verifier], dev.truth, first), dev.truth).mean())
        together.append(right(crossed(dev.both, dev.truth, first), dev.truth).mean())
    return 100 * float(np.mean(alone)), 100 * float(np.mean(together))
