"""Sentences are compared with a claim and a path by the vectors of a real index."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.dense.query_encoder import QueryEncoder
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.embedded_index import EmbeddedIndex
from retrieval.models import DENSE
from retrieval.paths.nearness import Nearness
from retrieval.types import SentenceKey

pytestmark = pytest.mark.models

CLAIM = "The designer of Skerrow Light died in Dundee."


@pytest.fixture(scope="module")
def nearness(index: Path) -> Nearness:
    return Nearness(EmbeddedIndex(index).open(MiniLMEncoder.name), QueryEncoder(DENSE))


def test_every_sentence_of_the_documents_has_a_place_and_what_completes_the_path_is_near(
    nearness: Nearness, index: Path
) -> None:
    documents = EmbeddedIndex(index).open(MiniLMEncoder.name).documents(["Ann_Lee", "Lee_(song)"])
    path = [("Skerrow Light", "It was designed by Ann Lee and was first lit in 1871.")]
    (places,) = nearness.orders([(CLAIM, path)], documents)
    assert sorted(places.values()) == [0, 1, 2, 3]  # three sentences of one, one of the other
    assert places[SentenceKey("Ann_Lee", 2)] < places[SentenceKey("Lee_(song)", 0)]


def test_without_queries_nothing_is_asked(nearness: Nearness) -> None:
    assert nearness.orders([], []) == []
