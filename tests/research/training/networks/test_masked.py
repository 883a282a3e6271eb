from __future__ import annotations

import pytest
import torch

from research.training.figures import probabilities
from research.training.networks.masked import MaskedVerifier, masked_inputs
from research.training.networks.minilm import pair_tokenizer, row_tokenizer, trained_classifier
from retrieval.models.shipped import RELEVANCE_MODEL
from retrieval.models.trained_model import read_config
from retrieval.text.model_texts import evidence_set_text

pytestmark = pytest.mark.models

CLAIM = "The Skerrow Light was designed by Ann Lee."
DESIGNED = ("Skerrow Light", "It was designed by Ann Lee.")
OTHER = ("Skerrow Light", "It was designed by Tom Orr and not by Ann Lee.")
CITY = ("Dundee", "It is a city in Scotland.")
SENTENCES = [CITY, DESIGNED, OTHER]


def verifier() -> MaskedVerifier:
    return MaskedVerifier(trained_classifier(RELEVANCE_MODEL), temperature=1.0)


@pytest.mark.parametrize("selected", [[1], [2], [0, 1], [1, 2], [0, 1, 2]])
def test_it_reads_the_same_as_if_it_were_given_the_selected_sentences_alone(
    selected: list[int],
) -> None:
    gates = torch.zeros(1, 3)
    gates[0, selected] = 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        masked = verifier()(masked_inputs(row_tokenizer(512), [CLAIM], [SENTENCES]), gates)
    text = evidence_set_text([SENTENCES[i] for i in selected])
    alone = probabilities(
        trained_classifier(RELEVANCE_MODEL), pair_tokenizer(), [(CLAIM, text)], 512
    )
    assert masked[0].tolist() == pytest.approx(alone[0].tolist(), abs=0.02)  # bfloat16


def test_a_claim_is_read_without_the_sentences_and_the_padding_of_a_longer_one() -> None:
    read, inputs = verifier(), masked_inputs(row_tokenizer(512), [CLAIM], [[DESIGNED]])
    alone = read(inputs, torch.ones(1, 1))
    inputs = masked_inputs(row_tokenizer(512), [CLAIM, CLAIM], [SENTENCES, [DESIGNED]])
    beside = read(inputs, torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]))
    assert beside[1].tolist() == pytest.approx(alone[0].tolist(), abs=1e-3)


def test_the_gradient_is_the_effect_of_a_little_less_attention_and_stops_at_the_weights() -> None:
    read, inputs = verifier(), masked_inputs(row_tokenizer(512), [CLAIM], [SENTENCES])
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


def test_probabilities_are_calibrated_as_those_of_the_relevance_model() -> None:
    inputs, gates = masked_inputs(row_tokenizer(512), [CLAIM], [[DESIGNED]]), torch.ones(1, 1)
    sharp = verifier()(inputs, gates).log()
    temperature = read_config(RELEVANCE_MODEL)["temperature"]
    flat = MaskedVerifier(trained_classifier(RELEVANCE_MODEL), temperature)(inputs, gates).log()
    # Differences of logits are divided by the temperature.
    assert (sharp[0, 0] - sharp[0, 1]).item() == pytest.approx(
        temperature * (flat[0, 0] - flat[0, 1]).item(), abs=1e-3
    )
