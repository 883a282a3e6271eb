"""Documents that Haystack stores in Elasticsearch, as a corpus to check claims with.

For ``elasticsearch-haystack`` 7.1, whose store has its connection and its index in private
attributes only. Nothing is written. Haystack's own searches are not used: they return ten documents
at a time with their embeddings, end at 10,000, and do not support phrases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError
from elasticsearch.helpers import ScanError, scan
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.formats.titles import NamedTitles
from retrieval.index.formats.words import suggested, suggester
from retrieval.index.interface import DocumentStore, IndexInfo, by_bm25, by_similarity
from retrieval.models.encoders import DocumentEncoder, EncodableDocument
from retrieval.models.title_trie import TitleTokenizer, TitleTrie
from retrieval.text.sentence_splitter import SentenceSplitter
from retrieval.types import (
    Document,
    PhraseMatch,
    PhraseSearch,
    Sentence,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)

if TYPE_CHECKING:
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

_NEAR = 20  # documents whose sentences are compared with a query: each may have to be encoded
_KEPT = 2000  # documents that are cached with their vectors, about 50 kB each
_TITLES_AT_ONCE = 5000


class HaystackStore(DocumentStore):
    """A read-only view of a Haystack document store.

    A document's ``content`` is its text, ``meta["title"]`` its title and ``meta["url"]`` its
    url. Documents are split into sentences and encoded when a check first needs them, so the time
    of a check depends on ``RetrievalConfig.text_limit``. Titles and documents are cached: make
    another view to see later changes.

    Every method may raise ``IndexUnavailable``: Elasticsearch does not answer, or has no such
    index.
    """

    def __init__(
        self, store: ElasticsearchDocumentStore, encoder: DocumentEncoder, embedded: bool = False
    ) -> None:
        """Connect to the server of ``store``; no request is sent yet.

        ``embedded``: whether the store's embeddings can be compared with the encoder's vectors, as
        those of all-MiniLM-L6-v2 can. Only then is dense search possible.
        """
        self._index = store._index
        # Not the store's own client, which creates a missing index.
        self._client = Elasticsearch(
            store._hosts, api_key=store._handle_auth(), headers=store._headers, **store._kwargs
        )
        self._encoder = encoder
        self._embedded = embedded
        self._splitter = SentenceSplitter()
        self._documents: dict[str, Document] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._sentences: dict[str, NDArray[np.float32]] = {}

    def info(self) -> IndexInfo:
        """Return the index's name and how many documents it has now.

        Values that Haystack does not store are empty or 0. ``encoder`` is empty if dense search is
        not possible.
        """
        with self._asking():
            count = int(self._client.count(index=self._index)["count"])
        encoder = self._encoder.name if self._embedded else ""
        return IndexInfo(self._index, "haystack", "", count, count, 0, 0, "", encoder, "", 0, 0)

    def documents(self, ids: Sequence[str]) -> list[Document]:
        if len(self._documents) > _KEPT:
            self._documents, self._vectors, self._sentences = {}, {}, {}
        new = [one for one in dict.fromkeys(ids) if one not in self._documents]
        query = {"ids": {"values": new}}
        hits = self._hits(query=query, size=len(new), source=["content", "title", "url"])
        texts = [_text(hit, "content") for hit in hits]
        for hit, text, bounds in zip(hits, texts, self._splitter.split(texts), strict=True):
            one, title, url = hit["_id"], _text(hit, "title"), _text(hit, "url") or None
            sentences = (Sentence(one, n, text[a:b], a, b) for n, (a, b) in enumerate(bounds))
            self._documents[one] = Document(one, title, url, text, tuple(sentences))
        try:
            return [self._documents[document_id] for document_id in ids]
        except KeyError as error:
            raise IndexUnavailable(
                "index_changed",
                f"The index {self._index!r} has no document {error} any more.",
                "Check the claim again, with a new view of the index.",
            ) from error

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        return self._named.matches(names)

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        """See ``DocumentStore.phrase_matches``.

        Words match as the index analyses ``content``: Haystack's own mapping ignores their case,
        but not their accents.
        """
        found = []
        for search in searches:
            phrases = [{"match_phrase": {"content": phrase}} for phrase in search.phrases]
            # Without clauses, every document would match.
            query = {"bool": {"should": [{"match_none": {}}, *phrases]}}
            hits = self._hits(query=query, size=search.limit)
            found.append(by_bm25(PhraseMatch(hit["_id"], float(hit["_score"])) for hit in hits))
        return found

    def near_words(self, word: str, edits: int) -> dict[str, int]:
        """See ``DocumentStore.near_words``; words are those that the index makes of ``content``."""
        lower = word.lower()
        with self._asking():
            answer = self._client.search(
                index=self._index, suggest=suggester("content", lower, edits), size=0
            )
        return suggested(answer["suggest"], lower, edits)

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """See ``DocumentStore.similarities``; documents are encoded here in any case."""
        documents = self.documents(ids)
        new = [d for d in dict.fromkeys(documents) if d.id not in self._vectors]
        # Without sentences only the beginning of a document is read.
        whole, _ = self._encoder.encode_documents(
            [EncodableDocument(d.title, d.text, ()) for d in new]
        )
        self._vectors.update(zip((d.id for d in new), whole, strict=True))
        vectors = np.array([self._vectors[one] for one in ids], dtype=np.float32)
        similar: NDArray[np.float32] = vectors.reshape(-1, self._encoder.dimension) @ queries.T
        return similar

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        """See ``DocumentStore.nearest_sentences``.

        Without ``among``, sentences of the documents with the nearest embeddings are compared; none
        is found if the store's embeddings are not comparable (``embedded``).
        """
        if among is None:
            near = [self._near(query, without) for query in queries]
        else:
            near = [[one for one in dict.fromkeys(among) if one not in without]] * len(queries)
        documents = {d.id: d for d in self.documents([*chain(*near)])}
        new = [d for d in documents.values() if d.id not in self._sentences]
        bounds = (tuple((s.start, s.end) for s in d.sentences) for d in new)
        _, parts = self._encoder.encode_documents(
            [EncodableDocument(d.title, d.text, b) for d, b in zip(new, bounds, strict=True)]
        )
        self._sentences.update(zip((d.id for d in new), parts, strict=True))
        found = []
        for query, ids in zip(queries, near, strict=True):
            matches = (
                SentenceMatch(SentenceKey(one, sentence.sentence_id), float(similarity))
                for one in ids
                for sentence, similarity in zip(
                    documents[one].sentences, self._sentences[one] @ query, strict=True
                )
            )
            found.append(by_similarity(matches)[:limit])
        return found

    def titles(self) -> TitleTrie:
        return self._trie

    def titled(self) -> Iterator[tuple[str, str]]:
        return iter(self._titles)

    @cached_property
    def _titles(self) -> list[tuple[str, str]]:
        query = {"_source": ["title"]}
        with self._asking():
            hits = scan(self._client, query=query, index=self._index, size=_TITLES_AT_ONCE)
            return sorted((hit["_id"], _text(hit, "title")) for hit in hits)

    @cached_property
    def _named(self) -> NamedTitles:
        return NamedTitles(self._titles)

    @cached_property
    def _trie(self) -> TitleTrie:
        tokens = TitleTokenizer().tokens([title for _, title in self._titles])
        return TitleTrie.of(tokens, [one for one, _ in self._titles])

    def _near(self, query: NDArray[np.float32], without: Collection[str]) -> list[str]:
        """Return the ids of the documents with the embeddings nearest to a query."""
        if not self._embedded:
            return []
        search = {
            "field": "embedding",
            "query_vector": query.tolist(),
            "k": _NEAR,
            "num_candidates": 5 * _NEAR,
            "filter": {"bool": {"must_not": {"ids": {"values": list(without)}}}},
        }
        return [hit["_id"] for hit in self._hits(knn=search, size=_NEAR)]

    def _hits(self, **search: Any) -> list[Mapping[str, Any]]:
        """Return the hits of a search with the fields ``source`` of their documents."""
        if search["size"] < 1:
            return []
        with self._asking():
            answer = self._client.search(
                index=self._index,
                allow_partial_search_results=False,
                **{"source": False} | search,
            )
        hits: list[Mapping[str, Any]] = answer["hits"]["hits"]
        return hits

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn errors of Elasticsearch or the connection into one that names the index."""
        try:
            yield
        except (ApiError, TransportError, UnsupportedProductError, ScanError) as error:
            reason = str(error).partition("\n")[0][:300]
            raise IndexUnavailable(
                "store_failed",
                f"Elasticsearch, asked for the index {self._index!r}, failed: {reason}.",
                "Check the hosts, the key and the index of the ElasticsearchDocumentStore.",
            ) from error


def _text(hit: Mapping[str, Any], field: str) -> str:
    """Return a field of a document as text; Haystack stores ``meta`` flat, with the others."""
    value = hit["_source"].get(field)
    return "" if value is None else str(value)
