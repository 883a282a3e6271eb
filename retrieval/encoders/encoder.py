"""What the pipeline and the index builder ask of a text encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Encoder(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity."""

    name: str
    dimension: int

    def warm_up(self) -> None:
        """Load the weights; cheap when they are loaded already."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape ``(len(texts), dimension)`` of unit vectors."""
        ...
