"""What differs in documents that Haystack keeps; the contract of all stores has the rest."""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from haystack import Document

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index import haystack_store as searched
from retrieval.index.haystack_store import HaystackStore
from tests.retrieval.index.elastic.node import free_port, shared_url
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES, documents_titled
from tests.support.encoders import WordEncoder

pytestmark = pytest.mark.elasticsearch

QUERIES = WordEncoder().encode(["Ships come to the harbour.", "It is old."])
IDS = [page.id for page in PAGES]


def of_haystack(url: str = "") -> Any:
    """Return Haystack's store of an index of its own, which is not there yet."""
    library = pytest.importorskip("haystack_integrations.document_stores.elasticsearch")
    name = f"haystack-{uuid.uuid4().hex}"
    return library.ElasticsearchDocumentStore(hosts=url or shared_url(), index=name)


def haystack_store(pages: Sequence[Page], embedded: bool = False) -> HaystackStore:
    """Return a view of a store with these pages."""
    store = of_haystack()
    vectors = WordEncoder().encode([f"{page.title}. {page.text}" for page in pages])
    documents = []
    for page, vector in zip(pages, vectors, strict=True):
        meta = {"title": page.title} | ({"url": page.url} if page.url else {})
        made = {"id": page.id, "content": page.text, "meta": meta, "embedding": vector.tolist()}
        documents.append(Document(**made))
    store.write_documents(documents, refresh=True)
    return HaystackStore(store, WordEncoder(), embedded)


def test_more_is_read_than_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "_KEPT", 3)
    monkeypatch.setattr(searched, "_TITLES_AT_ONCE", 5)
    store, oracle = haystack_store(PAGES), InMemoryStore(PAGES, WordEncoder())
    for first in range(0, len(IDS), 2):
        some = IDS[first : first + 6]
        assert store.documents(some) == oracle.documents(some)
        found, expected = (one.nearest_sentences(QUERIES, 4, (), some) for one in (store, oracle))
        assert [[m.key for m in one] for one in found] == [[m.key for m in one] for one in expected]
    assert list(store.titled()) == sorted(oracle.titled())
    assert documents_titled(store, "Twin") == ["Twin_1", "Twin_2"]


def test_documents_without_a_title_or_a_text_are_documents() -> None:
    haystack = of_haystack()
    haystack.write_documents(
        [Document(id="1", content="Ships go."), Document(id="2", meta={"title": 1984})],
        refresh=True,
    )
    store = HaystackStore(haystack, WordEncoder())
    found = [(one.title, one.text) for one in store.documents(["1", "2"])]
    assert found == [("", "Ships go."), ("1984", "")]
    assert [match.document_id for match in store.title_matches(["", "1984"])] == ["2"]
    store = haystack_store(PAGES)  # whose embeddings cannot be compared
    assert store.info().encoder == ""
    assert store.nearest_sentences(QUERIES, 3) == [[], []]
    (some, _) = store.nearest_sentences(QUERIES, 3, among=["The_Harbour"])
    assert len(some) == 3


def test_a_missing_index_or_server_is_an_error_and_not_created() -> None:
    haystack = of_haystack()
    store = HaystackStore(haystack, WordEncoder())
    for asked in (store.info, store.titled, lambda: store.documents(["1"])):
        with pytest.raises(IndexUnavailable, match="index_not_found"):
            asked()
    assert not Elasticsearch(shared_url()).indices.exists(index=haystack._index)
    away = HaystackStore(of_haystack(f"http://127.0.0.1:{free_port()}"), WordEncoder())
    with pytest.raises(IndexUnavailable, match="refused"):
        away.info()


@pytest.mark.models
def test_the_example_supports_one_claim_and_refutes_the_other(
    tmp_path: Path, unpacked: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
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
