"""A small body with random weights, always the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import DistilBertConfig, DistilBertModel

from retrieval.models.arrays import Array
from retrieval.models.packaged import MiniLM, PackagedBody

WORDS, PLACES, WIDTH, LAYERS, HEADS = 40, 24, 32, 2, 4


@dataclass(eq=False)
class TinyBase(PackagedBody):
    """``read`` counts how often its weights were asked for."""

    name: str = "tiny"
    sha256: str = "5" * 64
    read: int = 0
    changed: dict[str, Array] = field(default_factory=dict)
    padding = 0
    prefix = ""
    layer_prefix = MiniLM.layer_prefix
    layer_parts = MiniLM.layer_parts
    layers = LAYERS
    heads = HEADS
    epsilon = 1e-12

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
