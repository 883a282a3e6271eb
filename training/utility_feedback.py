"""FER's utility divergence: how good the selected sentences are for a fixed verifier.

FER gives a drawn selection to the verifier as its attention mask, and the gradient of the verdict
flows back through that mask (appendix A.2). But the slope of the mask says little about a sentence
that is not selected: a verifier without evidence has a high confidence in NOT ENOUGH INFO, and a
small weight of a sentence does not change it. So each sentence is added or removed instead, and the
change of the right label's probability is the gradient. The verifier reads texts as in use and is
not differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from retrieval.language.model_texts import evidence_set_text
from retrieval.types import LABELS
from training.figures import Classify
from training.selection_examples import SelectionExample


def utility_divergence(
    examples: Sequence[SelectionExample], gates: torch.Tensor, verify: Classify
) -> torch.Tensor:
    """Return how much less probable the right label is than with the gold evidence.

    ``gates``: 1 for a selected sentence, otherwise 0, shape (claims, sentences); columns after a
    claim's candidates are ignored. ``verify`` turns (claim, evidence text) pairs into probabilities
    of ``LABELS``. The result has the shape (claims,), between -1 and 1 (FER, section 3.2). The
    gradient at a gate is the change of the divergence if only its sentence is added or removed.
    """
    readings: dict[tuple[int, frozenset[int]], int] = {}
    chosen: list[frozenset[int]] = []
    for row, example in enumerate(examples):
        among = range(len(example.candidates))
        chosen.append(frozenset(i for i in among if gates[row, i] > 0.5))
        for selected in (chosen[row], *(chosen[row] ^ {i} for i in among)):
            readings.setdefault((row, selected), len(readings))
    probabilities = verify(
        [(examples[row].claim, _text(examples[row], own)) for row, own in readings]
    )

    def right(row: int, selected: frozenset[int]) -> float:
        return float(probabilities[readings[row, selected], LABELS.index(examples[row].label)])

    divergence = torch.tensor(
        [example.attained - right(row, chosen[row]) for row, example in enumerate(examples)]
    )
    worth = torch.zeros(gates.shape)
    for row, example in enumerate(examples):
        for i in range(len(example.candidates)):
            worth[row, i] = right(row, chosen[row] | {i}) - right(row, chosen[row] - {i})
    # The last term is 0; it only adds the gradient.
    return divergence - (worth * (gates - gates.detach())).sum(dim=1)


def _text(example: SelectionExample, selected: frozenset[int]) -> str:
    return evidence_set_text([example.candidates[i] for i in sorted(selected)])
