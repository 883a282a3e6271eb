"""Measures which share of the nearest sentences and documents is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from research.benchmarks.elastic import mappings
from research.benchmarks.elastic.report import both, doing, side_by_side, table
from research.benchmarks.elastic.searches import (
    CANDIDATES,
    DOCUMENTS,
    SENTENCES,
    documents_found,
    sentences_found,
)
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.entries import key_of
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import QueryEncoder
from retrieval.models.shipped import DENSE
from settings import Settings

_COMPARED = 20_000  # documents in a temporary index


def described(folder: Path, location: ElasticLocation, settings: Settings, asked: list[str]) -> str:
    """Search for each claim and return the report's part about it."""
    doing("recall")
    index = ElasticIndex(location, settings.snapshots)
    embedded, elastic = EmbeddedIndex(folder).open(None), index.open(None)
    queries = QueryEncoder(DENSE).encode([(text, ()) for text in asked])
    ids = [document_id for document_id, _ in embedded.titled()]
    nearest = [
        {match.key for match in matches}
        for matches in embedded.nearest_sentences(queries, SENTENCES, among=ids)
    ]
    recalls, times = zip(
        *(sentences_found(store, queries, nearest) for store in (embedded, elastic)), strict=True
    )
    rows = [
        both(f"of the {SENTENCES} nearest sentences found, %", "{:.1f}", *recalls),
        both("time for a claim, p50, ms", "{:.1f}", *times),
    ]
    cluster = Cluster(location)
    similar = embedded.similarities(ids, queries)
    assert similar is not None
    places = {key_of(document_id): place for place, document_id in enumerate(ids)}
    found = documents_found(cluster, index.version(), None, queries, similar, places)
    ours = mappings.row("the index itself: byte, hnsw", None, len(ids), found, "")
    chosen = [ids[place] for place in evenly(len(ids), _COMPARED)]
    vectors = embedded.similarities(chosen, np.eye(queries.shape[1], dtype=np.float32))
    assert vectors is not None  # each number is the inner product with an axis
    knn = table(mappings.HEAD, (ours, *mappings.compared(cluster, vectors, queries)))
    return f"""{side_by_side(rows)}

The sentences nearest to each claim are those of all sentences, each compared by its code.

{knn}

Of the {DOCUMENTS} documents nearest to each claim, all compared, the share that a search finds
with `k` {DOCUMENTS} and `num_candidates` {CANDIDATES}. The lower rows are of temporary indices
on the same node, of vectors alone and merged to one segment; the documents are evenly spread over
the index. All are made from the vectors of the embedded index, a byte a dimension, so that mappings
with floats seem somewhat better than they are. `oversample` is that of
`rescore_vector`; with 0 nothing is rescored."""


def evenly(count: int, most: int) -> list[int]:
    """Return at most so many of the first ``count`` integers, at equal distances."""
    places: list[int] = np.linspace(0, count - 1, min(count, most)).astype(int).tolist()
    return places
