"""The teacher's network: MPNet with low-rank adapters and a head over the three labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import linear
from transformers import MPNetModel

from retrieval.types import LABELS

RANK = 32
SCALE = 2.0  # of what an adapter adds; alpha / r in LoRA


class LowRankAdapter(nn.Module):
    """A frozen linear layer plus the product of two thin trained ones (LoRA, Hu et al. 2021)."""

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


@dataclass(frozen=True, slots=True)
class Logits:
    """What the network returns: ``logits`` of shape ``(examples, labels)``."""

    logits: torch.Tensor


class TeacherNetwork(nn.Module):
    """Reads claim and evidence as one text; the labels are told from its first and mean vector."""

    def __init__(self, mpnet: MPNetModel) -> None:
        """Freeze the model, put it into bfloat16 and adapt every linear layer of its encoder."""
        super().__init__()
        self.mpnet = mpnet.to(torch.bfloat16)  # type: ignore[arg-type]
        self.mpnet.requires_grad_(False)
        self.mpnet.pooler = None
        for module in self.mpnet.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0  # frozen weights need none, and it costs a sixth of the time
        torch.manual_seed(0)
        for layer in self.mpnet.encoder.layer:
            attention = layer.attention.attn
            for name in ("q", "k", "v", "o"):
                setattr(attention, name, LowRankAdapter(getattr(attention, name)))
            layer.intermediate.dense = LowRankAdapter(layer.intermediate.dense)
            layer.output.dense = LowRankAdapter(layer.output.dense)
        width = mpnet.config.hidden_size
        self.hidden = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, len(LABELS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Logits:
        """Return logits of shape ``(examples, labels)`` for token ids of ``(examples, tokens)``."""
        vectors = self.mpnet(input_ids=input_ids, attention_mask=attention_mask)[0].float()
        mask = attention_mask[..., None].float()
        mean = (vectors * mask).sum(1) / mask.sum(1)
        pooled = self.dropout(torch.cat([vectors[:, 0], mean], dim=-1))
        return Logits(self.head(self.dropout(torch.tanh(self.hidden(pooled)))))


def load_mpnet(folder: Path) -> MPNetModel:
    """Return the packaged model."""
    return MPNetModel.from_pretrained(folder, local_files_only=True)
