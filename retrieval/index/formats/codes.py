"""Vectors as one byte or one bit for each dimension, and inner products estimated from bits.

RaBitQ (Gao and Long 2024, "RaBitQ: Quantizing High-Dimensional Vectors with a
Theoretical Error Bound for Approximate Nearest Neighbor Search", section 3): vectors
are rotated at random, which spreads their content over all dimensions, and only their
signs are stored. A query is rotated by the same matrix and keeps its numbers. From both,
the inner product is estimated without bias; at 384 dimensions the error is about 0.04.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SEED = 1


def rotation(dimension: int) -> NDArray[np.float32]:
    """Return a matrix that rotates vectors at random, shape ``(dimension, dimension)``.

    It is stored with the codes, because another machine may compute a different one.
    """
    noise = np.random.default_rng(_SEED).standard_normal((dimension, dimension))
    turn: NDArray[np.float64] = np.linalg.qr(noise)[0]
    return turn.astype(np.float32)


def signs(turned: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the signs of rotated vectors, eight to a byte, shape ``(n, dimension / 8)``."""
    return np.packbits(turned > 0, axis=1)


def codes(turned: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the signs of rotated unit vectors and two more bytes, which ``products`` needs.

    These are the inner product of each vector with the unit vector that its signs
    represent, as float16.
    """
    own = np.abs(turned).sum(axis=1) / np.sqrt(turned.shape[1])
    return np.hstack([signs(turned), own.astype(np.float16)[:, None].view(np.uint8)])


def products(query: NDArray[np.float32], coded: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Estimate the inner products of a rotated unit vector with those encoded by ``codes``.

    Shape ``(n,)``, between -1 and 1; 0 for a vector of zeros.
    """
    bits, own = coded[:, :-2], coded[:, -2:].copy().view(np.float16)[:, 0].astype(np.float32)
    estimates: NDArray[np.float32] = np.zeros(len(coded), dtype=np.float32)
    np.divide(along(query, bits), own, out=estimates, where=own > 0)
    return estimates.clip(-1, 1)


def along(query: NDArray[np.float32], bits: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the inner products of a rotated vector with the unit vectors that signs represent.

    Shape ``(n,)``. They alone sort vectors nearly as the exact inner products do.
    """
    width = bits.shape[1]
    # The contribution of each value of each byte to the sum, so that no single bit is read.
    padded = np.zeros(8 * width, dtype=np.float32)
    padded[: len(query)] = query
    adds = padded.reshape(width, 8) @ _signs_of_bytes().T
    sums: NDArray[np.float32] = adds[np.arange(width), bits].sum(axis=1)
    sums /= np.sqrt(np.float32(len(query)))
    return sums


def as_bytes(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return unit vectors with the largest number of each as 127 or -127."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled: NDArray[np.float32] = np.zeros_like(vectors)
    np.divide(127 * vectors, largest, out=scaled, where=largest > 0)
    return scaled.round().astype(np.int8)


def from_bytes(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the unit vectors from the rows of ``as_bytes``; a row of zeros stays."""
    vectors: NDArray[np.float32] = rows.astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors


def _signs_of_bytes() -> NDArray[np.float32]:
    """Return the eight signs that each byte represents, shape ``(256, 8)``."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return 2 * bits.astype(np.float32) - 1
