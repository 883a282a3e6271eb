"""Makes claims that need two pages, from training pages and training claims only."""

from training.compositions.compose import compositions
from training.compositions.composition import Composition

__all__ = ["Composition", "compositions"]
