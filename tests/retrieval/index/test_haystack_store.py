"""Claims over what Haystack keeps: answered as by our own index, but for what it cannot know."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from elasticsearch import Elasticsearch
from haystack import Document

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index import haystack_store
from retrieval.index.haystack_store import HaystackStore
from retrieval.index.interface import MOST_OF_A_NAME
from retrieval.types import PhraseSearch, SentenceKey, SentenceMatch
from tests.retrieval.index.elastic.node import free_port, shared_url
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.retrieval.index.questions import documents_titled, holding
from tests.support.encoders import WordEncoder

if TYPE_CHECKING:
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

pytestmark = pytest.mark.elasticsearch

ORACLE = InMemoryStore(PAGES, WordEncoder())
QUERIES = WordEncoder().encode(["Ships come to the harbour.", "It is old."])
IDS = [page.id for page in PAGES]


def of_haystack(url: str, index: str = "") -> ElasticsearchDocumentStore:
    library = pytest.importorskip("haystack_integrations.document_stores.elasticsearch")
    name = index or f"haystack-{uuid.uuid4().hex}"
    store: ElasticsearchDocumentStore = library.ElasticsearchDocumentStore(hosts=url, index=name)
    return store


def written(pages: Sequence[Page]) -> ElasticsearchDocumentStore:
    """A store of its own with these pages, as a user of Haystack writes them."""
    store = of_haystack(shared_url())
    vectors = WordEncoder().encode([f"{page.title}. {page.text}" for page in pages])
    documents = [
        Document(
            id=page.id,
            content=page.text,
            meta={"title": page.title} | ({"url": page.url} if page.url else {}),
            embedding=vector.tolist(),
        )
        for page, vector in zip(pages, vectors, strict=True)
    ]
    store.write_documents(documents, refresh=True)
    return store


def keys(found: list[list[SentenceMatch]]) -> list[list[SentenceKey]]:
    return [[match.key for match in matches] for matches in found]


@pytest.fixture(scope="module")
def haystack() -> ElasticsearchDocumentStore:
    return written(PAGES)


@pytest.fixture
def store(haystack: ElasticsearchDocumentStore) -> HaystackStore:
    return HaystackStore(haystack, WordEncoder())


@pytest.mark.parametrize(("word", "edits"), [("Harbor", 1), ("harbbor", 2), ("harbour", 2)])
def test_words_near_one_that_is_not_there_are_those_of_its_texts(
    store: HaystackStore, word: str, edits: int
) -> None:
    assert store.near_words(word, edits) == ORACLE.near_words(word, edits)


def test_its_description_counts_documents(
    haystack: ElasticsearchDocumentStore, store: HaystackStore
) -> None:
    info = store.info()
    assert (info.name, info.documents, info.encoder) == (haystack._index, len(PAGES), "")
    assert HaystackStore(haystack, WordEncoder(), embedded=True).info().encoder == "words"


def test_documents_are_those_of_our_own_index(store: HaystackStore) -> None:
    ids = [*reversed(IDS), "Zoe"]
    assert store.documents(ids) == ORACLE.documents(ids)
    assert store.documents([]) == []


def test_more_documents_are_read_than_are_kept(
    store: HaystackStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(haystack_store, "_KEPT", 3)
    for first in range(0, len(IDS), 2):
        some = IDS[first : first + 6]
        assert store.documents(some) == ORACLE.documents(some)
        found, expected = (one.nearest_sentences(QUERIES, 4, (), some) for one in (store, ORACLE))
        assert keys(found) == keys(expected)


def test_an_unknown_id_is_an_error(store: HaystackStore) -> None:
    with pytest.raises(IndexUnavailable, match="Nowhere"):
        store.documents(["Zoe", "Nowhere"])
    with pytest.raises(IndexUnavailable, match="Nowhere"):
        store.similarities(["Nowhere"], QUERIES)


def test_titles_match_as_in_our_own_index(store: HaystackStore) -> None:
    names = ["savage", "savage (BAND)", "the harbour's", "zoe", "twin", "(everything)", "Sav", ""]
    assert store.title_matches(names) == ORACLE.title_matches(names)


def test_of_a_name_that_many_share_the_first_are_found() -> None:
    pages = [Page(f"{n:03}", f"Holm ({n})", None, "An isle.") for n in range(MOST_OF_A_NAME + 5)]
    store = HaystackStore(written([*pages, Page("zz", "Holm", None, "A name.")]), WordEncoder())
    found = [match.document_id for match in store.title_matches(["Holm"])]
    assert found == ["zz", *(page.id for page in pages[: MOST_OF_A_NAME - 1])]


def test_all_titles_are_read_in_several_answers(
    store: HaystackStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(haystack_store, "_TITLES_AT_ONCE", 5)
    assert list(store.titled()) == sorted(ORACLE.titled())
    assert documents_titled(store, "Twin") == ["Twin_1", "Twin_2"]


def test_documents_without_a_title_or_a_text_are_documents() -> None:
    haystack = of_haystack(shared_url())
    haystack.write_documents(
        [Document(id="1", content="Ships go."), Document(id="2", meta={"title": 1984})],
        refresh=True,
    )
    store = HaystackStore(haystack, WordEncoder())
    assert [(d.title, d.text) for d in store.documents(["1", "2"])] == [
        ("", "Ships go."),
        ("1984", ""),
    ]
    assert [match.document_id for match in store.title_matches(["", "1984"])] == ["2"]


@pytest.mark.parametrize(
    "phrases", [["ships"], ["harbour light"], ["the", "harbour"], ["pages with one title"], []]
)
def test_phrases_are_found_in_the_same_texts(store: HaystackStore, phrases: list[str]) -> None:
    found, expected = (holding(one, *phrases) for one in (store, ORACLE))
    assert {m.document_id for m in found} == {m.document_id for m in expected}
    assert found == sorted(found, key=lambda m: (-m.bm25, m.document_id))


def test_each_search_has_its_own_limit(store: HaystackStore) -> None:
    searches = [PhraseSearch(("ships",), 1), PhraseSearch(("a",), 0), PhraseSearch(("a",), 3)]
    assert [len(matches) for matches in store.phrase_matches(searches)] == [1, 0, 3]


@pytest.mark.parametrize("phrase", ['*?:()"\\', "content:ships", "", "  ", "a" * 5000, "\x00"])
def test_no_character_of_a_phrase_is_query_syntax(store: HaystackStore, phrase: str) -> None:
    assert holding(store, phrase) == []


def test_accents_count_in_texts_but_not_in_titles(store: HaystackStore) -> None:
    assert [match.document_id for match in holding(store, "CAFÉ")] == ["Zoe"]
    assert holding(store, "cafe") == []
    assert [match.title for match in store.title_matches(["zoe"])] == ["Zoë"]


def test_documents_are_compared_by_title_and_text(store: HaystackStore) -> None:
    ids = ["Zoe", "Savage", "Zoe"]
    similar = store.similarities(ids, QUERIES)
    assert similar == pytest.approx(ORACLE.similarities(ids, QUERIES), abs=1e-6)
    for some, queries in (([], QUERIES), (ids, QUERIES[:0])):
        none = store.similarities(some, queries)
        assert none is not None
        assert none.shape == (len(some), len(queries))


def test_sentences_among_documents_are_compared(store: HaystackStore) -> None:
    found = store.nearest_sentences(QUERIES, 4, {"Zoe"}, ["Zoe", "The_Harbour", "Savage"])
    expected = ORACLE.nearest_sentences(QUERIES, 4, {"Zoe"}, ["Zoe", "The_Harbour", "Savage"])
    assert keys(found) == keys(expected)
    assert store.nearest_sentences(QUERIES, 4, among=[]) == [[], []]
    assert store.nearest_sentences(QUERIES[:0], 4, among=["Zoe"]) == []


def test_sentences_of_all_documents_need_embeddings_that_can_be_compared(
    haystack: ElasticsearchDocumentStore, store: HaystackStore
) -> None:
    assert store.nearest_sentences(QUERIES, 3) == [[], []]
    embedded = HaystackStore(haystack, WordEncoder(), embedded=True)
    (found, _), (expected, _) = (one.nearest_sentences(QUERIES, 3) for one in (embedded, ORACLE))
    assert [m.key for m in found] == [m.key for m in expected]
    assert np.allclose([m.similarity for m in found], [m.similarity for m in expected])
    (others, _) = embedded.nearest_sentences(QUERIES, 99, without={found[0].key.document_id})
    assert others
    assert found[0].key.document_id not in {match.key.document_id for match in others}


def test_an_index_that_is_missing_is_an_error_and_not_created() -> None:
    haystack = of_haystack(shared_url())
    store = HaystackStore(haystack, WordEncoder())
    for asked in (store.info, store.titled, lambda: store.documents(["1"])):
        with pytest.raises(IndexUnavailable, match="index_not_found"):
            asked()
    assert not Elasticsearch(shared_url()).indices.exists(index=haystack._index)


def test_a_server_that_does_not_answer_is_an_error() -> None:
    store = HaystackStore(of_haystack(f"http://127.0.0.1:{free_port()}"), WordEncoder())
    with pytest.raises(IndexUnavailable, match="refused"):
        store.info()


@pytest.mark.models
def test_the_example_supports_one_claim_and_refutes_the_other(
    tmp_path: Path,
    unpacked: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("haystack_integrations.document_stores.elasticsearch")
    from examples.over_haystack_store import CLAIMS, main

    (tmp_path / "models").symlink_to(unpacked)
    monkeypatch.setenv("ESOTERIC_HOME", str(tmp_path))
    main(shared_url())
    first, second = CLAIMS
    supported, refuted = capsys.readouterr().out.split(second)
    assert supported.startswith(f"{first}\n  SUPPORTS")
    assert "born in the village of Tarn and traded" in supported
    assert refuted.startswith("\n  REFUTES")
    assert "Skarfell, at 410 metres" in refuted
