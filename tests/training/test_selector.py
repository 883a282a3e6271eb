from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from evaluation.claims import AnnotatedClaim
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.encoders import WordEncoder
from tests.training.pages import pool_of
from training.data import TrainingData
from training.selection_examples import SelectionExample, selection_examples
from training.selector import feedback_loss
from training.utility_feedback import utility_divergence

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
PRESENT = torch.ones(1, 3)


def verify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """A verifier that one sentence helps, another one misleads, and a third one leaves cold."""
    supports = [0.3 + 0.5 * ("made of oak" in text) - 0.2 * ("No oak" in text) for _, text in pairs]
    return np.array([(p, 0.0, 1 - p) for p in supports], dtype=np.float32)


def gates(*values: float) -> torch.Tensor:
    return torch.tensor([values], requires_grad=True)


@pytest.mark.parametrize(
    ("selected", "divergence"),
    [
        ((1.0, 0.0, 0.0), 0.9 - 0.8),
        ((0.0, 1.0, 1.0), 0.9 - 0.1),
        ((1.0, 1.0, 0.0), 0.9 - 0.6),
        ((0.0, 0.0, 0.0), 0.9 - 0.3),
    ],
)
def test_the_divergence_is_what_the_right_label_loses_against_gold_evidence(
    selected: tuple[float, ...], divergence: float
) -> None:
    told = utility_divergence([OAK], gates(*selected), verify)
    assert told.tolist() == pytest.approx([divergence])


@pytest.mark.parametrize("selected", [(1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_the_gradient_of_a_sentence_is_its_effect_with_any_selection(
    selected: tuple[float, ...],
) -> None:
    opened = gates(*selected)
    utility_divergence([OAK], opened, verify).sum().backward()
    assert opened.grad is not None
    assert opened.grad[0].tolist() == pytest.approx([-0.5, 0.2, 0.0])


def test_each_claim_has_its_own_verdict_and_no_more_sentences_than_it_has() -> None:
    short = replace(OAK, candidates=(MISLEADING,), label=NOT_ENOUGH_INFO, attained=0.7)
    opened = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], requires_grad=True)
    told = utility_divergence([OAK, short], opened, verify)
    # Beside the misleading sentence alone 0.9 is left for NOT ENOUGH INFO; without it 0.7.
    assert told.tolist() == pytest.approx([0.9 - 0.8, 0.7 - 0.9])
    told.sum().backward()
    assert opened.grad is not None
    assert opened.grad[1].tolist() == pytest.approx([-0.2, 0.0, 0.0])


def test_a_text_that_is_read_twice_for_a_claim_is_read_once() -> None:
    read: list[str] = []

    def counting(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        read.extend(text for _, text in pairs)
        return verify(pairs)

    utility_divergence([OAK], gates(1.0, 0.0, 0.0), counting)
    assert sorted(read) == [
        "",
        "Pier : It is made of oak.",
        "Pier : It is made of oak. [SEP] Mole : No oak.",
        "Pier : It is made of oak. [SEP] Sea : It is wet.",
    ]


def drawn(seed: int, verifier: bool = True) -> tuple[float, torch.Tensor]:
    """Loss and gradient of the log-odds of three sentences that may as well be useful as not."""
    torch.manual_seed(seed)
    logits = torch.zeros(1, 3, 2, requires_grad=True)

    def deaf(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.full((len(pairs), 3), 0.9, dtype=np.float32)

    loss = feedback_loss(logits, PRESENT, [OAK], verify if verifier else deaf)
    loss.backward()
    assert logits.grad is not None
    return loss.item(), logits.grad[0, :, 1]


def test_without_divergence_the_loss_is_the_cross_entropy_of_all_candidates() -> None:
    loss, gradient = drawn(0, verifier=False)
    assert loss == pytest.approx(3 * math.log(2))
    assert gradient.tolist() == pytest.approx([-0.5, 0.5, 0.5])


@pytest.mark.parametrize("seed", range(5))
def test_feedback_raises_what_helps_the_verifier_and_lowers_what_misleads_it(seed: int) -> None:
    _, with_feedback = drawn(seed)
    _, without = drawn(seed, verifier=False)
    telling, misleading, idle = (with_feedback - without).tolist()
    # A step goes against the gradient.
    assert telling < 0 < misleading
    assert idle == pytest.approx(0.0)


def test_a_sentence_that_is_not_there_has_no_part_in_the_loss() -> None:
    torch.manual_seed(0)
    logits = torch.zeros(2, 3, 2, requires_grad=True)
    present = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    short = replace(OAK, candidates=(TELLING,), relevance=(0.9,), gold=(True,))
    feedback_loss(logits, present, [OAK, short], verify).backward()
    assert logits.grad is not None
    assert logits.grad[1, 1:].abs().max() == 0
    assert logits.grad[1, 0].abs().min() > 0


PAGES = {
    "Pier": ["The pier is long.", "The pier is made of oak."],
    "Lamp": ["The lamp is red."],
    "Boat": ["The boat is blue."],
}


def examples_of(folder: Path, claim: AnnotatedClaim, candidates: int) -> list[SelectionExample]:
    pool = pool_of(PAGES, WordEncoder(), folder)
    data = TrainingData([claim], [], [], [], pool, pool, 0, {})

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


def test_an_undecided_claim_has_no_gold_evidence_and_is_read_without_sentences(
    tmp_path: Path,
) -> None:
    claim = AnnotatedClaim("The pier is old.", NOT_ENOUGH_INFO, ())
    (example,) = examples_of(tmp_path, claim, candidates=2)
    assert example.gold == (False, False)
    assert example.attained == 1.0
