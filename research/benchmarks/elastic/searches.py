"""Searches by vectors: the share of the nearest that they find, and their time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.benchmarks.row import percentile
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.formats.codes import as_bytes
from retrieval.index.interface import DocumentStore

SENTENCES = 20
DOCUMENTS = 100
CANDIDATES = (
    150  # of one search by vectors: one and a half times the wanted number, as in the store
)

Vectors = NDArray[np.float32]


def sentences_found(
    store: DocumentStore, queries: Vectors, nearest: Sequence[set[Any]]
) -> tuple[float, float]:
    """Return the share of the nearest that the store finds, in percent, and its time in ms."""
    shares, times = [], []
    for query, wanted in zip(queries, nearest, strict=True):
        started = time.perf_counter()
        (matches,) = store.nearest_sentences(query[None], SENTENCES)
        times.append(1000 * (time.perf_counter() - started))
        shares.append(len(wanted & {match.key for match in matches}) / len(wanted))
    return 100 * sum(shares) / len(shares), percentile(times, 50)


def documents_found(
    cluster: Cluster,
    index: str,
    oversample: int | None,
    queries: Vectors,
    similar: Vectors,
    places: dict[str, int],
) -> tuple[float, float]:
    """Return the recall of a search by vectors, in percent, and its time in ms.

    ``similar``: the similarity of each document to each query. ``places``: the row of each key.
    Without ``oversample`` bytes are searched.
    """
    knn: dict[str, Any] = {"field": "vector", "k": DOCUMENTS, "num_candidates": CANDIDATES}
    if oversample is not None:
        knn["rescore_vector"] = {"oversample": oversample}
    asked = as_bytes(queries) if oversample is None else queries
    bodies = [
        {"knn": knn | {"query_vector": vector}, "size": DOCUMENTS, "_source": False}
        for vector in asked.tolist()
    ]
    for body in bodies:  # so that no timed search is the first to read the files
        cluster.searches(index, [body])
    shares, times = [], []
    for column, body in enumerate(bodies):
        started = time.perf_counter()
        (hits,) = cluster.searches(index, [body])
        times.append(1000 * (time.perf_counter() - started))
        found = [places[hit["_id"]] for hit in hits]
        shares.append(share_found(similar[:, column], found, DOCUMENTS))
    return 100 * sum(shares) / len(shares), percentile(times, 50)


def share_found(similar: Vectors, found: Sequence[int], wanted: int) -> float:
    """Return the share of the ``wanted`` most similar rows that is among those found.

    ``similar``: the similarity of each row. A row with the same similarity as the last wanted one
    counts too.
    """
    wanted = min(wanted, len(similar))
    least = np.partition(similar, -wanted)[-wanted] - 1e-6
    return min(wanted, int((similar[list(found)] >= least).sum())) / wanted
