"""One version of an index in Elasticsearch, read with few requests for each claim.

Searches by name or words also return the vectors of the documents, and opened documents come with
the codes of their sentences. Both are cached, so that comparing them later needs no request. A
check reads the trie of titles thousands of times, so it is in files that the processes of a machine
share: made once for each version, when the index is built, or by the first process that needs it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.batches import batched
from retrieval.index.elastic.cluster import Cluster, Hit
from retrieval.index.elastic.entries import (
    ElasticMeta,
    SentenceCodes,
    analysed,
    code_in,
    id_in,
    key_of,
    sentence_codes_in,
    titles_in,
)
from retrieval.index.errors import damaged
from retrieval.index.formats.codes import from_bytes, products, rotation
from retrieval.index.formats.records import document_of
from retrieval.index.formats.titles import NamedTitles, read_titles, run_of, title_key, write_titles
from retrieval.index.formats.words import suggested, suggester
from retrieval.index.interface import (
    MOST_OF_A_NAME,
    DocumentStore,
    IndexInfo,
    by_bm25,
    by_similarity,
)
from retrieval.models.title_trie import TitleRun, TitleTrie
from retrieval.models.weights import made_once
from retrieval.system.files import write_array
from retrieval.types import (
    Document,
    PhraseMatch,
    PhraseSearch,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)

_IDS, _ENDS = "ids.npy", "id_ends.npy"
_KEPT_SECONDS = 3600.0

# All titles; the ids of their documents, joined; and where each of these ends.
_Snapshot: TypeAlias = tuple[TitleRun, NDArray[np.uint8], NDArray[np.int64]]

# Documents whose sentences are compared with a query; their codes are about 75 kB.
# ``research/reports/elasticsearch-benchmark.md`` says how many of the nearest ones are in them.
_NEAR = 300
_MOST_HITS = 10_000  # of one search, which is the server's limit
_SEARCHES = 200  # in one request
_AT_ONCE = 1000  # documents that are asked for by id in one search
_KEPT = 20_000  # documents whose vectors are kept

# Which fields are read of an entry: of the document itself, and of its sentences.
_KEYS = ("title_key", "plain_key")
_DOCUMENT = ("id", "code")
_SENTENCES = ("id", "numbers", "sentence_codes")


def open_titles(folder: Path, titled: Callable[[], Iterator[tuple[str, str]]]) -> TitleTrie:
    """Return the titles of a version, whose snapshot is in a folder.

    ``titled`` yields ids and titles; it is called if the snapshot is missing or damaged.

    Raises:
        IndexUnavailable: the folder cannot be written.

    Also raises what ``titled`` raises.
    """
    try:
        run, ids, ends = made_once(
            lambda: _read(folder), lambda: _made(folder, titled()), folder.parent / "lock"
        )
    except OSError as error:
        raise IndexUnavailable(
            "titles_unavailable",
            f"The titles of the index cannot be stored in {folder} ({error.strerror or error}).",
            "Make room there, or check the permissions of ESOTERIC_HOME.",
        ) from error

    def document_id(number: int) -> str:
        start = int(ends[number - 1]) if number else 0
        return bytes(ids[start : int(ends[number])]).decode("utf-8")

    return TitleTrie(run, document_id)


def _read(folder: Path) -> _Snapshot | None:
    """Return a snapshot; None if it is missing or damaged."""
    try:
        ids, ends = (np.load(folder / name, mmap_mode="r") for name in (_IDS, _ENDS))
        return read_titles(folder), ids, ends
    except (FileNotFoundError, EOFError, ValueError):
        return None


def _made(folder: Path, titled: Iterator[tuple[str, str]]) -> _Snapshot:
    """Make a snapshot, and remove old ones, which no worker opens any more."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    ids: list[bytes] = []

    def numbered() -> Iterator[tuple[int, str]]:
        for number, (document_id, title) in enumerate(titled):
            ids.append(document_id.encode("utf-8"))
            yield number, title

    run = run_of(numbered())
    joined = np.frombuffer(b"".join(ids), dtype=np.uint8)
    ends = np.cumsum([len(one) for one in ids], dtype=np.int64)
    write_titles(partial, run)
    write_array(partial / _IDS, joined)
    write_array(partial / _ENDS, ends)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    for other in folder.parent.iterdir():  # mapped files stay readable
        if other.is_dir() and time.time() - other.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(other)
    return run, joined, ends


