"""all-mpnet-base-v2 as a cross-encoder: the starting point of the verifier."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from transformers import AutoTokenizer, MPNetModel, PreTrainedTokenizerBase
from transformers.utils import logging

from retrieval.cross_encoders.mpnet_weights import mpnet_folder


@dataclass(frozen=True, slots=True)
class Logits:
    """What the network returns: ``logits`` of shape ``(examples, labels)``."""

    logits: torch.Tensor


class MPNetClassifier(nn.Module):
    """Reads claim and evidence as one text; the labels are told from its first and mean vector."""

    def __init__(self, mpnet: MPNetModel, labels: int) -> None:
        """Put a fresh head on ``mpnet``, whose own pooler is dropped."""
        super().__init__()
        self.mpnet = mpnet
        self.mpnet.pooler = None
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


class PackagedMPNet:
    """The packaged weights, unpacked into a folder on first use."""

    def __init__(self, home: Path) -> None:
        """Unpack into ``home`` when they are asked for."""
        self._home = home

    def model(self, labels: tuple[str, ...]) -> MPNetClassifier:
        """Return them with a fresh head over ``labels``, always the same.

        Raises:
            ModelUnavailable: the packaged weights are missing or damaged.
        """
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        mpnet = MPNetModel.from_pretrained(mpnet_folder(self._home), local_files_only=True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return MPNetClassifier(mpnet, len(labels))

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Return MPNet's uncased WordPiece tokenizer."""
        return AutoTokenizer.from_pretrained(mpnet_folder(self._home), local_files_only=True)
