"""Sentences are compared with a claim and a path by the vectors of a real index."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import MiniLMEncoder, QueryEncoder
from retrieval.models.shipped import DENSE
from retrieval.stages.read.paths import Nearness
from retrieval.types import SentenceKey

pytestmark = pytest.mark.models

CLAIM = "The designer of Skerrow Light died in Dundee."


@pytest.fixture(scope="module")
def nearness(index: Path) -> Nearness:
    return Nearness(EmbeddedIndex(index).open(MiniLMEncoder.name), QueryEncoder(DENSE))


def test_a_sentence_that_completes_the_path_is_near_and_only_requested_sentences_have_ranks(
    nearness: Nearness, index: Path
) -> None:
    documents = EmbeddedIndex(index).open(MiniLMEncoder.name).documents(["Ann_Lee", "Lee_(song)"])
    path = [("Skerrow Light", "It was designed by Ann Lee and was first lit in 1871.")]
    died, song = SentenceKey("Ann_Lee", 2), SentenceKey("Lee_(song)", 0)
    # Two more sentences of Ann Lee are nearer than the song; they take no place from it.
    assert nearness.orders([(CLAIM, path)], documents, {song, died}) == [{died: 0, song: 1}]


def test_without_queries_nothing_is_asked(nearness: Nearness) -> None:
    assert nearness.orders([], [], set()) == []
