from __future__ import annotations

import pytest
import torch

from research.training.networks.titles import NetworkReading, TitleNetwork, packaged_title_network
from retrieval.models.papers.title_generator import IDENTIFIERS, MARKUP, input_tokens
from retrieval.models.title_trie import TitleTokenizer

pytestmark = pytest.mark.models

CLAIM = "The lamp was made by an engineer."
SENTENCES = [("Lamp", "It was made in Oslo by Ann Lee."), ("Pier", "It is long.")]


@pytest.fixture(scope="module")
def network() -> TitleNetwork:
    return packaged_title_network().train(False)


@pytest.fixture(scope="module")
def tokenizer() -> TitleTokenizer:
    return TitleTokenizer()


def test_the_probability_of_a_sequence_is_that_of_its_steps(
    network: TitleNetwork, tokenizer: TitleTokenizer
) -> None:
    inputs = [
        input_tokens(tokenizer, CLAIM, SENTENCES, 64),
        input_tokens(tokenizer, CLAIM, SENTENCES[:1], 64),
    ]
    (title,) = tokenizer.tokens(["Ann Lee"])
    targets = [
        [IDENTIFIERS[0], IDENTIFIERS[1], MARKUP.title_begin, *title, MARKUP.title_end],
        [IDENTIFIERS[0], MARKUP.title_begin, *title, MARKUP.title_end],
    ]
    longest = [max(map(len, inputs)), max(map(len, targets))]
    padded = torch.tensor([row + [0] * (longest[0] - len(row)) for row in inputs])
    wanted = torch.tensor([row + [0] * (longest[1] - len(row)) for row in targets])
    with torch.inference_mode():
        together = network.log_likelihood(network.read(padded, (padded != 0).long()), wanted)
    assert together[1, -1] == 0  # padding
    for row, target in enumerate(targets):
        reading = NetworkReading(network, inputs[row])
        for place, token in enumerate(target):
            (scores,) = reading.next_tokens([tuple(target[:place])])
            assert float(together[row, place]) == pytest.approx(float(scores[token]), abs=2e-3)


def test_beams_that_cross_remember_their_own_prefixes(
    network: TitleNetwork, tokenizer: TitleTokenizer
) -> None:
    tokens = input_tokens(tokenizer, CLAIM, SENTENCES, 64)
    crossing = NetworkReading(network, tokens)
    crossing.next_tokens([()])
    crossing.next_tokens([(2,), (3,)])
    scores = crossing.next_tokens([(3, 10), (2, 3), (3, 11)])
    for row, prefix in zip(scores, [(3, 10), (2, 3), (3, 11)], strict=True):
        alone = NetworkReading(network, tokens)
        alone.next_tokens([()])
        alone.next_tokens([prefix[:1]])
        assert row == pytest.approx(alone.next_tokens([prefix])[0], abs=2e-3)


def test_probabilities_of_all_tokens_sum_to_one(
    network: TitleNetwork, tokenizer: TitleTokenizer
) -> None:
    reading = NetworkReading(network, input_tokens(tokenizer, CLAIM, SENTENCES, 64))
    (scores,) = reading.next_tokens([()])
    assert float(torch.tensor(scores).exp().sum()) == pytest.approx(1, abs=1e-4)


def test_an_untrained_model_copies_its_input(
    network: TitleNetwork, tokenizer: TitleTokenizer
) -> None:
    reading = NetworkReading(network, input_tokens(tokenizer, CLAIM, SENTENCES, 64))
    ann, lee = tokenizer.tokens(["Ann Lee"])[0]
    prefix: tuple[int, ...] = ()
    for token in (IDENTIFIERS[0], MARKUP.title_begin, ann):
        reading.next_tokens([prefix])
        prefix = (*prefix, token)
    (scores,) = reading.next_tokens([prefix])
    assert int(scores.argmax()) == lee
