"""Turns logits into calibrated probabilities, and the readings of a claim into its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval.models.networks.arrays import Array, softmax
from retrieval.types import LABELS, NOT_ENOUGH_INFO, VerdictReadings

_LEAST = 1e-4  # probability, so that one sure reading cannot outvote all others


@dataclass(frozen=True, slots=True)
class VerdictFit:
    """How the probabilities of a claim's readings make those of its verdict.

    A logarithmic pool (Genest and Zidek 1986) of two readings: ``together``, the weight of all
    selected sentences read as one text, and ``alone``, that of the best reading. The numbers
    ``undecided…`` are added to the log odds of NOT ENOUGH INFO: always, if several sentences are
    selected, if the best reading is of several, and if arithmetic takes part in it.
    ``esoteric train calibration`` fits them to the labels of claims that were searched for.
    """

    together: float = 0.5
    alone: float = 0.5
    undecided: float = 0.0
    undecided_of_several: float = 0.0
    undecided_of_path: float = 0.0
    undecided_of_value: float = 0.0

    def probabilities(self, readings: Sequence[VerdictReadings]) -> Array:
        """Return the probabilities of ``LABELS`` for each claim, shape ``(claims, 3)``."""
        together, alone = (
            np.log(np.maximum(np.array(opinions).reshape(-1, len(LABELS)), _LEAST)).astype(
                np.float32
            )
            for opinions in ([one.together for one in readings], [one.alone for one in readings])
        )
        logits: Array = np.float32(self.together) * together + np.float32(self.alone) * alone
        biases = [
            self.undecided
            + self.undecided_of_several * one.several
            + self.undecided_of_path * one.path
            + self.undecided_of_value * one.value
            for one in readings
        ]
        logits[:, LABELS.index(NOT_ENOUGH_INFO)] += np.array(biases, np.float32)
        return softmax(logits)


@dataclass(frozen=True, slots=True)
class Scaling:
    """Logits are divided by ``temperature``, and ``bias`` is added.

    ``bias`` is one number for each label, or 0 (vector scaling with one scale, Guo et al. 2017,
    4.2). ``verdict`` makes a verdict of the readings.
    """

    temperature: float
    bias: Array
    verdict: VerdictFit

    @classmethod
    def of(cls, calibration: Mapping[str, Any], in_search: bool) -> Scaling:
        """Return the scaling of a model's calibration.

        ``in_search``: use the one for evidence that a search found, if there is one.

        Raises:
            KeyError, TypeError, ValueError: it is no calibration.
        """
        chosen = calibration.get("in_search", calibration) if in_search else calibration
        fit = chosen.get("verdict", {})
        return cls(
            temperature=float(chosen["temperature"]),
            bias=np.array(chosen.get("bias", 0.0), np.float32),
            verdict=VerdictFit(**{name: float(number) for name, number in fit.items()}),
        )

    def probabilities(self, logits: Array) -> Array:
        """Return the probabilities, of the shape of the logits, ``(rows, labels)``."""
        return softmax(logits / np.float32(self.temperature) + self.bias)
