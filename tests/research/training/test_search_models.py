"""The query encoder and the title model: their examples, losses, searches and figures."""

import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, FeverClaim
from research.training import dense
from research.training import titles as title_model
from research.training.data import TrainingData
from research.training.dense_examples import claim_examples
from research.training.loop import Hyperparameters, switch_off_dropout, train
from research.training.networks.titles import NetworkReading, packaged_title_network
from research.training.sentence_pool import SentencePool
from research.training.title_examples import TitleExample
from retrieval.models.encoders import MiniLMEncoder, Query
from retrieval.models.papers.decoding import Reading
from retrieval.models.papers.title_generator import IDENTIFIERS, MARKUP, POSITIONS, input_tokens
from retrieval.models.title_trie import TitleTokenizer
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.training.pages import data_of, pool_of
from tests.support.encoders import WordEncoder
from tests.support.opinions import Says


def test_what_is_wanted_competes_with_all_that_is_neither_wanted_nor_ignored() -> None:
    scores = torch.tensor([[4.0, 1, 3, 2]]).log().requires_grad_()
    loss = dense.contrastive_loss(scores, [[0]], [[2]])
    assert loss.item() == pytest.approx(-math.log(4 / (4 + 1 + 2)))
    both = dense.contrastive_loss(scores, [[0, 1]], [[]])  # they do not compete, and count for one
    expected = (-math.log(4 / (4 + 3 + 2)) - math.log(1 / (1 + 3 + 2))) / 2
    assert both.item() == pytest.approx(expected)


@pytest.mark.models
def test_sentences_of_a_pool_have_vectors_of_an_index(pool: SentencePool, tmp_path: Path) -> None:
    vectors = dense.pool_vectors(pool, tmp_path)
    burnt, lamp = (pool.position["Elm_Pier", 1], pool.position["Ash_Lamp", 0])
    assert vectors.shape == (5, 384)
    asked = MiniLMEncoder().encode(["Elm Pier burnt down.", "Ash Lamp is a lamp."])
    assert (asked @ vectors.T).argmax(axis=1).tolist() == [burnt, lamp]


def test_near_and_relevant_sentences_may_be_evidence(pool: SentencePool, tmp_path: Path) -> None:
    decided = AnnotatedClaim("Elm Pier burnt down.", SUPPORTS, ((("Elm_Pier", 0),),))
    claims = [decided, AnnotatedClaim("Elm Pier is new.", NOT_ENOUGH_INFO, ())]
    model = Says(lambda _, text: (0.3, 0.2, 0.5) if "storm" in text else (0.2, 0.2, 0.6))
    storm = pool.position["Elm_Pier", 1]
    assert dense.likely_evidence(claims, pool, model, tmp_path, 0.5) == {decided.text: [storm]}
    assert len(model.read) == 5
    # Its opinions are kept: it says .5 of the storm.
    assert dense.likely_evidence(claims, pool, model, tmp_path, 0.6) == {decided.text: []}
    assert len(model.read) == 5


