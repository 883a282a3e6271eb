from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from research.training.evidence_sets import EvidenceSet
from research.training.loop import Hyperparameters, train
from research.training.networks.minilm import row_tokenizer
from research.training.networks.proof import packaged_proof_network
from research.training.proofs import ProofExample
from research.training.prover import network_from_relevance_model, network_opinions, proof_loss
from research.training.prover_figures import (
    DevSets,
    Opinion,
    fitted_cutoff,
    fitted_temperature,
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

pytestmark = pytest.mark.models

RELEVANCE_MODEL = CHECKOUT / "models" / "relevance"
RECIPE = Hyperparameters(
    epochs=4,
    batch_size=2,
    learning_rate=2e-4,
    weight_decay=0.01,
    warmup=0.1,
    max_tokens=48,
    seed=0,
)
CLAIM = "The pier was opened in 1941."
SPANS = ((0, 8), (9, 19), (20, 27))
TOLD = "Pier : The pier was opened in 1931."
EXAMPLES = [
    # "The pier", "opened" and "1931" of the evidence.
    ProofExample(CLAIM, SPANS, TOLD, (0, 0, 2), ((7, 15), (20, 26), (30, 34))),
    ProofExample(CLAIM, SPANS, "Lamp : The lamp is red.", (3, 3, 3), (None, None, None)),
    ProofExample(CLAIM, SPANS, "Pier : The pier is long.", (0, 3, 3), ((7, 15), None, None)),
]


def test_it_learns_from_a_few_proofs(tmp_path: Path) -> None:
    network, tokenizer = network_from_relevance_model(RELEVANCE_MODEL), row_tokenizer(64)
    loss_of = proof_loss(network, tokenizer, RECIPE.max_tokens)
    with torch.inference_mode():
        before = float(loss_of(EXAMPLES))
    train(network, EXAMPLES, loss_of, RECIPE, tmp_path, lambda network: {})
    with torch.inference_mode():
        after = float(loss_of(EXAMPLES))
    assert after < before - 0.3


def test_it_starts_with_what_the_relevance_model_learnt_and_leaves_words_as_they_are() -> None:
    network, packaged = network_from_relevance_model(RELEVANCE_MODEL), packaged_proof_network()
    started, base = dict(network.named_parameters()), dict(packaged.named_parameters())
    layer = "distilbert.transformer.layer.5.ffn.lin1.weight"
    words = "distilbert.embeddings.word_embeddings.weight"
    assert not torch.equal(started[layer], base[layer])
    assert torch.equal(started[words], base[words])
    assert not started[words].requires_grad
    assert started[layer].requires_grad


def test_what_is_cut_off_at_the_end_of_the_evidence_is_not_pointed_at() -> None:
    network, tokenizer = network_from_relevance_model(RELEVANCE_MODEL), row_tokenizer(64)
    last = replace(EXAMPLES[0], aligned=(None, None, (30, 34)))
    unknown = replace(EXAMPLES[0], aligned=(None, None, None))
    # Claim and marks take 11 tokens, and 5 are left for "pier : the pier was".
    loss_of = proof_loss(network, tokenizer, 16)
    with torch.inference_mode():
        assert loss_of([last]) == loss_of([unknown])
        assert loss_of([EXAMPLES[0]]) > loss_of([unknown])


def test_opinions_come_in_the_order_of_the_sets() -> None:
    network, tokenizer = network_from_relevance_model(RELEVANCE_MODEL), row_tokenizer(64)
    sentence = ("Pier", "The pier was opened in 1931.")
    long = EvidenceSet(CLAIM, REFUTES, (sentence, sentence), (0,))
    short = EvidenceSet("The pier is old.", SUPPORTS, (sentence,), (0,))
    both = DevSets([long, short], [SPANS, ((0, 8), (9, 15))])
    opinions = network_opinions(network, tokenizer, both, 64)
    assert [opinion.shape for opinion in opinions] == [(3, 4), (2, 4)]
    assert np.allclose(np.concatenate(opinions).sum(axis=1), 1, atol=1e-5)


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


def test_the_cutoff_parts_sets_that_suffice_from_those_that_do_not() -> None:
    dev = DevSets(DEV.sets[2:4], DEV.spans[2:4])
    # 0.6 suffices, 0.9 does not: the least cutoff between them.
    assert fitted_cutoff(OPINIONS[2:4], dev) == 0.65


def test_opinions_that_are_surer_than_they_are_right_are_cooled_down() -> None:
    assert fitted_temperature(OPINIONS, DEV) > 1
    right = DevSets(DEV.sets[:2], DEV.spans[:2])
    assert fitted_temperature(OPINIONS[:2], right) == 0.5
    hot = scaled(OPINIONS[0], 0.5)
    # 0.9 and three times 1/30, squared: 0.81 of 0.81 + 3 / 900.
    assert hot[0, 0] == pytest.approx(0.81 / (0.81 + 3 / 900))
