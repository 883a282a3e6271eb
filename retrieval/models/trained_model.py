"""A shipped model: packaged base weights and the difference that training made.

The embeddings were frozen in training, so only the transformer layers and the heads differ. Each
matrix of the difference is cut to a low rank (a truncated singular value decomposition) and stored
as the product of two thin ones in 8 bits, with a scale for each column of the first. Everything
else is stored whole, in float16. Older files contain the thin matrices in float16, without scales.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.models.arrays import Array
from retrieval.models.networks import Network, Tokenizer, open_network
from retrieval.models.packaged import MiniLM, PackagedBody
from retrieval.models.weights import checked, damaged, missing
from retrieval.system.fixes import restore_model

LEFT, RIGHT, SCALE = "@left", "@right", "@scale"
BODIES = ("distilbert.", "mpnet.")  # the parts with base weights; the rest is a head, stored whole


def read_difference(folder: Path, sha256: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model's ``delta.safetensors``.

    Raises:
        ModelUnavailable: the file is missing, or its digest is not the expected one.
    """
    path = checked(folder / "delta.safetensors", sha256, restore_model(folder))
    arrays: dict[str, NDArray[Any]] = load_file(path)
    return arrays


def heads(difference: Mapping[str, NDArray[Any]]) -> dict[str, Array]:
    """Return the weights of the head, which have no base."""
    return {
        name: array.astype(np.float32)
        for name, array in difference.items()
        if not name.startswith(BODIES)
    }


def trained_body(
    base: Mapping[str, Array], difference: Mapping[str, NDArray[Any]], folder: Path
) -> dict[str, Array]:
    """Return the weights of a body after training.

    ``base``: the packaged ones, by their names in training. ``folder``: the model's, for the error.

    Raises:
        ModelUnavailable: the difference belongs to other base weights.
    """
    trained = dict(base)
    for name, array in difference.items():
        plain, _, part = name.partition("@")
        if not name.startswith(BODIES) or part in (RIGHT[1:], SCALE[1:]):
            continue
        if plain not in trained:
            what = f"The model in {folder} belongs to other base weights."
            raise damaged(what, restore_model(folder))
        change = array.astype(np.float32)
        if part:
            scale = np.asarray(difference.get(plain + SCALE, 1), np.float32)
            change = (change * scale) @ difference[plain + RIGHT].astype(np.float32)
        trained[plain] = trained[plain] + change
    return trained


class TrainedModel:
    """A folder with ``config.json`` and ``delta.safetensors``, loaded on first use.

    A subclass computes its results from the body's states and the heads' weights.
    """

    first_only = False
    """Whether the model reads only the state of the first token."""

    def __init__(self, folder: Path, base: PackagedBody | None = None) -> None:
        """Read the folder's configuration; no weights are loaded yet. ``base``: else MiniLM.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._base = base or MiniLM()
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
        what = f"The model in {folder} is missing or damaged."
        raise missing(what, restore_model(folder)) from error
    return config
