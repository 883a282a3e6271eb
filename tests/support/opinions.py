"""A model that reads pairs of a claim and a text, and says what a test tells it."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from retrieval.models.cross_encoders import CrossEncoder, VerdictFit
from retrieval.types import Opinion


class Says:
    """Says (supports, refutes, neither) of a claim and a text; it remembers what it was asked."""

    version = "a judge"

    def __init__(
        self, say: Callable[[str, str], Opinion], verdict_fit: VerdictFit | None = None
    ) -> None:
        self._say = say
        self.verdict_fit = verdict_fit or VerdictFit()
        self.asked: list[tuple[str, str]] = []

    def warm_up(self) -> None:
        """Nothing to load."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return a row for each pair."""
        self.asked += pairs
        rows = [self._say(claim, text) for claim, text in pairs]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)

    def fits(self, claim: str, text: str) -> bool:
        """Return that any text is short enough."""
        return True

    def computed(self, claim: str, text: str) -> tuple[str, ...]:
        """Return that nothing is computed."""
        return ()

    @property
    def model(self) -> CrossEncoder:
        """The same, where a stage wants a cross-encoder."""
        return cast(CrossEncoder, self)

    @property
    def read(self) -> list[str]:
        """The texts that it was asked about."""
        return [text for _, text in self.asked]
