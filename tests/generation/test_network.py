from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest
import torch

from retrieval.errors import ModelUnavailable
from retrieval.generation.decoding import generate
from retrieval.generation.inputs import IDENTIFIERS, MARKUP, input_tokens
from retrieval.generation.minilm import MiniLMTitleModel, NetworkReading
from retrieval.generation.network import TitleNetwork, packaged_title_network
from retrieval.titles.title_tokenizer import TitleTokenizer
from retrieval.titles.title_trie import TitleTrie
from retrieval.trained.delta import save_delta

pytestmark = pytest.mark.models

CLAIM = "The lamp was made by an engineer."
SENTENCES = [("Lamp", "It was made in Oslo by Ann Lee."), ("Pier", "It is long.")]
TITLES = ["Ann Lee", "Ann Lee (singer)", "Oslo", "Lamp", "Pier"]


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


def test_untrained_it_goes_on_as_its_input_does(
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


def shipped(network: TitleNetwork, folder: Path) -> MiniLMTitleModel:
    digest = save_delta(network, packaged_title_network(), folder / "delta.safetensors", rank=2)
    config = {"name": "MiniLM titles", "version": "7", "max_tokens": 64, "sha256": digest}
    (folder / "config.json").write_text(json.dumps(config))
    return MiniLMTitleModel(folder)


def test_a_model_is_shipped_as_its_difference_and_its_decoder(
    tmp_path: Path, tokenizer: TitleTokenizer
) -> None:
    trained = packaged_title_network().train(False)
    with torch.no_grad():
        trained.output_bias[MARKUP.title_begin] = 3.0
        trained.distilbert.transformer.layer[0].ffn.lin1.weight += 0.01  # of rank one
    model = shipped(trained, tmp_path)
    model.warm_up()
    assert model.version == "MiniLM titles 7"
    assert (tmp_path / "delta.safetensors").stat().st_size < 14e6
    tokens = input_tokens(tokenizer, CLAIM, SENTENCES, 64)
    network, _ = model._loaded()
    # A copy, since other models look their words up in the same embeddings.
    loaded = NetworkReading(deepcopy(network).float(), tokens).next_tokens([()])
    assert loaded[0] == pytest.approx(NetworkReading(trained, tokens).next_tokens([()])[0], abs=0.1)
    fresh = NetworkReading(packaged_title_network(), tokens).next_tokens([()])
    begin = MARKUP.title_begin
    assert loaded[0, begin] > fresh[0, begin] + 1


def test_a_shipped_model_generates_titles_that_exist(
    tmp_path: Path, network: TitleNetwork, tokenizer: TitleTokenizer
) -> None:
    model = shipped(network, tmp_path)
    tokens = tokenizer.tokens(TITLES)
    trie = TitleTrie.of(tokens, TITLES)
    found = generate(model.read(CLAIM, SENTENCES), model.markup, trie, beams=20)
    assert {document.document_id for document in found} == set(TITLES)
    probabilities = [document.probability for document in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1.001


def test_a_folder_without_a_model_is_refused_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="is missing or damaged"):
        MiniLMTitleModel(tmp_path)
