"""The weights of a transformer's body as arrays, read from files with different names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]

VECTORS, MASK, STATES = "vectors", "mask", "states"  # the inputs and the output of a body's graph

_ERFC = (  # coefficients, the constant first
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)


@dataclass(frozen=True, slots=True)
class Part:
    """The ``weight`` and ``bias`` of a linear part or of a layer normalisation.

    Their shapes are ``(outputs, inputs)`` and ``(outputs,)``, or both ``(width,)``.
    """

    weight: Array
    bias: Array

    @classmethod
    def of(cls, weights: Mapping[str, Array], name: str) -> Part:
        """Return the part of this name."""
        return cls(weights[f"{name}.weight"], weights[f"{name}.bias"])


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: attention, then two linear parts; each is added to its input and normalised."""

    query: Part
    key: Part
    value: Part
    attended: Part
    attended_norm: Part
    widen: Part
    narrow: Part
    output_norm: Part


@dataclass(frozen=True, slots=True)
class Body:
    """A transformer encoder that normalises after each part, as BERT does.

    ``words``: ``(vocabulary, width)``. ``positions``: ``(places, width)``, that of the first token
    first. ``attention_bias``: added to the attention of each head between two places, ``(heads,
    places, places)``; most encoders have none.
    """

    words: Array
    positions: Array
    embedding_norm: Part
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float
    attention_bias: Array | None


def linear(inputs: Array, weights: Mapping[str, Array], name: str) -> Array:
    """Return the output of the linear part ``name`` for inputs of shape ``(..., inputs)``."""
    outputs: Array = inputs @ weights[f"{name}.weight"].T
    bias = weights.get(f"{name}.bias")
    return outputs if bias is None else outputs + bias


def softmax(logits: Array) -> Array:
    """Return probabilities over the last axis."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities: Array = powers / powers.sum(-1, keepdims=True)
    return probabilities


def unit(vectors: Array) -> Array:
    """Return the vectors, ``(..., width)``, at length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = np.zeros_like(vectors)
    np.divide(vectors, lengths, out=units, where=lengths > 0)
    return units


def gelu(inputs: Array) -> Array:
    """Return the Gaussian error linear unit of each number."""
    share: Array = (_erf(inputs / np.float32(math.sqrt(2))) + np.float32(1)) * np.float32(0.5)
    return inputs * share


def _erf(inputs: Array) -> Array:
    """Return the error function of each number, within 1e-7.

    Chebyshev's fit of Press et al., Numerical Recipes (2nd ed., section 6.2): SciPy, which has it
    too, takes 140 MB.
    """
    sizes = np.abs(inputs.astype(np.float64))
    t = 1 / (1 + sizes / 2)
    rest = t * np.exp(-sizes * sizes + np.polynomial.polynomial.polyval(t, _ERFC))
    found: Array = np.copysign(1 - rest, inputs).astype(np.float32)
    return found


def standardised(vectors: Array) -> Array:
    """Return vectors, ``(..., width)``, with mean 0 and variance 1."""
    centred = vectors - vectors.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(1e-5))
    standard: Array = centred / spread
    return standard


def normed(vectors: Array, weights: Mapping[str, Array], name: str) -> Array:
    """Return the layer normalisation ``name`` of vectors, ``(..., width)``."""
    return standardised(vectors) * weights[f"{name}.weight"] + weights[f"{name}.bias"]
