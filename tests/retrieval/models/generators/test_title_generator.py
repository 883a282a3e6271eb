from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from research.training.networks.delta import save_delta
from research.training.networks.titles import NetworkReading, TitleNetwork, packaged_title_network
from retrieval.errors import ModelUnavailable
from retrieval.models.papers.decoding import documents_alone, generate
from retrieval.models.papers.title_generator import MARKUP, MiniLMTitleModel, input_tokens
from retrieval.models.title_trie import TitleTokenizer, TitleTrie

pytestmark = pytest.mark.models

CLAIM = "The lamp was made by an engineer."
SENTENCES = [("Lamp", "It was made in Oslo by Ann Lee."), ("Pier", "It is long.")]
TITLES = ["Ann Lee", "Ann Lee (singer)", "Oslo", "Lamp", "Pier"]


@pytest.fixture(scope="module")
def tokenizer() -> TitleTokenizer:
    return TitleTokenizer()


@pytest.fixture(scope="module")
def fresh() -> TitleNetwork:
    return packaged_title_network().train(False)


@pytest.fixture(scope="module")
def trained() -> TitleNetwork:
    trained = packaged_title_network().train(False)
    with torch.no_grad():
        trained.output_bias[MARKUP.title_begin] = 3.0
        trained.distilbert.transformer.layer[0].ffn.lin1.weight += 0.01  # of rank one
    return trained


@pytest.fixture(scope="module")
def shipped(
    tmp_path_factory: pytest.TempPathFactory, trained: TitleNetwork, fresh: TitleNetwork
) -> Path:
    """The folder of the trained model."""
    folder = tmp_path_factory.mktemp("titles")
    digest = save_delta(trained, fresh, folder / "delta.safetensors", rank=2)
    config = {"name": "MiniLM titles", "version": "7", "max_tokens": 64, "sha256": digest}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def model(shipped: Path) -> MiniLMTitleModel:
    return MiniLMTitleModel(shipped)


def test_a_model_is_shipped_as_its_difference_and_its_decoder(
    shipped: Path,
    model: MiniLMTitleModel,
    trained: TitleNetwork,
    fresh: TitleNetwork,
    tokenizer: TitleTokenizer,
) -> None:
    model.warm_up()
    assert model.version == "MiniLM titles 7"
    assert (shipped / "delta.safetensors").stat().st_size < 14e6
    tokens = input_tokens(tokenizer, CLAIM, SENTENCES, 64)
    loaded = model.read(CLAIM, SENTENCES).next_tokens([()])
    expected = NetworkReading(trained, tokens).next_tokens([()])
    likely = expected[0] > -20  # what is as good as impossible is rounded anyhow
    assert likely.mean() > 0.9
    assert loaded[0][likely] == pytest.approx(expected[0][likely], abs=0.1)
    before = NetworkReading(fresh, tokens).next_tokens([()])
    begin = MARKUP.title_begin
    assert loaded[0, begin] > before[0, begin] + 1


def test_a_shipped_model_generates_titles_that_exist(
    model: MiniLMTitleModel, tokenizer: TitleTokenizer
) -> None:
    tokens = tokenizer.tokens(TITLES)
    trie = TitleTrie.of(tokens, TITLES)
    sources = ("about Lamp", "about Pier")
    reading = model.read(CLAIM, SENTENCES)
    found = documents_alone(generate(reading, model.markup, trie, 20, sources))
    assert {document.documents for document in found} == {(title,) for title in TITLES}
    probabilities = [document.probability for document in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1.001


def test_a_folder_without_a_model_is_refused_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="is missing or damaged"):
        MiniLMTitleModel(tmp_path)
