"""Makes claims that need two pages, from training pages and training claims only."""

from research.training.compositions.compose import compositions
from research.training.compositions.phrases import Composition

__all__ = ["Composition", "compositions"]
