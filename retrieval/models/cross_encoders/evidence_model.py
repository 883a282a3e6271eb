"""The interface of all models that label evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models.cross_encoders.scaling import VerdictFit


class EvidenceModel(Protocol):
    """Labels a claim with evidence: the shipped verifier, or a model of the user."""

    @property
    def version(self) -> str:
        """The model's name and version, which verdicts contain. Loads no model."""
        ...

    @property
    def verdict_fit(self) -> VerdictFit:
        """How its readings of a claim make a verdict."""
        ...

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated probabilities of ``LABELS`` for (claim, evidence) pairs.

        Shape ``(len(pairs), 3)``, in the order of the pairs.
        """
        ...

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the whole pair fits the model's window."""
        ...
