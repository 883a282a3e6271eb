from __future__ import annotations

from pathlib import Path

from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.corpora.corpus import Page
from tests.research.training.pages import pool_of
from tests.retrieval.index.pages import ListCorpus
from tests.support.encoders import WordEncoder

SPLIT = Page("Pier", "Pier", None, "Oak. Iron.", ("The pier is long.", "", "It is made of oak."))
EMPTY = Page("Empty", "Empty", None, "")
WHOLE = Page("Ida_Holm", "Ida Holm", None, "Ida Holm was an engineer. She kept bees.")
LAST = Page("Boat", "Boat", None, "The boat is blue.")


def test_pages_are_split_by_their_source_or_else_as_an_index_splits_them(tmp_path: Path) -> None:
    corpus = ListCorpus((WHOLE, EMPTY, SPLIT, LAST))
    pool = SentencePool(corpus, WordEncoder(), tmp_path)
    assert pool.sentences == [
        PoolSentence("Ida_Holm", 0, "Ida Holm", "Ida Holm was an engineer."),
        PoolSentence("Ida_Holm", 1, "Ida Holm", "She kept bees."),
        PoolSentence("Pier", 0, "Pier", "The pier is long."),
        PoolSentence("Pier", 2, "Pier", "It is made of oak."),
        PoolSentence("Boat", 0, "Boat", "The boat is blue."),
    ]
    assert pool.by_page == {"Ida_Holm": [0, 1], "Pier": [2, 3], "Boat": [4]}
    assert pool.position["Pier", 2] == 3


def test_a_pool_without_some_pages_finds_what_is_left(tmp_path: Path) -> None:
    pages = {"Pier": ["The pier is long."], "Boat": ["The boat is blue."], "Lamp": ["A blue lamp."]}
    pool = pool_of(pages, WordEncoder(), tmp_path)
    (found,) = pool.nearest(["The blue boat."], 2)
    assert [pool.sentences[i].page for i in found] == ["Boat", "Lamp"]
    rest = pool.without({"Boat"})
    (found,) = rest.nearest(["The blue boat."], 2)
    assert [rest.sentences[i].page for i in found] == ["Lamp", "Pier"]
