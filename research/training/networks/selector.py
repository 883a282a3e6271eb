"""The networks of the selector's training (FER), and their inputs.

The selector reads all candidates at once (``retrieval.stages.decide.selection``). A verifier with
fixed weights reads the sentences that a mask selects. The mask is each token's share of attention,
so the gradient of the verdict reaches the selection (FER, appendix A.2).
"""

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

from research.training.networks.encoders import padded
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.papers.selector import USEFUL, joint_row, log_odds, pieces


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


_WINDOW = 512  # tokens that have positions
_LEAST = 1e-6  # of the attention of a sentence that is not selected, so that it has a slope


@dataclass(frozen=True, slots=True)
class MaskedInputs:
    """A batch of claims, each with all its candidate sentences, each before a [SEP].

    All of shape (claims, tokens). ``owner``: 0 for the claim, 1 for the first sentence and so on.
    ``place``: of a token in the claim or in its sentence, from 0.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    owner: torch.Tensor
    place: torch.Tensor


class MaskedVerifier(nn.Module):
    """The relevance model as a verifier of the sentences that are selected."""

    def __init__(self, model: DistilBertForSequenceClassification, temperature: float) -> None:
        """Fix the weights of ``model``; its logits are divided by ``temperature``."""
        super().__init__()
        self._model = model.requires_grad_(False).train(False)
        self._temperature = temperature

    def forward(self, inputs: MaskedInputs, gates: torch.Tensor) -> torch.Tensor:
        """Return the probabilities of the labels, shape (claims, labels).

        ``gates``: 1 for a selected sentence, otherwise 0, shape (claims, sentences). With these the
        verifier reads the same as if it were given the selected sentences alone: the others get no
        attention, and their tokens have no positions.
        """
        always = torch.ones_like(gates[:, :1])
        share = torch.cat([always, gates], dim=1).gather(1, inputs.owner) * inputs.attention_mask
        read = share.detach() > 0.5
        before = read.cumsum(dim=1)  # of a token that is not read, those before its sentence
        positions = torch.where(read, before - 1, before + inputs.place)
        bert = self._model.distilbert
        states = bert.transformer(
            bert.embeddings(inputs.input_ids, position_ids=positions * inputs.attention_mask),
            (share + _LEAST).log()[:, None, None, :],
        ).last_hidden_state
        hidden = torch.relu(self._model.pre_classifier(states[:, 0]))
        logits = self._model.classifier(hidden).float()
        probabilities: torch.Tensor = torch.softmax(logits / self._temperature, dim=-1)
        return probabilities


def masked_inputs(
    tokenizer: Tokenizer,
    claims: Sequence[str],
    candidates: Sequence[Sequence[tuple[str, str]]],
) -> MaskedInputs:
    """Return the verifier's input for claims and their (title, sentence) candidates."""
    ids, owners, places = [], [], []
    for claim, sentences in zip(claims, candidates, strict=True):
        row, rest = pieces(tokenizer, claim, sentences, _WINDOW)
        parts = [row, *([*piece, tokenizer.end] for piece in rest)]
        ids.append(torch.tensor([token for part in parts for token in part]))
        lengths = torch.tensor([len(part) for part in parts])
        owners.append(torch.arange(len(parts)).repeat_interleave(lengths))
        places.append(torch.cat([torch.arange(len(part)) for part in parts]))
    rows, mask = padded(ids, MiniLM.padding)
    owner, place = (padded(part, 0)[0] for part in (owners, places))
    return MaskedInputs(rows, mask, owner, place)
