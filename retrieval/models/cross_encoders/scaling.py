"""Turns logits into calibrated probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval.models.networks.arrays import Array, softmax


@dataclass(frozen=True, slots=True)
class Scaling:
    """Logits are divided by ``temperature``, and ``bias`` is added.

    ``bias`` is one number for each label, or 0 (vector scaling with one scale, Guo et al. 2017,
    4.2). If the evidence is several sentences, ``bias_of_several`` is added too. The probabilities
    of a verdict are raised to the power ``verdict_scale``.
    """

    temperature: float
    bias: Array
    bias_of_several: Array
    verdict_scale: float

    @classmethod
    def of(cls, calibration: Mapping[str, Any], in_search: bool) -> Scaling:
        """Return the scaling of a model's calibration.

        ``in_search``: use the one for evidence that a search found, if there is one.

        Raises:
            KeyError, TypeError, ValueError: it is no calibration.
        """
        chosen = calibration.get("in_search", calibration) if in_search else calibration
        return cls(
            temperature=float(chosen["temperature"]),
            bias=np.array(chosen.get("bias", 0.0), np.float32),
            bias_of_several=np.array(chosen.get("bias_of_several", 0.0), np.float32),
            verdict_scale=float(chosen.get("verdict_scale", 1.0)),
        )

    def probabilities(self, logits: Array, several: Sequence[bool]) -> Array:
        """Return the probabilities, of the shape of the logits, ``(rows, labels)``.

        ``several``: for each row, whether its evidence is several sentences.
        """
        of_several = np.array(several, np.float32)[:, None] * self.bias_of_several
        return softmax(logits / np.float32(self.temperature) + self.bias + of_several)
