from __future__ import annotations

import pytest

from retrieval.corpora.corpus import Page
from retrieval.models.encoders import DocumentEncoder
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.read.sentences import DenseSentenceReader, SentencePreranker
from retrieval.state import ClaimState
from retrieval.types import Candidate, FoundBy, RankedDocument
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.stages.find.test_dense import WordQueries
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence
from tests.support.states import state_of

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


def read_by_dense_search(state: ClaimState, nearest: int, limit: int) -> list[str]:
    limits = RetrievalConfig(
        dense_limit=nearest, sentence_limit=limit, expansion_sentence_limit=limit
    )
    store = InMemoryStore(PAGES, WordEncoder())
    step = DenseSentenceReader(store, WordEncoder(), WordQueries(), limits).run(state)
    return [sentence.text for _, sentence in step.state.chosen]


def test_dense_search_reads_what_it_finds_and_nothing_else_of_the_documents() -> None:
    both = tuple(Candidate(page.id, ("dense",), 1.0, 1) for page in PAGES)
    state = state_of(CLAIM, candidates=both)
    nearest = ["Ann Lee drew the lamp.", "Ann Lee drew maps."]
    assert read_by_dense_search(state, nearest=2, limit=9) == nearest
    assert read_by_dense_search(state, nearest=2, limit=1) == nearest[:1]
    assert read_by_dense_search(state_of(CLAIM), nearest=2, limit=9) == []


def test_in_a_later_hop_dense_search_reads_what_is_near_to_claim_and_path() -> None:
    (light,) = InMemoryStore(PAGES, WordEncoder()).documents(["Light"])
    lead = evidence("Light", "Skerrow is white.")
    state = state_of(
        "Gulls nest there.",
        hop=2,
        documents=(RankedDocument(light, 1.0, ("dense",), 1),),
        read=(lead,),
        evidence=(lead,),
        candidates=(Candidate("Town", ("dense",), 1.0, 2),),
    )
    # Of the claim's six words with those of the path three are in each sentence: 3 / (√6 * √3). One
    # of the two was read in the hop before; the other one is of a document that was opened then.
    assert read_by_dense_search(state, nearest=2, limit=9) == ["Gulls nest there."]
