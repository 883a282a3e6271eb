"""all-mpnet-base-v2: the base of the verifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.models.networks.mpnet_weights import SHA256, mpnet_folder, unpacked_folder
from retrieval.models.networks.weights import Array, Body, LayerNames, Norm, layer

if TYPE_CHECKING:
    from torch import nn

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