class ElasticStore(DocumentStore):
    """A read-only view of one version of an index."""

    def __init__(self, cluster: Cluster, meta: ElasticMeta, snapshots: Path) -> None:
        """Read the version that ``meta`` describes.

        ``snapshots``: the folder of this machine with the titles of its versions.
        """
        self._cluster = cluster
        self._version = meta.version
        self._meta = meta
        self._snapshots = snapshots
        self._info = meta.info(self._size())
        self._turn = rotation(meta.dimension) if meta.dimension else None
        self._codes: dict[str, NDArray[np.int8]] = {}
        self._sentences: dict[str, SentenceCodes] = {}

    def info(self) -> IndexInfo:
        return self._info

    def documents(self, ids: Sequence[str]) -> list[Document]:
        self._forget()
        hits = self._by_ids(ids, _SENTENCES, record=True)
        return [document_of(hits[document_id]["_source"]["record"]) for document_id in ids]

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        self._forget()
        wanted = sorted({key_of(title_key(name)) for name in names})
        if not wanted:
            return []
        (hits,) = self._hits([self._any_title(wanted, _KEYS, _MOST_HITS)])
        if len(hits) == _MOST_HITS:  # some names are very common: search each alone
            alone = [self._any_title([k], [f], MOST_OF_A_NAME) for k in wanted for f in _KEYS]
            hits = [h for some in batched(alone, _SEARCHES) for f in self._hits(some) for h in f]
        titled = ((id_in(hit), title) for hit in hits for title in titles_in(hit))
        return NamedTitles(titled).matches(names)

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        self._forget()
        phrases = [
            [words for words in dict.fromkeys(map(analysed, search.phrases)) if words]
            for search in searches
        ]
        asked = [
            place for place, words in enumerate(phrases) if words and searches[place].limit > 0
        ]
        found: list[list[PhraseMatch]] = [[] for _ in searches]
        bodies = [self._any_phrase(phrases[place], searches[place].limit) for place in asked]
        for place, hits in zip(asked, self._hits(bodies), strict=True):
            found[place] = by_bm25(PhraseMatch(id_in(hit), float(hit["_score"])) for hit in hits)
        return found

    def near_words(self, word: str, edits: int) -> dict[str, int]:
        words = analysed(word)
        if not words or " " in words:
            return {}
        suggest = suggester("words", words, edits)
        answer = self._cluster.ask(
            lambda client, preference: client.search(
                index=self._version, suggest=suggest, size=0, preference=preference
            )
        )
        return suggested(answer["suggest"], words, edits)

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        self._forget()
        self._by_ids([one for one in ids if one not in self._codes], _DOCUMENT)
        if not self._meta.dimension:
            return None
        rows = [self._codes[document_id] for document_id in ids]
        codes = np.array(rows, dtype=np.int8).reshape(len(ids), self._meta.dimension)
        similarities: NDArray[np.float32] = from_bytes(codes) @ queries.T
        return similarities

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        if self._turn is None or limit < 1 or not len(queries):
            return [[] for _ in queries]
        self._forget()
        if among is None:
            near = self._near(queries, limit, without)
        else:
            near = [[one for one in dict.fromkeys(among) if one not in without]] * len(queries)
        wanted = dict.fromkeys(chain.from_iterable(near))
        self._by_ids([one for one in wanted if one not in self._sentences], _SENTENCES)
        turned = queries @ self._turn
        return [
            self._nearest_of(query, documents, limit)
            for query, documents in zip(turned, near, strict=True)
        ]

    def titles(self) -> TitleTrie:
        # Read from a file that the processes here share.
        return open_titles(self._snapshots / self._version, self.titled)

    def titled(self) -> Iterator[tuple[str, str]]:
        for hit in self._cluster.scan(self._version, ["id", "titles"]):
            for title in titles_in(hit):
                yield id_in(hit), title

    def _size(self) -> int:
        stats = self._cluster.ask(
            lambda client, _: client.indices.stats(index=self._version, metric="store")
        )
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])

    def _near(
        self, queries: NDArray[np.float32], limit: int, without: Collection[str]
    ) -> list[list[str]]:
        """Return the ids of the documents nearest to each query; their codes are kept."""
        count = min(max(_NEAR, limit), _MOST_HITS)
        scaled = queries / np.abs(queries).max(axis=1, keepdims=True, initial=1e-9)
        search: dict[str, Any] = {
            "field": "vector",
            "k": count,
            "num_candidates": min(count * 3 // 2, _MOST_HITS),
        }
        if without:
            keys = [key_of(document_id) for document_id in without]
            search["filter"] = {"bool": {"must_not": {"ids": {"values": keys}}}}
        bodies = []
        for query in scaled:
            vector = np.rint(127 * query).astype(int)
            # The server refuses a vector of zeros; nothing is near it.
            knn = {"knn": search | {"query_vector": vector.tolist()}}
            asked = knn if vector.any() else {"query": {"match_none": {}}}
            bodies.append({**asked, "size": count, **_only(_SENTENCES)})
        return [[id_in(hit) for hit in hits] for hits in self._hits(bodies)]

    def _nearest_of(
        self, query: NDArray[np.float32], documents: Sequence[str], limit: int
    ) -> list[SentenceMatch]:
        kept = [self._sentences[document_id] for document_id in documents]
        if not kept:
            return []
        similar = products(query, np.concatenate([sentences.codes for sentences in kept]))
        keys = [
            SentenceKey(document_id, number)
            for document_id, sentences in zip(documents, kept, strict=True)
            for number in sentences.numbers
        ]
        if len(keys) > limit:
            rows = np.flatnonzero(similar >= np.partition(similar, -limit)[-limit]).tolist()
        else:
            rows = list(range(len(keys)))
        return by_similarity(SentenceMatch(keys[row], float(similar[row])) for row in rows)[:limit]

    def _by_ids(
        self, ids: Sequence[str], fields: Sequence[str], record: bool = False
    ) -> dict[str, Hit]:
        """Return the entries of documents by their ids, which are in this index."""
        if not self._meta.dimension:
            fields = ["id"]
        found: dict[str, Hit] = {}
        for some in batched(dict.fromkeys(ids), _AT_ONCE):
            query = {"ids": {"values": [key_of(document_id) for document_id in some]}}
            body = {"query": query, "size": len(some), **_only(fields, record)}
            for hit in self._hits([body])[0]:
                found[id_in(hit)] = hit
            if any(document_id not in found for document_id in some):
                raise damaged(self._meta.fix())
        return found

    def _hits(self, bodies: Sequence[Mapping[str, Any]]) -> list[list[Hit]]:
        """Return the hits of each search, and cache their codes."""
        found = self._cluster.searches(self._version, bodies)
        for hit in chain.from_iterable(found):
            if "code" in hit.get("fields", {}):
                self._codes[id_in(hit)] = code_in(hit)
            if "sentence_codes" in hit.get("fields", {}):
                kept = sentence_codes_in(hit, self._meta.dimension)
                self._sentences[id_in(hit)] = kept
        return found

    def _forget(self) -> None:
        """Make room for more codes; call it only before codes are looked up."""
        if len(self._codes) > _KEPT or len(self._sentences) > _KEPT:
            self._codes, self._sentences = {}, {}

    def _any_title(self, keys: list[str], fields: Sequence[str], size: int) -> dict[str, Any]:
        """Return the search for titles with one of the keys, the first ones by their ids."""
        clauses = [{"terms": {field: keys}} for field in fields]
        query = {"constant_score": {"filter": {"bool": {"should": clauses}}}}
        return {"query": query, "size": size, "sort": "id", **_only([*self._found, "titles"])}

    def _any_phrase(self, phrases: Sequence[str], size: int) -> dict[str, Any]:
        """Return the search for texts that contain one of the phrases, in BM25 order."""
        clauses = [{"match_phrase": {"words": phrase}} for phrase in phrases]
        query = {"bool": {"should": clauses}}
        return {"query": query, "size": min(size, _MOST_HITS), **_only(self._found)}

    @property
    def _found(self) -> Sequence[str]:
        """The fields that are read of a document that was found by its title or its words."""
        return _DOCUMENT if self._meta.dimension else ("id",)


def _only(fields: Sequence[str], record: bool = False) -> dict[str, Any]:
    """Return the part of a search that lists the fields to read of each hit."""
    read: dict[str, Any] = {"docvalue_fields": list(fields), "track_total_hits": False}
    return read | ({"_source": True} if record else {"_source": False, "stored_fields": "_none_"})
