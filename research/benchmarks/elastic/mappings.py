"""Compares the formats of document vectors in Elasticsearch, with temporary indices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from research.benchmarks.elastic.builds import stats
from research.benchmarks.elastic.report import Cells, doing
from research.benchmarks.elastic.searches import DOCUMENTS, Vectors, documents_found
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.formats.codes import as_bytes

HEAD = (
    "document vectors",
    "oversample",
    "documents",
    f"recall@{DOCUMENTS}, %",
    "p50, ms",
    "MB on disk",
)
_THROW_AWAY = "bench-knn"


@dataclass(frozen=True, slots=True)
class VectorMapping:
    """A format of document vectors in Elasticsearch, and the values of ``oversample`` to test.

    An index of bytes has no more exact numbers for rescoring, so it is searched without (None).
    """

    kind: str
    element: str
    oversamples: tuple[int | None, ...]


_MAPPINGS = (
    VectorMapping("hnsw", "byte", (None,)),
    VectorMapping("int8_hnsw", "float", (0, 3)),
    VectorMapping("bbq_hnsw", "float", (0, 3)),
)


def compared(cluster: Cluster, vectors: Vectors, queries: Vectors) -> Iterator[Cells]:
    """Yield a row of the table for each mapping and each oversample."""
    similar = vectors @ queries.T
    places = {str(place): place for place in range(len(vectors))}
    for mapping in _MAPPINGS:
        name = f"{_THROW_AWAY}-{mapping.kind}"
        doing(name)
        with _throw_away(cluster.patient, name, mapping, vectors) as size:
            for oversample in mapping.oversamples:
                found = documents_found(cluster, name, oversample, queries, similar, places)
                what, on_disk = f"{mapping.element}, {mapping.kind}", f"{size / 1e6:,.1f}"
                yield row(what, oversample, len(vectors), found, on_disk)


def row(
    what: str, oversample: int | None, documents: int, found: tuple[float, float], on_disk: str
) -> Cells:
    """Return a row of the table from the result of ``documents_found``."""
    shown = "" if oversample is None else str(oversample)
    return what, shown, f"{documents:,}", *(f"{figure:.1f}" for figure in found), on_disk


@contextmanager
def _throw_away(
    client: Elasticsearch, name: str, mapping: VectorMapping, vectors: Vectors
) -> Iterator[int]:
    """Create an index of vectors, yield its bytes, and delete it."""
    client.options(ignore_status=404).indices.delete(index=name)
    client.indices.create(
        index=name,
        settings={
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "refresh_interval": "-1",
            "store.stats_refresh_interval": "0s",
        },
        mappings={
            "_source": {"enabled": False},
            "properties": {
                "vector": {
                    "type": "dense_vector",
                    "dims": vectors.shape[1],
                    "element_type": mapping.element,
                    "similarity": "cosine",
                    "index": True,
                    "index_options": {"type": mapping.kind},
                }
            },
        },
    )
    try:
        rows = as_bytes(vectors) if mapping.element == "byte" else vectors
        actions = (
            {"_index": name, "_id": str(place), "vector": vector.tolist()}
            for place, vector in enumerate(rows)
            if vector.any()  # nothing is near a vector of zeros
        )
        bulk(client, actions)
        client.indices.refresh(index=name)
        client.indices.forcemerge(index=name, max_num_segments=1)
        client.indices.refresh(index=name)  # so that merged segments are deleted
        yield int(stats(client, name)["store"]["size_in_bytes"])
    finally:
        client.indices.delete(index=name)
