from __future__ import annotations

import numpy as np
import pytest
import torch

from research.training.networks.joint import JointReader, joint_inputs, usefulness
from research.training.networks.minilm import row_tokenizer, trained_classifier
from retrieval.models.shipped import RELEVANCE_MODEL

pytestmark = pytest.mark.models

CLAIM = "The Skerrow Light was designed by Ann Lee."
TALL = ("Skerrow Light", "It is tall.")
CITY = ("Dundee", "It is a city in Scotland.")


def test_claims_with_fewer_sentences_are_padded() -> None:
    inputs = joint_inputs(
        row_tokenizer(512), [CLAIM, CLAIM], [[TALL, CITY], [CITY]], [[0.5, 0.9], [0.0]], 512
    )
    assert inputs.input_ids.shape[1] % 8 == 0
    assert inputs.present.tolist() == [[True, True], [True, False]]
    # log(0.5 / 0.5), log(0.9 / 0.1); 0 counts as 0.005: log(0.005 / 0.995)
    assert np.allclose(inputs.log_odds[0], [0.0, 2.1972], atol=1e-4)
    assert np.allclose(inputs.log_odds[1, 0], -5.2933, atol=1e-4)


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
