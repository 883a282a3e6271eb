"""Packaged weights that the shipped models were trained from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from retrieval.networks.weights import Array, Body

if TYPE_CHECKING:
    from torch import nn


class Base(Protocol):
    """A transformer's body, as a package brings it."""

    @property
    def name(self) -> str:
        """What files that are made from it are called after."""
        ...

    @property
    def sha256(self) -> str:
        """The digest of the weights."""
        ...

    @property
    def padding(self) -> int:
        """The token that shorter rows of a batch are filled with."""
        ...

    def __hash__(self) -> int:
        """Return the same for all that give the same weights; what is read of them is cached."""
        ...

    def tokenizer_file(self) -> Path:
        """Return the path of its ``tokenizer.json``."""
        ...

    def weights(self) -> dict[str, Array]:
        """Return the weights, under the names that PyTorch's modules in training have for them.

        Raises:
            ModelUnavailable: the package is missing or damaged.
        """
        ...

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """Return the weights in order, for texts of up to ``places`` tokens."""
        ...

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """Return the same as PyTorch's module.

        Called with ``input_ids`` and ``attention_mask`` it returns the last layer's states first.
        """
        ...
