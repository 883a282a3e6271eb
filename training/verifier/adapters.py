"""Low-rank adapters: what of the verifier is trained (LoRA, Hu et al. 2021)."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import linear

from retrieval.cross_encoders.mpnet import MPNetClassifier
from retrieval.trained.delta import LEFT, RIGHT
from training.loop import switch_off_dropout

RANK = 32
SCALE = 2.0  # of what an adapter adds; alpha / r in LoRA


class LowRankAdapter(nn.Module):
    """A frozen linear layer plus the product of two thin trained ones."""

    def __init__(self, frozen: nn.Linear) -> None:
        """Start as the frozen layer alone: one of the two is all zeros."""
        super().__init__()
        self.frozen = frozen
        self.down = nn.Parameter(
            torch.randn(RANK, frozen.in_features) / math.sqrt(frozen.in_features)
        )
        self.up = nn.Parameter(torch.zeros(frozen.out_features, RANK))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the layer's output, shape ``(..., out_features)``."""
        added = linear(linear(hidden, self.down.to(hidden.dtype)), self.up.to(hidden.dtype))
        adapted: torch.Tensor = self.frozen(hidden) + SCALE * added
        return adapted


def adapt(network: MPNetClassifier) -> None:
    """Freeze all but the head, in bfloat16, and adapt every linear layer of the encoder."""
    network.mpnet.to(torch.bfloat16)  # type: ignore[arg-type]
    network.mpnet.requires_grad_(False)
    switch_off_dropout(network.mpnet)  # frozen weights need none
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers: Any = network.mpnet.encoder.layer
        for layer in layers:
            attention = layer.attention.attn
            for name in ("q", "k", "v", "o"):
                setattr(attention, name, LowRankAdapter(getattr(attention, name)))
            layer.intermediate.dense = LowRankAdapter(layer.intermediate.dense)
            layer.output.dense = LowRankAdapter(layer.output.dense)


def save_adapters(network: MPNetClassifier, path: Path) -> str:
    """Write what ``delta.add_delta`` adds to the packaged weights; return the file's SHA-256."""
    tensors: dict[str, torch.Tensor] = {}
    for name, module in network.named_modules():
        if isinstance(module, LowRankAdapter):
            tensors[f"{name}.weight{LEFT}"] = (SCALE * module.up.detach()).half()
            tensors[f"{name}.weight{RIGHT}"] = module.down.detach().half()
    for name, weight in network.named_parameters():
        if name.startswith(("pre_classifier", "classifier")):
            tensors[name] = weight.detach().half()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    save_file(tensors, partial)
    partial.replace(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()
