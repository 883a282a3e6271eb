"""Documents as a user of Haystack writes them, on the server that the tests share."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from retrieval.corpora.corpus import Page
from retrieval.index.haystack_store import HaystackStore
from tests.retrieval.index.elastic.node import shared_url
from tests.support.encoders import WordEncoder

if TYPE_CHECKING:
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore


def of_haystack(url: str = "") -> ElasticsearchDocumentStore:
    """Return Haystack's store of an index of its own, which is not there yet."""
    library = pytest.importorskip("haystack_integrations.document_stores.elasticsearch")
    store: ElasticsearchDocumentStore = library.ElasticsearchDocumentStore(
        hosts=url or shared_url(), index=f"haystack-{uuid.uuid4().hex}"
    )
    return store


def haystack_store(pages: Sequence[Page], embedded: bool = False) -> HaystackStore:
    """Return a view of a store with these pages."""
    from haystack import Document

    store = of_haystack()
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
    return HaystackStore(store, WordEncoder(), embedded)