# Pages 0 to 9 have three sentences each: rows 0 to 29.
TEN_PAGES = {f"Page_{n}": [f"Page {n} is {k} ." for k in ("long", "red", "old")] for n in range(10)}
LONG = AnnotatedClaim("Page 0 is long.", SUPPORTS, ((("Page_0", 0),),))
BOTH = AnnotatedClaim("Page 1 is red and old.", REFUTES, ((("Page_1", 1), ("Page_1", 2)),))
EITHER = AnnotatedClaim("Page 2.", SUPPORTS, ((("Page_2", 0),), (("Page_3", 0),)))
TWO = AnnotatedClaim("Pages 4 and 5.", SUPPORTS, ((("Page_4", 0), ("Page_5", 1)),))
NOTHING = AnnotatedClaim("Page 6 is far.", NOT_ENOUGH_INFO, ())
UNKNOWN = AnnotatedClaim("Page 77 is long.", SUPPORTS, ((("Page_77", 0),),))


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(TEN_PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


def test_figures_are_of_claims_and_of_steps_both_ways(ten: SentencePool) -> None:
    searches = dense.Searches.of([LONG, BOTH, TWO, NOTHING, UNKNOWN], ten)
    assert searches.claims == [LONG, BOTH]
    assert searches.steps == [
        dense.Step((TWO.text, (("Page 4", "Page 4 is long."),)), lead=12, wanted=16),
        dense.Step((TWO.text, (("Page 5", "Page 5 is red."),)), lead=16, wanted=12),
    ]
    # The figures of three claims and two steps.
    searches = dense.Searches.of([LONG, BOTH, EITHER, TWO], ten)

    def ranked(*first: int) -> NDArray[np.float32]:
        """Scores that put these rows first, in this order, and the rest behind in theirs."""
        order = [*first, *(row for row in range(30) if row not in first)]
        scores = np.empty(30, dtype=np.float32)
        scores[order] = np.arange(30, 0, -1)
        return scores

    answers = {
        (LONG.text, 0): ranked(29, 28, 27, 26, 0),  # fifth; its page is third
        (BOTH.text, 0): ranked(4),  # the first of both is second, the other sixth
        (EITHER.text, 0): ranked(9),  # Page 3's sentence is first, Page 2's seventh
        # Both of the page that is read are passed over, so that it is the fifth.
        (TWO.text, 12): ranked(12, 13, 20, 21, 22, 23, 16),
        (TWO.text, 16): ranked(20, 21, 22, 23, 24, 12),  # the sixth
    }

    def score(queries: Sequence[Query]) -> NDArray[np.float32]:
        leads = {"Page 4": 12, "Page 5": 16}
        return np.array([answers[claim, leads[p[0][0]] if p else 0] for claim, p in queries])

    figures = dense.search_figures(score, searches)
    assert figures["sentences_5"] == pytest.approx(200 / 3)
    assert figures["sentences_20"] == figures["sentences_100"] == 100
    assert figures["pages_5"] == figures["pages_20"] == 100
    assert figures["next_5"] == 50
    assert figures["next_20"] == figures["next_100"] == 100


PAGES = {
    "Elm_Pier": ["Elm Pier is a pier of oak .", "It burnt down in a storm ."],
    "Ash_Lamp": ["Ash Lamp is a lamp on Elm Pier .", "Its light is green and weak today ."],
    "Fir_Boat": ["Fir Boat is a boat of pine ."],
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


def test_a_claim_wants_its_gold_and_ignores_likely_evidence(pool: SentencePool) -> None:
    claim = AnnotatedClaim("Elm Pier is old.", REFUTES, ((("Elm_Pier", 1),), (("Fir_Boat", 0),)))
    ignored = {claim.text: [4, 3, 1], "Another.": [0]}
    (example,) = claim_examples([claim], ignored, pool, random.Random(0))
    assert example.query == ("Elm Pier is old.", ())
    assert (example.wanted, example.ignored) == ((1, 4), (3,))
    refuted = LABELS.index(REFUTES)
    assert example.verdict in {(1, refuted), (4, refuted)}


TITLE_PAGES = {
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
    pool = pool_of(TITLE_PAGES, WordEncoder(), tmp_path)
    dev = [FeverClaim(CLAIM, SUPPORTS, SEARCH_GOLD, 1, "dev, line 1")]
    return data_of(pool, dev=dev)


def test_sentences_come_before_the_title_that_a_claim_does_not_name(data: TrainingData) -> None:
    begin, end = MARKUP.title_begin, MARKUP.title_end
    before = [IDENTIFIERS[1], IDENTIFIERS[3]]
    assert title_model.target_tokens((1, 3), [500, 501]) == [*before, begin, 500, 501, end]
    assert len(title_model.target_tokens((0,), list(range(1000, 1200)))) == POSITIONS
    # A dev claim looks for the page that it does not name.
    (search,) = title_model.title_searches(
        data
    )  # from Ann Lee to the lamp is no search: the claim names it
    assert (search.claim, search.page) == (CLAIM, "Ann_Lee")
    assert search.sentences[0].text == "It was designed by Ann Lee in Oslo."
    assert len(search.sentences) <= 5
    assert "Ann_Lee" not in search.seen
    assert "Red_Lamp" in search.seen


LONG_PIER, BY_LEE = ("Old Pier", "It is long."), ("Red Lamp", "It was designed by Ann Lee in Oslo.")
LESSONS = [
    TitleExample(CLAIM, (LONG_PIER, BY_LEE), (1,), "Ann Lee"),
    TitleExample("Red Lamp was designed in a city.", (BY_LEE, LONG_PIER), (0,), "Oslo"),
]


@pytest.mark.models
@pytest.mark.rare
def test_a_network_learns_where_sentences_lead(data: TrainingData, tmp_path: Path) -> None:
    tokenizer, network = TitleTokenizer(), packaged_title_network()
    network.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(network)
    before = network.embedding.weight.clone()
    rates = {"learning_rate": 1e-3, "weight_decay": 0.0, "warmup": 0.1}
    recipe = Hyperparameters(batch_size=2, max_tokens=64, **rates)
    loss_of = title_model.title_loss(network, tokenizer, recipe.max_tokens)
    start = loss_of(LESSONS).item()
    train(network, LESSONS * 40, loss_of, recipe, tmp_path / "run", dict)
    assert loss_of(LESSONS).item() < start / 10
    assert torch.equal(network.embedding.weight, before)

    def read(claim: str, sentences: Sequence[tuple[str, str]]) -> Reading:
        return NetworkReading(network, input_tokens(tokenizer, claim, sentences, 64))

    titles = title_model.PoolTitles(data.dev_pool)
    position = data.dev_pool.position
    for lesson, page in zip(LESSONS, ("Ann_Lee", "Oslo"), strict=True):
        keys = {"Red Lamp": ("Red_Lamp", 1), "Old Pier": ("Old_Pier", 0)}
        path = tuple(data.dev_pool.sentences[position[keys[t]]] for t, _ in lesson.sentences)
        search = title_model.TitleSearch(lesson.claim, path, page)
        # Which of the two a claim is about takes more lessons than these.
        assert page in title_model.generated(read, titles.titles(), search)[:2]
        # Among two named titles the right one is found as well.
        assert page in title_model.generated(
            read, titles.of([]), search, titles.of(["Ann_Lee", "Oslo"])
        )


@pytest.mark.models
def test_the_probability_of_a_sequence_is_that_of_its_steps() -> None:
    network, tokenizer = packaged_title_network().train(False), TitleTokenizer()
    lamp_and_pier = [("Lamp", "It was made in Oslo by Ann Lee."), ("Pier", "It is long.")]
    inputs = [
        input_tokens(tokenizer, "The lamp was made by an engineer.", sentences, 64)
        for sentences in (lamp_and_pier, lamp_and_pier[:1])
    ]
    title = [MARKUP.title_begin, *tokenizer.tokens(["Ann Lee"])[0], MARKUP.title_end]
    targets = [[IDENTIFIERS[0], IDENTIFIERS[1], *title], [IDENTIFIERS[0], *title]]

    def padded(rows: list[list[int]]) -> torch.Tensor:
        longest = max(map(len, rows))
        return torch.tensor([row + [0] * (longest - len(row)) for row in rows])

    read, wanted = padded(inputs), padded(targets)
    with torch.inference_mode():
        together = network.log_likelihood(network.read(read, (read != 0).long()), wanted)
    assert together[1, -1] == 0  # padding
    for row, target in enumerate(targets):
        reading = NetworkReading(network, inputs[row])
        for place, token in enumerate(target):
            (scores,) = reading.next_tokens([tuple(target[:place])])
            assert float(together[row, place]) == pytest.approx(float(scores[token]), abs=2e-3)
