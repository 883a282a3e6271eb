from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.claims import PageClaim
from research.training.dense import (
    JointNetwork,
    contrastive_loss,
    joint_loss,
    likely_evidence,
    page_claim_vectors,
    pool_vectors,
)
from research.training.dense_examples import DenseExample
from research.training.loop import Hyperparameters, train
from research.training.networks.minilm import row_tokenizer
from research.training.networks.query import packaged_query_network
from retrieval.models.encoders import MiniLMEncoder
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Elm_Pier": ["Elm Pier is a pier of oak .", "It burnt down in a storm ."],
    "Ash_Lamp": ["Ash Lamp is a lamp on Elm Pier ."],
}


def logs(*rows: list[float]) -> torch.Tensor:
    """Scores whose exponentials are these numbers."""
    return torch.tensor(rows).log().requires_grad_()


def test_what_is_wanted_competes_with_all_that_is_neither_wanted_nor_ignored() -> None:
    loss = contrastive_loss(logs([4, 1, 3, 2]), [[0]], [[2]])
    assert loss.item() == pytest.approx(-math.log(4 / (4 + 1 + 2)))


def test_sentences_that_are_wanted_together_do_not_compete_and_count_for_one() -> None:
    loss = contrastive_loss(logs([4, 1, 3, 2]), [[0, 1]], [[]])
    expected = (-math.log(4 / (4 + 3 + 2)) - math.log(1 / (1 + 3 + 2))) / 2
    assert loss.item() == pytest.approx(expected)


def test_the_loss_is_the_mean_over_queries_that_want_something() -> None:
    scores = logs([4, 1, 3, 2], [1, 1, 1, 1], [1, 2, 3, 4])
    loss = contrastive_loss(scores, [[0], [], [3, 2]], [[2], [], []])
    of_third = (-math.log(4 / (4 + 1 + 2)) - math.log(3 / (3 + 1 + 2))) / 2
    assert loss.item() == pytest.approx((-math.log(4 / 7) + of_third) / 2)


def test_an_ignored_sentence_moves_nothing() -> None:
    scores = logs([4, 1, 3, 2])
    contrastive_loss(scores, [[0]], [[2]]).backward()
    assert scores.grad is not None
    # What is wanted: 4/7 - 1; the others: their shares, 1/7 and 2/7.
    assert scores.grad[0].tolist() == pytest.approx([-3 / 7, 1 / 7, 0, 2 / 7])


def test_where_nothing_is_wanted_nothing_is_lost() -> None:
    scores = logs([4, 1], [1, 2])
    loss = contrastive_loss(scores, [[], []], [[], [0]])
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0], [0, 0]]


@pytest.mark.models
def test_the_sentences_of_a_pool_have_the_vectors_of_an_index(tmp_path: Path) -> None:
    pool = pool_of(PAGES, WordEncoder(), tmp_path)
    vectors = pool_vectors(pool, tmp_path)
    burnt, lamp = (pool.position["Elm_Pier", 1], pool.position["Ash_Lamp", 0])
    assert vectors.shape == (3, 384)
    asked = MiniLMEncoder().encode(["Elm Pier burnt down.", "Ash Lamp is a lamp."])
    assert (asked @ vectors.T).argmax(axis=1).tolist() == [burnt, lamp]


@pytest.mark.models
def test_sentences_that_come_with_a_claim_follow_each_other_gold_ones_first(
    tmp_path: Path,
) -> None:
    claims = [
        PageClaim("A claim.", SUPPORTS, "Elm Pier", ("It burnt down.",), ("It is long.",)),
        PageClaim("Another.", REFUTES, "Ash Lamp", ("It is red.",), ()),
    ]
    vectors = page_claim_vectors(claims, tmp_path)
    asked = MiniLMEncoder().encode(["A pier burnt down.", "A pier is long.", "A lamp is red."])
    assert (asked @ vectors.T).argmax(axis=1).tolist() == [0, 1, 2]


class Relevance:
    """Takes sentences about a storm for relevant, and says so of so many pairs."""

    digest = "0" * 64

    def __init__(self) -> None:
        """Nothing was read yet."""
        self.read = 0

    def probabilities(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        """Return what it says."""
        self.read += len(pairs)
        return np.array([(0.3, 0.2, 0.5) if "storm" in e else (0.2, 0.2, 0.6) for _, e in pairs])


def test_sentences_near_a_claim_that_the_relevance_model_takes_for_relevant_are_likely_evidence(
    tmp_path: Path,
) -> None:
    pool = pool_of(PAGES, WordEncoder(), tmp_path)
    decided = AnnotatedClaim("Elm Pier burnt down.", SUPPORTS, ((("Elm_Pier", 0),),))
    claims = [decided, AnnotatedClaim("Elm Pier is new.", NOT_ENOUGH_INFO, ())]
    model = Relevance()
    storm = pool.position["Elm_Pier", 1]
    assert likely_evidence(claims, pool, model, tmp_path, 0.5) == {decided.text: [storm]}
    assert model.read == 3
    # Its opinions are kept: it says .5 of the storm.
    assert likely_evidence(claims, pool, model, tmp_path, 0.6) == {decided.text: []}
    assert model.read == 3


@pytest.mark.models
class TestJointNetwork:
    examples = (
        DenseExample("The pier burnt down.", (), (0,), verdict=(0, LABELS.index(SUPPORTS))),
        DenseExample("The lamp is red.", (("Pier", "It is lit."),), (1,), (2,)),
        DenseExample("The isle is wet.", (), (), verdict=(2, LABELS.index(REFUTES))),
    )
    vectors = torch.nn.functional.normalize(torch.eye(384)[:5] + 0.01, dim=-1)

    @staticmethod
    def network() -> JointNetwork:
        network = JointNetwork(packaged_query_network()).train(False)
        network.query.distilbert.embeddings.requires_grad_(False)
        return network

    def test_both_objectives_are_weighed_thirty_to_one(self) -> None:
        network, tokenizer = self.network(), row_tokenizer(64)
        with torch.no_grad():
            network.classifier.weight.zero_()
            network.classifier.bias.copy_(torch.tensor([2.0, 3.0, 5.0]).log())
        loss_of = joint_loss(network, tokenizer, self.vectors, 64)
        told = loss_of(self.examples)
        untold = loss_of(
            [DenseExample(e.claim, e.path, e.wanted, e.ignored) for e in self.examples]
        )
        # One is told to support (2 of 10), one to refute (3 of 10).
        surprise = -(math.log(0.2) + math.log(0.3)) / 2
        assert (told - untold).item() == pytest.approx(surprise / 30, abs=1e-5)

    def test_the_same_seed_ends_with_the_same_weights_and_learns(self, tmp_path: Path) -> None:
        recipe = Hyperparameters(
            epochs=2,
            batch_size=2,
            learning_rate=1e-4,
            weight_decay=0.01,
            warmup=0.1,
            max_tokens=64,
            seed=1,
        )
        ends = []
        for folder in ("one", "other"):
            network = self.network()
            loss_of = joint_loss(network, row_tokenizer(64), self.vectors, 64)
            before = loss_of(self.examples).item()
            train(network, self.examples, loss_of, recipe, tmp_path / folder, lambda _: {})
            assert loss_of(self.examples).item() < before
            ends.append(network.query.distilbert.transformer.layer[0].ffn.lin1.weight.detach())
        assert torch.equal(*ends)
