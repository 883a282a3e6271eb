"""The title model: its examples, its network and its searches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from research.evaluation.claims import FeverClaim
from research.training.data import TrainingData
from research.training.loop import Hyperparameters, switch_off_dropout, train
from research.training.networks.titles import NetworkReading, TitleNetwork, packaged_title_network
from research.training.title_examples import TitleExample
from research.training.titles import (
    PoolTitles,
    TitleSearch,
    generated,
    target_tokens,
    title_loss,
    title_searches,
)
from retrieval.models.papers.decoding import Reading
from retrieval.models.papers.title_generator import IDENTIFIERS, MARKUP, POSITIONS, input_tokens
from retrieval.models.title_trie import TitleTokenizer
from retrieval.types import SUPPORTS
from tests.research.training.pages import data_of, pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Red_Lamp": ["Red Lamp is a lighthouse .", "It was designed by Ann Lee in Oslo ."],
    "Ann_Lee": ["Ann Lee is a Scottish engineer ."],
    "Ann_Lee_-LRB-song-RRB-": ["Ann Lee is a song ."],
    "Oslo": ["Oslo is a city ."],
    "Old_Pier": ["Old Pier was designed by nobody ."],
}


CLAIM = "Red Lamp was designed by a Scot."
SEARCH_GOLD = ((("Red_Lamp", 1), ("Ann_Lee", 0)),)


@pytest.fixture
def data(tmp_path: Path) -> TrainingData:
    pool = pool_of(PAGES, WordEncoder(), tmp_path)
    dev = [FeverClaim(CLAIM, SUPPORTS, SEARCH_GOLD, 1, "dev, line 1")]
    return data_of(pool, dev=dev)


def test_sentences_come_before_the_title_that_is_between_markup() -> None:
    begin, end = MARKUP.title_begin, MARKUP.title_end
    assert target_tokens((1, 3), [500, 501]) == [
        IDENTIFIERS[1],
        IDENTIFIERS[3],
        begin,
        500,
        501,
        end,
    ]
    assert len(target_tokens((0,), list(range(1000, 1200)))) == POSITIONS


def test_a_dev_claim_looks_for_the_page_that_it_does_not_name(data: TrainingData) -> None:
    (search,) = title_searches(data)  # from Ann Lee to the lamp is no search: the claim names it
    assert (search.claim, search.page) == (CLAIM, "Ann_Lee")
    assert search.sentences[0].text == "It was designed by Ann Lee in Oslo."
    assert len(search.sentences) <= 5
    assert "Ann_Lee" not in search.seen
    assert "Red_Lamp" in search.seen


LESSONS = [
    TitleExample(
        "Red Lamp was designed by a Scot.",
        (("Old Pier", "It is long."), ("Red Lamp", "It was designed by Ann Lee in Oslo.")),
        (1,),
        "Ann Lee",
    ),
    TitleExample(
        "Red Lamp was designed in a city.",
        (("Red Lamp", "It was designed by Ann Lee in Oslo."), ("Old Pier", "It is long.")),
        (0,),
        "Oslo",
    ),
]


@pytest.mark.models
def test_a_network_learns_to_copy_the_titles_that_sentences_lead_to(
    data: TrainingData, tmp_path: Path
) -> None:
    tokenizer, network = TitleTokenizer(), packaged_title_network()
    network.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(network)
    before = network.embedding.weight.clone()
    recipe = Hyperparameters(
        batch_size=2, learning_rate=1e-3, weight_decay=0.0, warmup=0.1, max_tokens=64
    )
    loss_of = title_loss(network, tokenizer, recipe.max_tokens)
    start = loss_of(LESSONS).item()
    train(network, LESSONS * 40, loss_of, recipe, tmp_path / "run", dict)
    assert loss_of(LESSONS).item() < start / 10
    assert torch.equal(network.embedding.weight, before)

    def read(claim: str, sentences: Sequence[tuple[str, str]]) -> Reading:
        return NetworkReading(network, input_tokens(tokenizer, claim, sentences, 64))

    titles = PoolTitles(data.dev_pool)
    position = data.dev_pool.position
    for lesson, page in zip(LESSONS, ("Ann_Lee", "Oslo"), strict=True):
        keys = {"Red Lamp": ("Red_Lamp", 1), "Old Pier": ("Old_Pier", 0)}
        told = tuple(data.dev_pool.sentences[position[keys[t]]] for t, _ in lesson.sentences)
        search = TitleSearch(lesson.claim, told, page)
        # Which of the two a claim is about takes more lessons than these.
        assert page in generated(read, titles.titles(), search)[:2]
        # Among two named titles the right one is found as well.
        assert page in generated(read, titles.of([]), search, titles.of(["Ann_Lee", "Oslo"]))


MADE = "The lamp was made by an engineer."
LAMP_AND_PIER = [("Lamp", "It was made in Oslo by Ann Lee."), ("Pier", "It is long.")]


@pytest.fixture(scope="module")
def network() -> TitleNetwork:
    return packaged_title_network().train(False)


@pytest.fixture(scope="module")
def tokenizer() -> TitleTokenizer:
    return TitleTokenizer()


@pytest.mark.models
def test_the_probability_of_a_sequence_is_that_of_its_steps(
    network: TitleNetwork, tokenizer: TitleTokenizer
) -> None:
    inputs = [
        input_tokens(tokenizer, MADE, LAMP_AND_PIER, 64),
        input_tokens(tokenizer, MADE, LAMP_AND_PIER[:1], 64),
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
