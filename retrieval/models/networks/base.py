"""Packaged weights that the shipped models were trained from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from retrieval.models.networks.arrays import Array, Body

if TYPE_CHECKING:
    from torch import nn


class PackagedBody(Protocol):
    """The body of a transformer, with weights from a package."""

    @property
    def name(self) -> str:
        """The name that files made from it begin with."""
        ...

    @property
    def sha256(self) -> str:
        """The digest of the weights."""
        ...

    @property
    def padding(self) -> int:
        """The token that pads shorter rows of a batch."""
        ...

    def __hash__(self) -> int:
        """Return a hash that is the same for the same weights, since loaded weights are cached."""
        ...

    def tokenizer_file(self) -> Path:
        """Return the path of its ``tokenizer.json``."""
        ...

    def weights(self) -> dict[str, Array]:
        """Return the weights, with the names of PyTorch's modules in training.

        Raises:
            ModelUnavailable: the package is missing or damaged.
        """
        ...

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """Return the weights in order, for texts of up to ``places`` tokens."""
        ...

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """Return the body as PyTorch's module.

        Called with ``input_ids`` and ``attention_mask`` it returns the last layer's states first.
        """
        ...
