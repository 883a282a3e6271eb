from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from research.evaluation.claims import FeverClaim
from research.training.data import TrainingData
from research.training.loop import Hyperparameters, switch_off_dropout, train
from research.training.networks.titles import NetworkReading, packaged_title_network
from research.training.title_examples import TitleExample
from research.training.titles import (
    PoolTitles,
    TitleSearch,
    generated,
    mentioned,
    search_figures,
    target_tokens,
    title_loss,
    title_searches,
)
from retrieval.models.papers.decoding import Reading
from retrieval.models.papers.title_generator import IDENTIFIERS, MARKUP, POSITIONS, input_tokens
from retrieval.models.title_trie import TitleTokenizer
from retrieval.stages.find.next import MentionExpander
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


def test_titles_in_the_sentences_are_found_by_looking_them_up(data: TrainingData) -> None:
    (search,) = title_searches(data)
    alone = replace(search, sentences=search.sentences[:1])
    expander = MentionExpander(PoolTitles(data.dev_pool), leads=5, limit=10)  # type: ignore[arg-type]
    assert mentioned(expander, alone) == ["Ann_Lee", "Ann_Lee_-LRB-song-RRB-", "Oslo"]


def test_searches_are_counted_by_the_rank_of_their_page() -> None:
    def find(search: TitleSearch) -> list[str]:
        return [f"Page {n}" for n in range(20)]

    pages = ["Page 0", "Page 4", "Page 5", "Page 9", "Page 10", "Page 99"]
    figures = search_figures(find, [TitleSearch("A claim.", (), page) for page in pages])
    assert figures == {
        "first": pytest.approx(100 / 6),
        "first_five": pytest.approx(200 / 6),
        "first_ten": pytest.approx(400 / 6),
    }


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
        epochs=1,
        batch_size=2,
        learning_rate=1e-3,
        weight_decay=0.0,
        warmup=0.1,
        max_tokens=64,
        seed=0,
    )
    loss_of = title_loss(network, tokenizer, recipe.max_tokens)
    start = loss_of(LESSONS).item()
    train(network, LESSONS * 40, loss_of, recipe, tmp_path / "run", lambda _: {})
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
