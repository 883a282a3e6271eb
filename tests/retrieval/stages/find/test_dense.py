from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page
from retrieval.models.encoders import MiniLMEncoder, Query
from retrieval.stages.find.dense import DenseSentenceRetriever
from retrieval.types import SentenceKey
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence
from tests.support.untrained_query_encoder import untrained_query_encoder

# The words of a sentence are its vector: four different ones have a length of two, nine of three.
STORE = InMemoryStore(
    [
        Page("Pier", "Pier", None, "Piers have alder birch cedar oak and small lamps."),
        Page("Lamp", "Lamp", None, "It shows alder birch. It likes hazel ivy."),
        Page("Isle", "Isle", None, "Here grow alder hazel."),
        Page("Bell", "Bell", None, "Rowan willow yew pine."),
    ],
    WordEncoder(),
)


class WordQueries:
    """Counts the words of the claim and of the sentences of its path."""

    def warm_up(self) -> None:
        """Nothing to load."""

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """See ``QueryEncoder``."""
        return WordEncoder().encode([f"{c} {' '.join(text for _, text in p)}" for c, p in queries])


def retriever(limit: int) -> DenseSentenceRetriever:
    return DenseSentenceRetriever(STORE, WordQueries(), limit, leads=3)


def test_the_claim_alone_finds_the_documents_of_the_nearest_sentences() -> None:
    found = retriever(3).retrieve("alder birch", [], (), 1)
    assert [candidate.document_id for candidate in found] == ["Lamp", "Pier", "Isle"]
    # Both words of four, 2 / (sqrt 2 * 2); both of nine, 2 / (sqrt 2 * 3); one of four.
    assert [c.score for c in found] == pytest.approx([0.7071, 0.4714, 0.3536], abs=1e-4)
    assert {(c.found_by, c.hop, c.led_by) for c in found} == {(("dense",), 1, None)}


def test_a_document_is_proposed_once_by_its_best_sentence() -> None:
    found = retriever(3).retrieve("alder hazel ivy", [], (), 1)
    # Of the three nearest sentences two are Lamp's: two words of its last and one of its first.
    assert sorted(candidate.document_id for candidate in found) == ["Isle", "Lamp"]
    # 2 / (sqrt 3 * 2)
    assert [candidate.score for candidate in found] == pytest.approx([0.5774, 0.5774], abs=1e-4)


def test_every_path_is_searched_and_leads_to_what_it_found_best() -> None:
    by_lamp = [evidence("Lamp", "It likes hazel ivy", sentence_id=1)]
    by_pier = [evidence("Lamp", "it", sentence_id=0), evidence("Pier", "pine rowan yew")]
    found = retriever(2).retrieve("hazel", [by_lamp, by_pier], (), 2)
    assert [candidate.document_id for candidate in found] == ["Lamp", "Bell", "Isle"]
    by_way = {c.document_id: (c.led_by, c.score) for c in found}
    # "hazel it likes hazel ivy" is near Lamp's last sentence (hazel counts twice):
    # 5 / (sqrt 7 * 2); and near Isle, 2 / (sqrt 7 * 2).
    assert by_way["Lamp"] == (SentenceKey("Lamp", 1), pytest.approx(0.9449, abs=1e-4))
    assert by_way["Isle"] == (SentenceKey("Lamp", 1), pytest.approx(0.3780, abs=1e-4))
    # "hazel it pine rowan yew": 3 / (sqrt 5 * 2).
    assert by_way["Bell"] == (SentenceKey("Pier", 0), pytest.approx(0.6708, abs=1e-4))


def test_documents_read_before_are_not_proposed_and_take_no_place_of_others() -> None:
    found = retriever(1).retrieve("alder birch", [], {"Lamp", "Isle"}, 2)
    assert [candidate.document_id for candidate in found] == ["Pier"]


def test_where_all_is_read_nothing_is_proposed() -> None:
    seen = {"Lamp", "Pier", "Isle", "Bell"}
    assert retriever(2).retrieve("alder birch", [], seen, 2) == []


@pytest.mark.models
def test_with_the_packaged_weights_a_path_leads_from_a_lighthouse_to_its_keeper(
    tmp_path: Path,
) -> None:
    pages = [
        Page("Holm", "Holm lighthouse", None, "Its first keeper was Ida Brandt."),
        Page("Brandt", "Ida Brandt", None, "Ida Brandt wrote three books of verse."),
        Page("Bread", "Rye bread", None, "Rye bread is baked from sour dough."),
    ]
    dense = DenseSentenceRetriever(
        InMemoryStore(pages, MiniLMEncoder()), untrained_query_encoder(tmp_path), 1, 3
    )
    dense.warm_up()
    path = [evidence("Holm", "Its first keeper was Ida Brandt.")]
    found = dense.retrieve("The keeper of the Holm lighthouse was a poet.", [path], {"Holm"}, 2)
    (candidate,) = found
    assert (candidate.document_id, candidate.led_by) == ("Brandt", SentenceKey("Holm", 0))
