from __future__ import annotations

import pytest

from retrieval.config import RetrievalConfig
from retrieval.corpora.corpus import Page
from retrieval.encoders.encoder import DocumentEncoder
from retrieval.stages.sentences import SentencePreranker
from retrieval.types import FoundBy, RankedDocument
from tests.encoders import WordEncoder
from tests.index.in_memory_store import InMemoryStore

LIGHT = ("Light", ("Skerrow is white.", "Gulls nest there.", "Ann Lee drew the lamp."))
TOWN = ("Town", ("Ann Lee lived here.", "Ann Lee drew maps.", "Boats come."))
PAGES = [Page(name, name, None, " ".join(said), said) for name, said in (LIGHT, TOWN)]
CLAIM = "Ann Lee drew the lamp."


def chosen(
    limit: int,
    encoder: DocumentEncoder | None,
    claim: str = CLAIM,
    light_by: FoundBy = "text",
) -> list[str]:
    store = InMemoryStore(PAGES, encoder)
    light, town = store.documents(["Light", "Town"])
    documents = [
        RankedDocument(light, 1.0, (light_by,), 1),
        RankedDocument(town, 1.0, ("text",), 1),
    ]
    found = SentencePreranker(store, WordEncoder(), RetrievalConfig()).choose(
        claim, documents, limit
    )
    assert all(sentence in ranked.document.sentences for ranked, sentence in found)
    return [sentence.text for _, sentence in found]


def test_the_sentences_nearest_to_the_claim_are_read() -> None:
    # Shared words over the lengths √5 and 2: 3 / 4.47, then 2 / 4.47 and a little for being first.
    nearest = ["Ann Lee drew the lamp.", "Ann Lee drew maps.", "Ann Lee lived here."]
    assert chosen(3, WordEncoder()) == nearest
    assert chosen(1, WordEncoder()) == nearest[:1]


def test_a_first_sentence_is_read_before_another_that_is_little_nearer() -> None:
    # Only "Boats come." shares a word, one of its two: with a claim of three 1 / (√3 * √2) = 0.41,
    # with one of 61 1 / (√61 * √2) = 0.09, which is less than being first counts.
    assert chosen(1, WordEncoder(), "Boats like lakes.") == ["Boats come."]
    others = " ".join(f"w{number}" for number in range(60))
    assert chosen(1, WordEncoder(), f"Boats {others}.") == ["Skerrow is white."]


@pytest.mark.parametrize("way", ["title", "disambiguation"])
def test_what_the_claim_names_is_read_before_what_is_little_nearer(way: FoundBy) -> None:
    # "Boats come." is 1 / (√21 * √2) = 0.15 near. Two sentences of a document that the claim
    # names are as near as being named counts, 0.1, and its first one 0.2.
    claim = f"Boats {' '.join(f'w{number}' for number in range(20))}."
    assert chosen(1, WordEncoder(), claim) == ["Boats come."]
    assert chosen(2, WordEncoder(), claim, way) == ["Skerrow is white.", "Boats come."]


def test_what_may_all_be_read_is_all_read() -> None:
    assert sorted(chosen(6, WordEncoder())) == sorted([*LIGHT[1], *TOWN[1]])


def test_without_vectors_first_sentences_are_read_and_then_those_of_better_documents() -> None:
    assert chosen(4, None) == [
        "Skerrow is white.",
        "Ann Lee lived here.",
        # The second sentence of the best document counts 2, that of the next 3, the third 4.
        "Gulls nest there.",
        "Ann Lee drew maps.",
    ]


def test_without_documents_nothing_is_read() -> None:
    preranker = SentencePreranker(
        InMemoryStore(PAGES, WordEncoder()), WordEncoder(), RetrievalConfig()
    )
    assert preranker.choose(CLAIM, [], 5) == []
