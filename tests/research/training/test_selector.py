from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.selection_examples import SelectionExample, selection_examples
from research.training.utility_feedback import evidence_classification, utility_divergence
from retrieval.types import SUPPORTS
from tests.research.training.pages import data_of, pool_of
from tests.support.encoders import WordEncoder

TELLING, MISLEADING, IDLE = (
    ("Pier", "It is made of oak."),
    ("Mole", "No oak."),
    ("Sea", "It is wet."),
)
OAK = SelectionExample(
    claim="The pier is made of oak.",
    label=SUPPORTS,
    candidates=(TELLING, MISLEADING, IDLE),
    relevance=(0.9, 0.8, 0.1),
    gold=(True, False, False),
    attained=0.9,
)
PRESENT = torch.ones(1, 3, dtype=torch.bool)


def verify(examples: Sequence[SelectionExample], gates: torch.Tensor) -> torch.Tensor:
    """A verifier that one sentence helps, another one misleads, and a third one leaves cold."""
    effects = torch.tensor([{TELLING: 0.5, MISLEADING: -0.2}.get(s, 0.0) for s in OAK.candidates])
    supports = 0.3 + gates @ effects[: gates.shape[1]]
    return torch.stack([supports, torch.zeros_like(supports), 1 - supports], dim=1)


def chosen(*selected: bool) -> torch.Tensor:
    """Logits with which this is drawn for certain."""
    useful = torch.tensor([[100.0 if one else -100.0 for one in selected]])
    return torch.stack([-useful, useful], dim=2).requires_grad_()


@pytest.mark.parametrize(
    ("selected", "divergence"),
    [
        ((True, False, False), 0.9 - 0.8),
        ((False, True, True), 0.9 - 0.1),
        ((True, True, False), 0.9 - 0.6),
        ((False, False, False), 0.9 - 0.3),
    ],
)
def test_the_divergence_is_what_the_right_label_loses_against_gold_evidence(
    selected: tuple[bool, ...], divergence: float
) -> None:
    told = utility_divergence(chosen(*selected), [OAK], verify)
    assert told.item() == pytest.approx(divergence)


def gradient(seed: int, times: float = 1.0) -> list[float]:
    """The gradient of the log-odds of three sentences that may as well be useful as not."""
    torch.manual_seed(seed)
    logits = torch.zeros(1, 3, 2, requires_grad=True)

    def steeper(examples: Sequence[SelectionExample], gates: torch.Tensor) -> torch.Tensor:
        return verify(examples, times * gates - (times - 1) * gates.detach())

    utility_divergence(logits, [OAK], steeper).backward()
    assert logits.grad is not None
    return logits.grad[0, :, 1].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_feedback_raises_what_helps_the_verifier_and_lowers_what_misleads_it(seed: int) -> None:
    telling, misleading, idle = gradient(seed)
    # A step goes against the gradient.
    assert telling < 0 < misleading
    assert idle == pytest.approx(0.0)


def test_a_slope_above_one_counts_as_one() -> None:
    # 20 times 0.5 and 0.2 are 10 and 4: both are cut to 1, which is twice 0.5 and five times 0.2.
    telling, misleading, _ = gradient(0)
    assert gradient(0, times=20)[:2] == pytest.approx([2 * telling, 5 * misleading])


def test_the_classification_is_the_cross_entropy_of_all_candidates() -> None:
    logits = torch.zeros(1, 3, 2, requires_grad=True)
    loss = evidence_classification(logits, PRESENT, [OAK])
    loss.backward()
    assert loss.item() == pytest.approx(3 * math.log(2))
    assert logits.grad is not None
    assert logits.grad[0, :, 1].tolist() == pytest.approx([-0.5, 0.5, 0.5])


def test_a_sentence_that_is_not_there_has_no_part_in_the_classification() -> None:
    logits = torch.zeros(2, 3, 2, requires_grad=True)
    present = torch.tensor([[True, True, True], [True, False, False]])
    short = replace(OAK, candidates=(TELLING,), relevance=(0.9,), gold=(True,))
    evidence_classification(logits, present, [OAK, short]).backward()
    assert logits.grad is not None
    assert logits.grad[1, 1:].abs().max() == 0
    assert logits.grad[1, 0].abs().min() > 0


PAGES = {
    "Pier": ["The pier is long.", "The pier is made of oak."],
    "Lamp": ["The lamp is red."],
    "Boat": ["The boat is blue."],
}


def examples_of(folder: Path, *claims: AnnotatedClaim, candidates: int) -> list[SelectionExample]:
    pool = pool_of(PAGES, WordEncoder(), folder)
    data = data_of(pool, *claims)

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Find sentences with "oak" in them relevant, then those with "red"."""
        supports = [0.8 * ("oak" in t) + 0.5 * ("red" in t) + 0.1 * ("blue" in t) for _, t in pairs]
        return np.array([(p, 0.0, 1 - p) for p in supports], dtype=np.float32)

    return selection_examples(data, classify, 0, 5, candidates, most_gold=5)


def test_candidates_are_the_most_relevant_sentences_and_know_which_are_gold(tmp_path: Path) -> None:
    claim = AnnotatedClaim("The pier is of oak.", SUPPORTS, ((("Pier", 1),),))
    (example,) = examples_of(tmp_path, claim, candidates=3)
    assert [text for _, text in example.candidates] == [
        "The pier is made of oak.",
        "The lamp is red.",
        "The boat is blue.",
    ]
    assert example.relevance == pytest.approx((0.8, 0.5, 0.1))
    assert example.gold == (True, False, False)
    assert example.attained == pytest.approx(0.8)
