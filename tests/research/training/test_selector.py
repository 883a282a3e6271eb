"""The selector: its examples, its losses and its networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.figures import probabilities
from research.training.networks.joint import JointReader, joint_inputs, usefulness
from research.training.networks.masked import MaskedVerifier, masked_inputs
from research.training.networks.minilm import pair_tokenizer, row_tokenizer, trained_classifier
from research.training.selection_examples import SelectionExample, selection_examples
from research.training.utility_feedback import evidence_classification, utility_divergence
from retrieval.models.shipped import RELEVANCE_MODEL
from retrieval.text.context import evidence_set_text
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


def test_the_classification_is_the_cross_entropy_of_all_candidates() -> None:
    logits = torch.zeros(1, 3, 2, requires_grad=True)
    loss = evidence_classification(logits, PRESENT, [OAK])
    loss.backward()
    assert loss.item() == pytest.approx(3 * math.log(2))
    assert logits.grad is not None
    assert logits.grad[0, :, 1].tolist() == pytest.approx([-0.5, 0.5, 0.5])


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


CLAIM = "The Skerrow Light was designed by Ann Lee."
TALL = ("Skerrow Light", "It is tall.")
CITY = ("Dundee", "It is a city in Scotland.")


@pytest.mark.models
def test_a_sentence_is_the_mean_of_its_tokens_from_its_cls_to_the_next() -> None:
    tokenizer = row_tokenizer(512)
    inputs = joint_inputs(tokenizer, [CLAIM], [[TALL, CITY]], [[0.5, 0.9]], 512)
    begins = (inputs.input_ids[0] == tokenizer.begin).nonzero()[:, 0].tolist()
    _, tall, city = begins  # the first one begins the claim
    end = int(inputs.attention_mask[0].sum())
    for sentence, (start, stop) in enumerate([(tall, city), (city, end)]):
        read = inputs.means[0, sentence].nonzero()[:, 0].tolist()
        assert read == list(range(start, stop))
        assert inputs.means[0, sentence].sum().item() == pytest.approx(1.0)


@pytest.mark.models
def test_the_result_for_a_claim_does_not_depend_on_a_longer_one_in_its_batch() -> None:
    network = JointReader(trained_classifier(RELEVANCE_MODEL)).train(False)
    with torch.no_grad():
        network.classifier.weight[1] = torch.linspace(-1, 1, 384)
    alone = usefulness(network, row_tokenizer(512), CLAIM, [CITY], [0.3], 512)
    inputs = joint_inputs(
        row_tokenizer(512), [CLAIM, CLAIM], [[TALL, CITY], [CITY]], [[0.5, 0.9], [0.3]], 512
    )
    with torch.inference_mode():
        together = torch.softmax(network(inputs), dim=-1)[1, 0, 1]
    assert alone == pytest.approx([float(together)], abs=1e-4)


DESIGNED_BY = "The Skerrow Light was designed by Ann Lee."
DESIGNED = ("Skerrow Light", "It was designed by Ann Lee.")
OTHER = ("Skerrow Light", "It was designed by Tom Orr and not by Ann Lee.")
THREE = [CITY, DESIGNED, OTHER]


def masked_verifier() -> MaskedVerifier:
    return MaskedVerifier(trained_classifier(RELEVANCE_MODEL), temperature=1.0)


@pytest.mark.models
@pytest.mark.parametrize("selected", [[1], [2], [0, 1], [1, 2], [0, 1, 2]])
def test_it_reads_the_same_as_if_it_were_given_the_selected_sentences_alone(
    selected: list[int],
) -> None:
    gates = torch.zeros(1, 3)
    gates[0, selected] = 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        masked = masked_verifier()(masked_inputs(row_tokenizer(512), [DESIGNED_BY], [THREE]), gates)
    text = evidence_set_text([THREE[i] for i in selected])
    alone = probabilities(
        trained_classifier(RELEVANCE_MODEL), pair_tokenizer(), [(DESIGNED_BY, text)], 512
    )
    assert masked[0].tolist() == pytest.approx(alone[0].tolist(), abs=0.02)  # bfloat16


@pytest.mark.models
def test_the_gradient_is_the_effect_of_a_little_less_attention_and_stops_at_the_weights() -> None:
    read, inputs = masked_verifier(), masked_inputs(row_tokenizer(512), [DESIGNED_BY], [THREE])
    gates = torch.tensor([[0.0, 1.0, 1.0]], requires_grad=True)
    supports = read(inputs, gates)[0, 0]
    supports.backward()
    assert gates.grad is not None
    for sentence in (1, 2):
        less = gates.detach().clone()
        less[0, sentence] -= 0.01
        effect = (supports - read(inputs, less)[0, 0]).item() / 0.01
        assert gates.grad[0, sentence].item() == pytest.approx(effect, rel=0.05, abs=1e-3)
    assert all(weight.grad is None for weight in read.parameters())
