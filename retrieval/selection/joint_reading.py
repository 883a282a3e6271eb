"""FER's fine-grained retriever: a claim and all its candidates, read as one sequence.

"The claim and all sentences in S are concatenated as a single input sequence,
with a special token [CLS] added at the beginning of each sentence" (FER, section
3.2). So a sentence is judged in sight of the others: what one of them tells
already, a second one adds little to; and one says more behind another.

FER learns this from all of FEVER's training claims. Here there are far fewer, so
what the joint reading says is added to what is known of each sentence before:
its relevance, as log-odds. Untrained, it adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import relu
from torch.nn.utils.rnn import pad_sequence
from transformers import DistilBertForSequenceClassification, PreTrainedTokenizerBase

from retrieval.cross_encoders.inputs import evidence_text
from retrieval.token_batches import padded

USEFUL = 1  # of the two classes: 0 is not useful
LEAST = 0.005  # relevance below which, and above 1 less which, differences mean nothing


@dataclass(frozen=True, slots=True)
class JointInputs:
    """A batch of claims, each with its candidate sentences in one sequence.

    ``input_ids`` and ``attention_mask``: (claims, tokens). ``heads``: (claims,
    sentences), where the [CLS] of each sentence stands. ``log_odds``: (claims,
    sentences), of its relevance. ``present``: bool (claims, sentences), False where
    a claim has fewer sentences than others.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    heads: torch.Tensor
    log_odds: torch.Tensor
    present: torch.Tensor


class JointReader(nn.Module):
    """The reader's network; its head reads every sentence's [CLS] and not the first one alone."""

    def __init__(self, reader: DistilBertForSequenceClassification) -> None:
        """Begin with the reader's weights and with a last layer, of two classes, of zeros."""
        super().__init__()
        self.distilbert = reader.distilbert
        self.pre_classifier = reader.pre_classifier
        self.classifier = nn.Linear(reader.config.dim, 2)
        nn.init.zeros_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, inputs: JointInputs) -> torch.Tensor:
        """Return logits, shape (claims, sentences, 2); those of absent sentences mean nothing."""
        hidden = self.distilbert(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask
        ).last_hidden_state
        index = inputs.heads[:, :, None].expand(-1, -1, hidden.shape[-1])
        told = self.classifier(relu(self.pre_classifier(hidden.gather(1, index)))).float()
        known = torch.zeros_like(told)
        known[:, :, USEFUL] = inputs.log_odds
        logits: torch.Tensor = told + known
        return logits


def read_jointly(
    tokenizer: PreTrainedTokenizerBase,
    claims: Sequence[str],
    candidates: Sequence[Sequence[tuple[str, str]]],
    relevance: Sequence[Sequence[float]],
    max_tokens: int,
) -> JointInputs:
    """Return what the network reads of claims and their (title, sentence) candidates.

    ``relevance``: the probability of each that it bears on the claim.
    """
    known = [torch.logit(torch.tensor(row), eps=LEAST) for row in relevance]
    sequences, heads = [], []
    for claim, sentences in zip(claims, candidates, strict=True):
        sequence, rest = pieces(tokenizer, claim, sentences, max_tokens)
        starts = []
        for piece in rest:
            starts.append(len(sequence))
            sequence = [*sequence, tokenizer.cls_token_id, *piece]
        sequences.append(torch.tensor(sequence))
        heads.append(torch.tensor(starts, dtype=torch.long))
    ids, mask = padded(sequences, tokenizer.pad_token_id)
    return JointInputs(
        input_ids=ids,
        attention_mask=mask,
        heads=pad_sequence(heads, batch_first=True),
        log_odds=pad_sequence(known, batch_first=True),
        present=pad_sequence([torch.ones_like(h) for h in heads], batch_first=True).bool(),
    )


def pieces(
    tokenizer: PreTrainedTokenizerBase,
    claim: str,
    sentences: Sequence[tuple[str, str]],
    max_tokens: int,
) -> tuple[list[int], list[list[int]]]:
    """Return the tokens of the claim, with its [CLS] and [SEP], and those of each sentence.

    With one more token for each sentence all of them fit into ``max_tokens``; what
    is too long for that is cut at its end, the longest sentences first.
    """
    told = tokenizer(claim, truncation=True, max_length=max_tokens // 2)["input_ids"]
    if not sentences:
        return told, []
    texts = [evidence_text(title, sentence) for title, sentence in sentences]
    read = tokenizer(texts, add_special_tokens=False, truncation=True, max_length=max_tokens)
    room = max_tokens - len(told) - len(texts)
    longest = longest_that_fits([len(ids) for ids in read["input_ids"]], room)
    return told, [ids[:longest] for ids in read["input_ids"]]


def longest_that_fits(lengths: Sequence[int], room: int) -> int:
    """Return how long a sentence may be so that all fit: short ones leave theirs to others."""
    for done, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - done)
        if length > share:
            return share
        room -= length
    return max(lengths)


def usefulness(
    network: JointReader,
    tokenizer: PreTrainedTokenizerBase,
    claim: str,
    sentences: Sequence[tuple[str, str]],
    relevance: Sequence[float],
    max_tokens: int,
) -> NDArray[np.float32]:
    """Return the probability of each (title, sentence) that it is useful evidence."""
    with torch.inference_mode():
        logits = network(read_jointly(tokenizer, [claim], [sentences], [relevance], max_tokens))
    useful: NDArray[np.float32] = torch.softmax(logits[0], dim=-1)[:, USEFUL].numpy()
    return useful
