"""The network of the selector (FER), and its input; see ``retrieval.stages.decide.selection``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import relu
from torch.nn.utils.rnn import pad_sequence
from transformers import DistilBertForSequenceClassification

from research.training.networks.minilm import padded
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.papers.selector import USEFUL, joint_row, log_odds


@dataclass(frozen=True, slots=True)
class JointInputs:
    """A batch of claims, each with its candidate sentences in one sequence.

    ``input_ids`` and ``attention_mask``: (claims, tokens). ``means``: (claims, sentences, tokens),
    the weight of each token in the mean of a sentence. ``log_odds``: (claims, sentences), of its
    relevance. ``present``: bool (claims, sentences), False for padding.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    means: torch.Tensor
    log_odds: torch.Tensor
    present: torch.Tensor


class JointReader(nn.Module):
    """The relevance model's network; its head reads the mean vector of every sentence."""

    def __init__(self, relevance_model: DistilBertForSequenceClassification) -> None:
        """Begin with the relevance model's weights and a last layer, of two classes, of zeros."""
        super().__init__()
        self.distilbert = relevance_model.distilbert
        self.pre_classifier = relevance_model.pre_classifier
        self.classifier = nn.Linear(relevance_model.config.dim, 2)
        nn.init.zeros_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, inputs: JointInputs) -> torch.Tensor:
        """Return logits, shape (claims, sentences, 2); those of absent sentences are undefined."""
        states = self.distilbert(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask
        ).last_hidden_state
        scores = self.classifier(relu(self.pre_classifier(inputs.means @ states))).float()
        known = torch.zeros_like(scores)
        known[:, :, USEFUL] = inputs.log_odds
        logits: torch.Tensor = scores + known
        return logits


def joint_inputs(
    tokenizer: Tokenizer,
    claims: Sequence[str],
    candidates: Sequence[Sequence[tuple[str, str]]],
    relevance: Sequence[Sequence[float]],
    max_tokens: int,
) -> JointInputs:
    """Return the network's input for claims and their (title, sentence) candidates.

    ``relevance``: the probability of each that it is relevant to the claim.
    """
    rows = [
        joint_row(tokenizer, claim, sentences, max_tokens)
        for claim, sentences in zip(claims, candidates, strict=True)
    ]
    ids, mask = padded([torch.tensor(row.ids) for row in rows], MiniLM.padding)
    known = pad_sequence([torch.from_numpy(log_odds(row)) for row in relevance], batch_first=True)
    means = torch.zeros(*known.shape, ids.shape[1])
    for claim, row in enumerate(rows):
        for sentence, (start, end) in enumerate(pairwise([*row.heads, len(row.ids)])):
            means[claim, sentence, start:end] = 1 / (end - start)
    return JointInputs(
        input_ids=ids,
        attention_mask=mask,
        means=means,
        log_odds=known,
        present=means.any(dim=-1),
    )


def usefulness(
    network: JointReader,
    tokenizer: Tokenizer,
    claim: str,
    sentences: Sequence[tuple[str, str]],
    relevance: Sequence[float],
    max_tokens: int,
) -> NDArray[np.float32]:
    """Return a network's probabilities for sentences, like ``UtilityModel.usefulness``."""
    with torch.inference_mode():
        logits = network(joint_inputs(tokenizer, [claim], [sentences], [relevance], max_tokens))
    useful: NDArray[np.float32] = torch.softmax(logits[0], dim=-1)[:, USEFUL].numpy()
    return useful
