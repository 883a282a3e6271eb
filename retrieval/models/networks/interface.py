"""The interface of a transformer's body: rows of tokens in, the last layer's states out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models.networks.arrays import Array
from retrieval.models.networks.tokenizer import Row


@dataclass(frozen=True, slots=True)
class States:
    """``vectors``, ``(rows, tokens, width)``, and ``mask``, ``(rows, tokens)``, 1 at tokens.

    If the network was opened with ``first_only``, vectors are ``(rows, 1, width)``.
    """

    vectors: Array
    mask: Array

    @property
    def first(self) -> Array:
        """The states of each row's first token, ``(rows, width)``."""
        return self.vectors[:, 0]

    @property
    def mean(self) -> Array:
        """The mean over each row's tokens, ``(rows, width)``."""
        total = np.einsum("rtw,rt->rw", self.vectors, self.mask)
        mean: Array = total / self.mask.sum(1, keepdims=True)
        return mean


class Network(Protocol):
    """Computes the last layer's states."""

    def states(self, rows: Sequence[Row]) -> States:
        """Return the states of rows of token ids, at least one; shorter ones are padded."""
        ...


class RuntimeFailed(Exception):
    """A runtime does not work on this machine; another one may."""


def batch(rows: Sequence[Row], padding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return token ids and mask, both ``(rows, tokens)``; rows are filled with ``padding``."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return ids, mask.astype(np.int64)
