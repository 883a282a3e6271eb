"""The packaged encoders in PyTorch, where training begins, and the difference that it makes.

all-MiniLM-L6-v2, as a DistilBERT, is the start of every small model's training; all-mpnet-base-v2,
with a head for labels, of the verifier's. ``retrieval.models.trained_model`` describes the file of
a difference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    AutoTokenizer,
    BatchEncoding,
    DistilBertForSequenceClassification,
    DistilBertModel,
    MPNetModel,
    PreTrainedTokenizerBase,
)

from retrieval.errors import ModelUnavailable
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM, MPNet, distilbert_config, minilm_folder
from retrieval.models.trained_model import (
    BODIES,
    LEFT,
    RIGHT,
    SCALE,
    heads,
    read_config,
    read_difference,
    trained_body,
)
from retrieval.system.fixes import restore_model

_EMBEDDINGS = tuple(f"{body}embeddings." for body in BODIES)


def save_delta(trained: nn.Module, base: nn.Module, path: Path, rank: int) -> str:
    """Write ``trained - base`` and return the file's SHA-256.

    Matrices of the layers are cut to ``rank``; the heads, which have no base, and
    the vectors are kept whole.
    """
    before = dict(base.named_parameters())
    tensors: dict[str, torch.Tensor] = {}
    for name, parameter in trained.named_parameters():
        weight = parameter.detach().cpu()
        if name.startswith(_EMBEDDINGS):
            continue
        if not name.startswith(BODIES):
            tensors[name] = weight.half()
            continue
        difference = weight.float() - before[name].detach().float()
        if difference.ndim == 2:
            left, singular, right = torch.linalg.svd(difference, full_matrices=False)
            tensors[name + LEFT], left_scale = _in_8_bits(left[:, :rank], 0)
            tensors[name + RIGHT], right_scale = _in_8_bits(right[:rank], 1)
            tensors[name + SCALE] = left_scale * singular[:rank] * right_scale
        else:
            tensors[name] = difference.half()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _in_8_bits(vectors: torch.Tensor, along: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return integers from -127 to 127, and the scale of each vector of this dimension."""
    scale = vectors.abs().amax(along) / 127
    rounded = (vectors / scale.unsqueeze(along)).round()
    return rounded.to(torch.int8).contiguous(), scale


def add_delta(base: nn.Module, folder: Path, sha256: str) -> None:
    """Turn the base model, in place, into the trained one whose difference is in ``folder``.

    Raises:
        ModelUnavailable: the file is missing, or its digest is not the expected one.
    """
    difference = read_difference(folder, sha256)
    before = {
        name: parameter.detach().numpy()
        for name, parameter in base.named_parameters()
        if name.startswith(BODIES)
    }
    trained = trained_body(before, difference, folder) | heads(difference)
    state = {name: torch.from_numpy(array) for name, array in trained.items()}
    if base.load_state_dict(state, strict=False).unexpected_keys:
        raise ModelUnavailable(
            "model_damaged",
            f"The model in {folder} belongs to other base weights.",
            restore_model(folder),
        )


STEP = 8


def pair_inputs(
    tokenizer: PreTrainedTokenizerBase, pairs: Sequence[tuple[str, str]], max_tokens: int
) -> BatchEncoding:
    """Return the tensors of (claim, evidence) pairs, of which the evidence may be cut."""
    inputs: BatchEncoding = tokenizer(
        [claim for claim, _ in pairs],
        [evidence for _, evidence in pairs],
        truncation="only_second",
        max_length=max_tokens,
        padding=True,
        pad_to_multiple_of=STEP,  # few shapes, since the products of each new one are compiled
        return_tensors="pt",
        return_token_type_ids=False,
    )
    return inputs


def by_length(lengths: Sequence[int], together: int) -> Iterator[list[int]]:
    """Yield the numbers of rows of similar length, so many at once, to reduce padding."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), together):
        yield order[start : start + together]


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


def pair_tokenizer(base: Path | None = None) -> PreTrainedTokenizerBase:
    """Return a tokenizer that makes tensors of pairs of texts: MiniLM's, or that in ``base``."""
    return AutoTokenizer.from_pretrained(base or minilm_folder(), local_files_only=True)


def row_tokenizer(max_tokens: int) -> Tokenizer:
    """Return the tokenizer of the shipped models for MiniLM, for rows of ``max_tokens``."""
    return Tokenizer(MiniLM().tokenizer_file(), max_tokens)


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
