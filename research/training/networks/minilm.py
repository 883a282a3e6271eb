"""all-MiniLM-L6-v2 in PyTorch, as a DistilBERT: the start of every small model's training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import torch
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    AutoTokenizer,
    DistilBertForSequenceClassification,
    DistilBertModel,
    PreTrainedTokenizerBase,
)

from research.training.networks.delta import add_delta
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM, distilbert_config, minilm_folder
from retrieval.models.trained_model import read_config

STEP = 8


def width_for(tokens: int) -> int:
    """Return the width of a batch whose longest row has this many tokens."""
    return -(-tokens // STEP) * STEP


def padded(rows: Sequence[torch.Tensor], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows with ``padding`` after the shorter ones, and a mask with 1 for tokens.

    Both of shape ``(rows, width)``.
    """
    ids = pad_sequence(list(rows), batch_first=True, padding_value=padding)
    ids = pad(ids, (0, width_for(ids.shape[1]) - ids.shape[1]), value=padding)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long()


def packaged_body() -> DistilBertModel:
    """Return the packaged weights.

    Raises:
        ModelUnavailable: they are missing or damaged.
    """
    base = MiniLM()
    with torch.random.fork_rng(devices=[]):  # the module begins with random weights
        return cast(DistilBertModel, base.torch_body(base.weights()))


def packaged_classifier(labels: tuple[str, ...]) -> DistilBertForSequenceClassification:
    """Return the packaged weights with a new head over ``labels``, from a fixed seed.

    Raises:
        ModelUnavailable: the packaged weights are missing or damaged.
    """
    config = distilbert_config()
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: index for index, label in enumerate(labels)}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = DistilBertForSequenceClassification(config)
    model.distilbert = packaged_body()
    return model


def trained_classifier(folder: Path) -> DistilBertForSequenceClassification:
    """Return the classifier in this folder that was trained from them.

    Raises:
        ModelUnavailable: it or the packaged weights are missing or damaged.
    """
    config = read_config(folder)
    model = packaged_classifier(tuple(config["labels"]))
    add_delta(model, folder, config["sha256"])
    model.train(False)
    return model


def pair_tokenizer() -> PreTrainedTokenizerBase:
    """Return the tokenizer of transformers for MiniLM, which makes tensors of pairs of texts."""
    return AutoTokenizer.from_pretrained(minilm_folder(), local_files_only=True)


def row_tokenizer(max_tokens: int) -> Tokenizer:
    """Return the tokenizer of the shipped models for MiniLM, for rows of ``max_tokens``."""
    return Tokenizer(MiniLM().tokenizer_file(), max_tokens)
