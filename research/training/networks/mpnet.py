"""all-mpnet-base-v2 in PyTorch, with a head for labels: the start of the verifier's training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from torch import nn
from transformers import AutoTokenizer, MPNetModel, PreTrainedTokenizerBase

from retrieval.models.packaged import MPNet, mpnet_folder


@dataclass(frozen=True, slots=True)
class Logits:
    """The output of the network: ``logits`` of shape ``(examples, labels)``."""

    logits: torch.Tensor


class MPNetClassifier(nn.Module):
    """Reads claim and evidence as one text and labels it by its first and its mean vector."""

    def __init__(self, mpnet: MPNetModel, labels: int) -> None:
        """Add a new head to ``mpnet``, which has no pooler of its own."""
        super().__init__()
        self.mpnet = mpnet
        width = mpnet.config.hidden_size
        self.pre_classifier = nn.Linear(2 * width, width)
        self.classifier = nn.Linear(width, labels)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Logits:
        """Return logits of shape ``(examples, labels)`` for token ids of ``(examples, tokens)``."""
        vectors = self.mpnet(input_ids=input_ids, attention_mask=attention_mask)[0]
        vectors = vectors.to(self.classifier.weight.dtype)
        mask = attention_mask[..., None].to(vectors.dtype)
        mean = (vectors * mask).sum(1) / mask.sum(1)
        pooled = self.dropout(torch.cat([vectors[:, 0], mean], dim=-1))
        return Logits(self.classifier(self.dropout(torch.tanh(self.pre_classifier(pooled)))))


def packaged_verifier(home: Path, labels: tuple[str, ...]) -> MPNetClassifier:
    """Return the packaged weights with a new head over ``labels``, from a fixed seed.

    The weights are unpacked into ``home`` on first use.

    Raises:
        ModelUnavailable: the packaged weights are missing or damaged.
    """
    base = MPNet(home)
    with torch.random.fork_rng(devices=[]):
        mpnet = cast(MPNetModel, base.torch_body(base.weights()))
        torch.manual_seed(0)
        return MPNetClassifier(mpnet, len(labels))


def pair_tokenizer(home: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer of transformers for MPNet, which makes tensors of pairs of texts."""
    return AutoTokenizer.from_pretrained(mpnet_folder(home), local_files_only=True)
