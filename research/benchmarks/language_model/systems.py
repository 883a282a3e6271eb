"""What is compared: each model alone, and both together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.benchmarks.language_model.claims import Given
from research.benchmarks.language_model.figures import right
from research.benchmarks.language_model.fitting import crossed, fitted
from retrieval.llm_judge.local_explainer import Opinions
from retrieval.types import LABELS

HALVINGS = 100
SEED = 0

RAW = "language model, raw"
CALIBRATED = "language model, calibrated on train"
VERIFIER = "verifier"
RESCALED_TRAIN = "verifier, rescaled on train"
RESCALED = "verifier, rescaled on the other half of dev"
TOGETHER_TRAIN = "both, fitted to train"
TOGETHER = "both, fitted to the other half of dev"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Claims by kind and position of their label, and the probabilities that each model gives.

    ``asked``: those of the language model, once for each wording.
    """

    kinds: tuple[str, ...]
    truth: NDArray[np.intp]
    verifier: Opinions
    asked: tuple[Opinions, ...]

    def halves(self, order: Sequence[int]) -> NDArray[np.bool_]:
        """Return which claims are in the first of two halves with as many of each kind and label.

        Of each kind and label, every second claim in this order is in it.
        """
        first = np.zeros(len(self.truth), dtype=bool)
        before: Counter[tuple[str, int]] = Counter()
        for row in order:
            group = self.kinds[row], int(self.truth[row])
            first[row] = before[group] % 2 == 0
            before[group] += 1
        return first

    @property
    def both(self) -> tuple[Opinions, ...]:
        """The opinions of both models, which are pooled."""
        return self.verifier, *self.asked


def truth_of(claims: Sequence[Given]) -> NDArray[np.intp]:
    """Return the positions of the claims' labels in ``LABELS``."""
    return np.array([LABELS.index(given.label) for given in claims], dtype=np.intp)


def systems(train: Labelled, dev: Labelled) -> dict[str, Opinions]:
    """Return the opinions of each system about the dev claims."""
    first = dev.halves(range(len(dev.truth)))
    return {
        RAW: np.mean(dev.asked, axis=0),
        CALIBRATED: fitted(train.asked, train.truth).of(dev.asked),
        VERIFIER: dev.verifier,
        RESCALED_TRAIN: fitted([train.verifier], train.truth).of([dev.verifier]),
        RESCALED: crossed([dev.verifier], dev.truth, first),
        TOGETHER_TRAIN: fitted(train.both, train.truth).of(dev.both),
        TOGETHER: crossed(dev.both, dev.truth, first),
    }


def halved(dev: Labelled) -> tuple[float, float]:
    """Return mean label accuracies, %, over random halvings: of the verifier rescaled, of both."""
    random = np.random.default_rng(SEED)
    alone, together = [], []
    for _ in range(HALVINGS):
        first = dev.halves(random.permutation(len(dev.truth)).tolist())
        alone.append(right(crossed([dev.verifier], dev.truth, first), dev.truth).mean())
        together.append(right(crossed(dev.both, dev.truth, first), dev.truth).mean())
    return 100 * float(np.mean(alone)), 100 * float(np.mean(together))
