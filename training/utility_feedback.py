"""FER's utility divergence: what a fixed verifier makes of the sentences that were selected.

FER hands a drawn selection to the verifier as its attention mask, and the
gradient of the verdict flows back through that mask (appendix A.2). The slope of
a mask tells little of a sentence that is not there: a verifier that finds nothing
is sure of that, and a breath of a sentence does not move it. So each sentence is
put in or taken out instead, and what the verdict gains by it is the slope. The
verifier reads texts as it always does, and nothing of it has to be differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from retrieval.cross_encoders.inputs import evidence_set_text
from retrieval.types import LABELS
from training.figures import Classify
from training.selection_examples import SelectionExample


def utility_divergence(
    examples: Sequence[SelectionExample], gates: torch.Tensor, verify: Classify
) -> torch.Tensor:
    """Return how much less probable the right label is than with the gold evidence.

    ``gates``: 1 where a sentence is selected, else 0, shape (claims, sentences);
    columns past a claim's candidates count for nothing. ``verify`` turns (claim,
    evidence text) pairs into probabilities of ``LABELS``. Shape (claims,), between
    -1 and 1 (FER, section 3.2); the gradient at a gate is what the divergence
    changes by when its sentence alone is put in.
    """
    readings: dict[tuple[int, frozenset[int]], int] = {}
    chosen: list[frozenset[int]] = []
    for row, example in enumerate(examples):
        among = range(len(example.candidates))
        chosen.append(frozenset(i for i in among if gates[row, i] > 0.5))
        for selected in (chosen[row], *(chosen[row] ^ {i} for i in among)):
            readings.setdefault((row, selected), len(readings))
    said = verify([(examples[row].claim, _text(examples[row], own)) for row, own in readings])

    def right(row: int, selected: frozenset[int]) -> float:
        return float(said[readings[row, selected], LABELS.index(examples[row].label)])

    divergence = torch.tensor(
        [example.attained - right(row, chosen[row]) for row, example in enumerate(examples)]
    )
    worth = torch.zeros(gates.shape)
    for row, example in enumerate(examples):
        for i in range(len(example.candidates)):
            worth[row, i] = right(row, chosen[row] | {i}) - right(row, chosen[row] - {i})
    # The last term is 0; all it has is a gradient.
    return divergence - (worth * (gates - gates.detach())).sum(dim=1)


def _text(example: SelectionExample, selected: frozenset[int]) -> str:
    return evidence_set_text([example.candidates[i] for i in sorted(selected)])
