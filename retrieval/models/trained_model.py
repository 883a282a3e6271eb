"""A shipped model: packaged base weights and the difference that training made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.models.delta import heads, read_difference, trained_body
from retrieval.models.networks.arrays import Array
from retrieval.models.networks.base import PackagedBody
from retrieval.models.networks.interface import Network
from retrieval.models.networks.network import open_network
from retrieval.models.networks.tokenizer import Tokenizer
from retrieval.system.fixes import restore_model


class TrainedModel:
    """A folder with ``config.json`` and ``delta.safetensors``, loaded on first use.

    A subclass computes its results from the body's states and the heads' weights.
    """

    first_only = False
    """Whether the model reads only the state of the first token."""

    def __init__(self, folder: Path, base: PackagedBody) -> None:
        """Read the folder's configuration; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._base = base
        self._config = read_config(folder)

    @property
    def version(self) -> str:
        """The model's name and version, which results contain."""
        return version_of(self._config)

    @property
    def digest(self) -> str:
        """SHA-256 of all trained parts: the difference and the calibration."""
        return sha256(json.dumps(self._config, sort_keys=True).encode()).hexdigest()

    def warm_up(self) -> None:
        """Load base weights and difference.

        Raises:
            ModelUnavailable: either is missing or damaged.
        """
        _ = self._network, self._heads, self._tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self._base.tokenizer_file(), self._config["max_tokens"])

    @cached_property
    def _heads(self) -> dict[str, Array]:
        return heads(read_difference(self._folder, self._config["sha256"]))

    @cached_property
    def _network(self) -> Network:
        return open_network(
            self._folder.name,
            self._base,
            self._trained_body,
            self._key,
            self._config["max_tokens"],
            self.first_only,
        )

    @property
    def _key(self) -> str:
        """The digest of the sources of the network's weights, without the base's."""
        return str(self._config["sha256"])

    def _base_weights(self) -> Mapping[str, Array]:
        """Return the weights that training began with."""
        return self._base.weights()

    def _trained_body(self) -> Mapping[str, Array]:
        difference = read_difference(self._folder, self._config["sha256"])
        return trained_body(self._base_weights(), difference, self._folder)


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
