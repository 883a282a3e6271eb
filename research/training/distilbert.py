"""``esoteric train distilbert``: the ESOTERIC report's relevance classifier (report, table 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from research.evaluation.claims import read_fever_claims
from research.training.distilbert_examples import relevance_parts
from research.training.figures import probabilities
from research.training.loop import Example, Hyperparameters, best_device, classification_loss, train
from retrieval.corpora.corpus import readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource

WARMUP_STEPS = 500
# Table 5. The window, which the report does not name, is that of its author's program.
TABLE_5 = Hyperparameters(
    epochs=3,
    batch_size=24,
    learning_rate=1e-5,
    weight_decay=0.01,
    warmup=0.0,  # set for the number of steps
    max_tokens=512,
    seed=0,
)


def train_distilbert(data: Path, run: Path, base: Path, out: Path) -> dict[str, float]:
    """Train the classifier, write it to ``out``, and return its figures on the test claims.

    Args:
        data: a folder with FEVER's ``train.jsonl`` and ``wiki-pages``.
        run: the folder of logs and checkpoints, from which an interrupted run continues.
        base: the folder of distilbert-base-uncased.
        out: the folder of the classifier, which does not exist or is empty.

    Raises:
        BadSource: the data cannot be read, or too little of it can be used.
    """
    parts = relevance_parts(
        read_fever_claims(data / "train.jsonl"),
        readable_pages(FeverCorpus(data / "wiki-pages")),
        TABLE_5.seed,
    )
    if sum(parts.claims) < 10:
        raise BadSource(
            "bad_data",
            f"{data} has {sum(parts.claims)} claims with their evidence on its pages; ten or more"
            " are needed.",
            "Point --data at a folder with FEVER's train.jsonl and wiki-pages.",
        )
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
    model = _untrained(base)
    model.to(best_device())  # type: ignore[arg-type]
    steps = TABLE_5.epochs * math.ceil(len(parts.train) / TABLE_5.batch_size)
    recipe = replace(TABLE_5, warmup=WARMUP_STEPS / steps)
    train(
        model,
        parts.train,
        classification_loss(model, tokenizer, recipe.max_tokens),
        recipe,
        run,
        lambda model: _figures(model, tokenizer, parts.validation),
    )
    figures = _figures(model, tokenizer, parts.test)
    partial = out.with_name(f"{out.name}.partial")
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    partial.replace(out)
    names = ("training claims", "validation claims", "test claims")
    return {**dict(zip(names, parts.claims, strict=True)), **figures}


def _untrained(base: Path) -> PreTrainedModel:
    """Return the base with a new head of two classes, from a fixed seed."""
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(TABLE_5.seed)
        model: PreTrainedModel = AutoModelForSequenceClassification.from_pretrained(
            base, num_labels=2, local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
    return model


def _figures(
    model: nn.Module, tokenizer: PreTrainedTokenizerBase, examples: Sequence[Example]
) -> dict[str, float]:
    """Return the loss, and accuracy, precision and recall of the label relevant (0 to 1)."""
    pairs = [(example.claim, example.evidence) for example in examples]
    found = probabilities(model, tokenizer, pairs, TABLE_5.max_tokens, classes=2)
    relevant = np.array([example.target[1] == 1 for example in examples])
    said = found[:, 1] >= 0.5
    right = float((said & relevant).sum())
    return {
        "loss": float(-np.log(np.where(relevant, found[:, 1], found[:, 0])).mean()),
        "accuracy": float((said == relevant).mean()),
        "precision": right / max(1.0, float(said.sum())),
        "recall": right / float(relevant.sum()),
    }
