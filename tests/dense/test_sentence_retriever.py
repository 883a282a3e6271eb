from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page
from retrieval.dense.query_encoder import Query
from retrieval.dense.sentence_retriever import DenseSentenceRetriever
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.types import SentenceKey
from tests.dense.untrained import untrained_query_encoder
from tests.encoders import WordEncoder
from tests.evidence import evidence
from tests.index.in_memory_store import InMemoryStore

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
    return DenseSentenceRetriever(STORE, WordQueries(), limit)


def keys(matches: Sequence[object]) -> list[tuple[str, int]]:
    return [(match.key.document_id, match.key.sentence_id) for match in matches]


def test_the_claim_alone_finds_the_nearest_sentences_and_their_documents() -> None:
    found = retriever(3).run("alder birch", [], (), 1)
    # Both words of four, 2 / (sqrt 2 * 2); both of nine, 2 / (sqrt 2 * 3); one of four.
    (matches,) = found["sentences"]
    assert keys(matches) == [("Lamp", 0), ("Pier", 0), ("Isle", 0)]
    assert [m.similarity for m in matches] == pytest.approx([0.7071, 0.4714, 0.3536], abs=1e-4)
    candidates = found["candidates"]
    assert [candidate.document_id for candidate in candidates] == ["Lamp", "Pier", "Isle"]
    assert [c.score for c in candidates] == pytest.approx([0.7071, 0.4714, 0.3536], abs=1e-4)
    assert {(c.found_by, c.hop, c.led_by) for c in candidates} == {(("dense",), 1, None)}


def test_a_document_is_proposed_once_by_its_best_sentence() -> None:
    found = retriever(3).run("alder hazel ivy", [], (), 1)
    # Two words of Isle's four and of four of Lamp's, and one of Lamp's other four.
    assert sorted(keys(found["sentences"][0])) == [("Isle", 0), ("Lamp", 0), ("Lamp", 1)]
    assert sorted(candidate.document_id for candidate in found["candidates"]) == ["Isle", "Lamp"]
    # 2 / (sqrt 3 * 2)
    assert [c.score for c in found["candidates"]] == pytest.approx([0.5774, 0.5774], abs=1e-4)


def test_every_path_is_searched_and_leads_to_what_it_found_best() -> None:
    by_lamp = [evidence("Lamp", "It likes hazel ivy", sentence_id=1)]
    by_pier = [evidence("Lamp", "it", sentence_id=0), evidence("Pier", "pine rowan yew")]
    found = retriever(2).run("hazel", [by_lamp, by_pier], (), 2)
    # "hazel it likes hazel ivy", without the sentence on the path: hazel twice of Isle's, and
    # one word of Lamp's first sentence.
    assert keys(found["sentences"][0]) == [("Isle", 0), ("Lamp", 0)]
    # "hazel it pine rowan yew": three of Bell's, two of Lamp's second sentence.
    assert keys(found["sentences"][1]) == [("Bell", 0), ("Lamp", 1)]
    by_way = {c.document_id: (c.led_by, c.score) for c in found["candidates"]}
    assert list(by_way) == ["Bell", "Lamp", "Isle"]
    # 3 / (sqrt 5 * 2), 2 / (sqrt 5 * 2), and hazel twice, 2 / (sqrt 7 * 2)
    assert by_way["Bell"] == (SentenceKey("Pier", 0), pytest.approx(0.6708, abs=1e-4))
    assert by_way["Lamp"] == (SentenceKey("Pier", 0), pytest.approx(0.4472, abs=1e-4))
    assert by_way["Isle"] == (SentenceKey("Lamp", 1), pytest.approx(0.3780, abs=1e-4))


def test_documents_read_before_are_not_proposed_but_their_sentences_are_found() -> None:
    found = retriever(3).run("alder birch", [], {"Lamp", "Isle"}, 2)
    assert [candidate.document_id for candidate in found["candidates"]] == ["Pier"]
    assert ("Lamp", 0) in keys(found["sentences"][0])


def test_where_all_is_read_nothing_is_proposed() -> None:
    found = retriever(2).run("alder birch", [], {"Lamp", "Pier", "Isle", "Bell"}, 2)
    assert found["candidates"] == []


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
        InMemoryStore(pages, MiniLMEncoder()), untrained_query_encoder(tmp_path), 1
    )
    dense.warm_up()
    path = [evidence("Holm", "Its first keeper was Ida Brandt.")]
    found = dense.run("The keeper of the Holm lighthouse was a poet.", [path], {"Holm"}, 2)
    (candidate,) = found["candidates"]
    assert (candidate.document_id, candidate.led_by) == ("Brandt", SentenceKey("Holm", 0))
