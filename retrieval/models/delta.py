"""The difference between trained and packaged weights, as models are shipped.

A fine-tuned model is the base weights plus a small difference. The embeddings were frozen in
training, so only the transformer layers and the heads differ. Each matrix of the difference is cut
to a low rank (a truncated singular value decomposition) and stored as the product of two thin ones
in 8 bits, with a scale for each column of the first. Everything else is stored whole, in float16.
Older files contain the thin matrices in float16, without scales.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.models.networks.arrays import Array
from retrieval.models.weights import checked, damaged
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
