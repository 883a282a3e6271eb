"""FER's losses: which candidates are evidence, and how good the selected ones are for a verifier.

The verifier has fixed weights. The selection is its attention mask, so the gradient of the verdict
flows back through the mask into the selector (FER, appendix A.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import torch
from torch.nn.functional import cross_entropy, gumbel_softmax
from torch.nn.utils.rnn import pad_sequence

from research.training.selection_examples import SelectionExample
from retrieval.models.papers.selector import USEFUL
from retrieval.types import LABELS

Losses: TypeAlias = Literal["both", "classification", "utility"]

# Returns a verifier's probabilities of ``LABELS``, (claims, labels), with the sentences whose gates
# are 1, (claims, sentences). Differentiable by the gates.
Verify: TypeAlias = Callable[[Sequence[SelectionExample], torch.Tensor], torch.Tensor]


def evidence_classification(
    logits: torch.Tensor, present: torch.Tensor, examples: Sequence[SelectionExample]
) -> torch.Tensor:
    """Return the cross entropy of a claim's candidates, summed; the mean over claims (FER, 3.2).

    ``logits``: (claims, sentences, 2). ``present``: (claims, sentences), False for padding.
    """
    gold = pad_sequence(
        [torch.tensor(example.gold, dtype=torch.long) for example in examples], batch_first=True
    )
    log_loss = cross_entropy(logits.transpose(1, 2), gold, reduction="none")
    return (log_loss * present).sum(dim=1).mean()


def utility_divergence(
    logits: torch.Tensor, examples: Sequence[SelectionExample], verify: Verify
) -> torch.Tensor:
    """Return how much less probable the right label is than with the gold evidence (FER, 3.2).

    The mean over claims, between -1 and 1. The selection is drawn by Gumbel softmax, 0 or 1
    forward and smooth backward (A.2). No sentence changes a probability by more than 1, so steeper
    slopes, as at a sentence that would get nearly all attention, are cut.
    """
    gates = gumbel_softmax(logits, hard=True)[:, :, USEFUL]
    steepest = 1 / len(examples)  # since the result is a mean
    gates.register_hook(  # type: ignore[no-untyped-call]
        lambda slope: slope.clamp(-steepest, steepest)
    )
    right = torch.tensor([[LABELS.index(example.label)] for example in examples])
    attained = torch.tensor([example.attained for example in examples])
    return (attained - verify(examples, gates).gather(1, right)[:, 0]).mean()
