"""A linear model of what a sentence is, over its vector by MiniLM, beside the rules.

It decides where it is sure: a sentence that the rules call a fact may be an opinion in the words of
one ("The real enemy is indifference."), and what they find vague may be a fact ("She never
married."). Its weights are a small JSON file, made by ``esoteric train checkable``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.checkable.sentences import Kind
from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import restore_model

FOLDER = Path(__file__).resolve().parents[2] / "models" / "checkable"
WEIGHTS = "weights.json"

# Chosen on the training sentences, each wording left out in turn.
_SURELY_NO_FACT = 0.2
_SURELY_A_FACT = 0.9
# The rules are right about these: they have a question mark, or the form of a call or a greeting.
_BY_RULES = frozenset({"question", "instruction"})


@dataclass(frozen=True, slots=True)
class KindModel:
    """Weights for each kind, ``(kinds, dimension of the vectors)``, and a bias for each kind."""

    kinds: tuple[Kind, ...]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def probabilities(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each kind for each sentence's vector, ``(vectors, kinds)``."""
        scores = vectors @ self.weights.T + self.bias
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float32] = odds / odds.sum(axis=1, keepdims=True)
        return shares

    def corrected(self, by_rules: Kind, probabilities: NDArray[np.float32]) -> Kind:
        """Return the kind that the rules give, or another one where the model is sure of it."""
        fact = self.kinds.index("fact")
        if by_rules == "fact" and probabilities[fact] < _SURELY_NO_FACT:
            kept = [kind != "fact" and kind not in _BY_RULES for kind in self.kinds]
            return self.kinds[int(np.argmax(np.where(kept, probabilities, 0)))]
        if by_rules not in _BY_RULES and probabilities[fact] > _SURELY_A_FACT:
            return "fact"
        return by_rules


def read_model(folder: Path = FOLDER) -> KindModel:
    """Return the model in a folder, the one that comes with ESOTERIC if none is named.

    Raises:
        ModelUnavailable: its file is missing or damaged.
    """
    path = folder / WEIGHTS
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return KindModel(
            tuple(read["kinds"]),
            np.array(read["weights"], np.float32),
            np.array(read["bias"], np.float32),
        )
    except OSError as error:
        raise ModelUnavailable(
            "model_missing", f"The model file {path} is missing.", restore_model(folder)
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(
            "model_damaged", f"The model file {path} is damaged.", restore_model(folder)
        ) from error
