"""The prover: its network, what it learns, and its figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from research.training.evidence_sets import EvidenceSet
from research.training.loop import Hyperparameters, train
from research.training.networks.encoders import row_tokenizer
from research.training.proofs import ProofExample
from research.training.prover import (
    DevSets,
    Opinion,
    fitted_cutoff,
    fitted_temperature,
    network_from_relevance_model,
    proof_loss,
    scaled,
    sufficiency_figures,
)
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    OPERATORS,
    REFUTES,
    SUPPORTS,
    Label,
    Operator,
)
from settings import CHECKOUT

RELEVANCE_MODEL = CHECKOUT / "models" / "relevance"
RECIPE = Hyperparameters(epochs=4, batch_size=2, learning_rate=2e-4, warmup=0.1, max_tokens=48)


CLAIM = "The pier was opened in 1941."
SPANS = ((0, 8), (9, 19), (20, 27))
TOLD = "Pier : The pier was opened in 1931."
EXAMPLES = [
    # "The pier", "opened" and "1931" of the evidence.
    ProofExample(CLAIM, SPANS, TOLD, (0, 0, 2), ((7, 15), (20, 26), (30, 34))),
    ProofExample(CLAIM, SPANS, "Lamp : The lamp is red.", (3, 3, 3), (None, None, None)),
    ProofExample(CLAIM, SPANS, "Pier : The pier is long.", (0, 3, 3), ((7, 15), None, None)),
]


@pytest.mark.models
def test_it_learns_from_a_few_proofs(tmp_path: Path) -> None:
    network, tokenizer = network_from_relevance_model(RELEVANCE_MODEL), row_tokenizer(64)
    loss_of = proof_loss(network, tokenizer, RECIPE.max_tokens)
    with torch.inference_mode():
        before = float(loss_of(EXAMPLES))
    train(network, EXAMPLES, loss_of, RECIPE, tmp_path, dict)
    with torch.inference_mode():
        after = float(loss_of(EXAMPLES))
    assert after < before - 0.3


def opinion(*spans: tuple[Operator, float]) -> Opinion:
    """Spans with their most probable operator and its probability; the rest is shared."""
    return np.array(
        [
            [probability if known == operator else (1 - probability) / 3 for known in OPERATORS]
            for operator, probability in spans
        ],
        dtype=np.float32,
    )


def one_set(label: Label, two_pages: bool = False) -> EvidenceSet:
    return EvidenceSet(CLAIM, label, (("Pier", "It is old."),), (0,), two_pages=two_pages)


DEV = DevSets(
    [
        one_set(SUPPORTS, two_pages=True),
        one_set(REFUTES),
        one_set(SUPPORTS),
        one_set(NOT_ENOUGH_INFO, two_pages=True),
        one_set(NOT_ENOUGH_INFO, two_pages=True),
    ],
    [((0, 8), (9, 19))] * 5,
)


OPINIONS = [
    opinion((EQUIVALENCE, 0.9), (EQUIVALENCE, 0.8)),
    opinion((EQUIVALENCE, 0.9), (ALTERNATION, 0.7)),
    opinion((EQUIVALENCE, 0.9), (INDEPENDENCE, 0.6)),  # wrongly open
    opinion((INDEPENDENCE, 0.9), (EQUIVALENCE, 0.7)),
    opinion((EQUIVALENCE, 0.7), (ALTERNATION, 0.7)),  # wrongly told to suffice
]


@pytest.mark.models
def test_figures_of_five_sets() -> None:
    assert sufficiency_figures(OPINIONS, DEV, cutoff=0.5) == pytest.approx(
        {
            "balanced": 100 * (2 / 3 + 1 / 2) / 2,
            "open_precision": 50.0,
            "open_recall": 50.0,
            "two_pages": 100 * (1 + 1 / 2) / 2,
            "label": 100 * 2 / 3,
        }
    )


@pytest.mark.models
def test_the_cutoff_parts_sets_that_suffice_from_those_that_do_not() -> None:
    dev = DevSets(DEV.sets[2:4], DEV.spans[2:4])
    # 0.6 suffices, 0.9 does not: the least cutoff between them.
    assert fitted_cutoff(OPINIONS[2:4], dev) == 0.65


@pytest.mark.models
def test_opinions_that_are_surer_than_they_are_right_are_cooled_down() -> None:
    assert fitted_temperature(OPINIONS, DEV) > 1
    right = DevSets(DEV.sets[:2], DEV.spans[:2])
    assert fitted_temperature(OPINIONS[:2], right) == 0.5
    hot = scaled(OPINIONS[0], 0.5)
    # 0.9 and three times 1/30, squared: 0.81 of 0.81 + 3 / 900.
    assert hot[0, 0] == pytest.approx(0.81 / (0.81 + 3 / 900))
