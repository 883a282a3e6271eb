"""A verifier with fixed weights that reads the sentences a mask selects (FER, appendix A.2).

The mask is each token's share of attention, so the gradient of the verdict reaches the selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import DistilBertForSequenceClassification

from research.training.networks.minilm import padded
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.papers.selector import pieces

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
