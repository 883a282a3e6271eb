"""Claims that need two pages, made from training pages and training claims alone."""

from training.compositions.compose import compositions
from training.compositions.composition import Composition

__all__ = ["Composition", "compositions"]
