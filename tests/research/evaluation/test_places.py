"""Annotated sentences in documents that the index cuts in another way."""

from __future__ import annotations

import pytest

from research.evaluation.claims import SentenceKey
from research.evaluation.corpus_claims import CorpusClaim
from research.evaluation.over_corpus import Places
from retrieval import types
from retrieval.corpora.corpus import Page
from retrieval.types import SUPPORTS, Retrieved
from tests.retrieval.index.in_memory_store import InMemoryStore

LAMP = Page("Lamp", "Lamp", None, "The lamp is red. It hums; it is old.")
LONG = ("The lamp is red. It hums;",)  # as another program would cut it


def covered(texts: tuple[str, ...], *passages: tuple[str, int]) -> list[frozenset[SentenceKey]]:
    claim = CorpusClaim("The lamp hums.", SUPPORTS, ((("Lamp", 0),),), "plain", (texts,), None)
    retrieved = Retrieved(
        (("Lamp", ("text", "title")),), tuple(types.SentenceKey(*key) for key in passages)
    )
    search = Places(InMemoryStore([LAMP], None)).search(claim, retrieved, {"total": 1.0})
    assert search.documents == (("Lamp", "title"),)
    return [passage.covers for passage in search.passages]


def test_a_passage_covers_the_annotated_text_that_it_overlaps() -> None:
    both = [frozenset({("Lamp", 0)})] * 2
    assert covered(LONG, ("Lamp", 0), ("Lamp", 1)) == both
    assert covered(("It is old.",), ("Lamp", 0)) == both[:1]


@pytest.mark.parametrize("texts", [("it is old.",), ("It hums; it is old.",)])
def test_where_the_text_stands_decides_and_not_its_number(texts: tuple[str, ...]) -> None:
    nothing: frozenset[SentenceKey] = frozenset()
    assert covered(texts, ("Lamp", 0), ("Lamp", 1)) == [nothing, frozenset({("Lamp", 0)})]
