"""A small body with random weights, always the same, and the package that brings it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import DistilBertConfig, DistilBertModel

from retrieval.models.arrays import Array, Body, LayerNames, Norm, layer

WORDS, PLACES, WIDTH, LAYERS, HEADS = 40, 24, 32, 2, 4
_NAMES = LayerNames(
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attended="attention.out_lin",
    attended_norm="sa_layer_norm",
    widen="ffn.lin1",
    narrow="ffn.lin2",
    output_norm="output_layer_norm",
)


@dataclass(eq=False)
class TinyBase:
    """See ``Base``; ``read`` counts how often its weights were asked for."""

    name: str = "tiny"
    sha256: str = "5" * 64
    padding: int = 0
    read: int = 0
    changed: dict[str, Array] = field(default_factory=dict)

    def tokenizer_file(self) -> Path:
        raise AssertionError("it reads no text")

    def weights(self) -> dict[str, Array]:
        self.read += 1
        torch.manual_seed(5)
        module = DistilBertModel(_config())
        with torch.no_grad():
            for name, weight in module.named_parameters():
                if "norm" in name.lower():
                    weight += 0.1 * torch.randn_like(weight)
                else:
                    # As large as in a trained body, so that attention is no mean over all tokens.
                    weight.copy_(torch.randn_like(weight) * (0.3 if weight.ndim > 1 else 0.1))
        arrays = {name: weight.numpy() for name, weight in module.state_dict().items()}
        return arrays | self.changed

    def body(self, weights: Mapping[str, Array], places: int) -> Body:
        return Body(
            words=weights["embeddings.word_embeddings.weight"],
            positions=weights["embeddings.position_embeddings.weight"][:places],
            embedding_norm=Norm(
                weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"]
            ),
            layers=tuple(layer(weights, f"transformer.layer.{n}.", _NAMES) for n in range(LAYERS)),
            heads=HEADS,
            epsilon=1e-12,
            attention_bias=None,
        )

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        module = DistilBertModel(_config())
        module.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        return module


def _config() -> DistilBertConfig:
    return DistilBertConfig(
        vocab_size=WORDS,
        max_position_embeddings=PLACES,
        dim=WIDTH,
        hidden_dim=2 * WIDTH,
        n_layers=LAYERS,
        n_heads=HEADS,
    )


def tiny_rows(*lengths: int) -> list[list[int]]:
    """Rows of random tokens of these lengths, none of them padding."""
    random = np.random.default_rng(1)
    return [random.integers(1, WORDS, length).tolist() for length in lengths]
