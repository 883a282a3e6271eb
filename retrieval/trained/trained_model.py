"""A model as it is shipped: packaged base weights, and what training changed in them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from retrieval.errors import ModelUnavailable
from retrieval.mends import restore_model

if TYPE_CHECKING:
    from torch import nn

Network = TypeVar("Network", bound="nn.Module")
Tokenizer = TypeVar("Tokenizer")


class TrainedModel(ABC, Generic[Network, Tokenizer]):
    """A folder with ``config.json`` and ``delta.safetensors``, loaded when it is first needed.

    A kind of model says what its base is and what it does with its network.
    """

    def __init__(self, folder: Path) -> None:
        """Read the folder's configuration; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._config = read_config(folder)
        self._parts: tuple[Network, Tokenizer] | None = None

    @abstractmethod
    def _base(self) -> tuple[Network, Tokenizer]:
        """Return the network before it was trained, and the tokenizer that belongs to it.

        Raises:
            ModelUnavailable: the packaged weights are missing or damaged.
        """

    def _quickened(self, network: Network) -> Network:
        """Return the network in the precision that is fastest here."""
        from retrieval.precision import fastest_precision

        return network.to(fastest_precision())

    @property
    def version(self) -> str:
        """The model's name and version, for results to carry."""
        return version_of(self._config)

    @property
    def digest(self) -> str:
        """SHA-256 of all that was trained: the difference and how its opinions are scaled."""
        return sha256(json.dumps(self._config, sort_keys=True).encode()).hexdigest()

    def warm_up(self) -> None:
        """Load base weights and difference.

        Raises:
            ModelUnavailable: either is missing or damaged.
        """
        self._loaded()

    def _loaded(self) -> tuple[Network, Tokenizer]:
        if self._parts is None:
            from retrieval.trained.delta import add_delta
            from retrieval.trained.embeddings import share_embeddings

            network, tokenizer = self._base()
            add_delta(network, self._folder / "delta.safetensors", self._config["sha256"])
            network = self._quickened(network.train(False))
            share_embeddings(network)
            self._parts = network, tokenizer
        return self._parts


def version_of(config: Mapping[str, Any]) -> str:
    """Return the name and version in a shipped model's configuration."""
    return f"{config['name']} {config['version']}"


def read_config(folder: Path) -> dict[str, Any]:
    """Return a shipped model's ``config.json``.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            "model_missing",
            f"The model in {folder} is missing or damaged.",
            restore_model(folder),
        ) from error
    return config
