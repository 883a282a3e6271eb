"""Reads many documents of an index in the order of their ids, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.entries import Hit

_PAGE = 2000
_RECORDS_A_PAGE = 100


def scan(
    cluster: Cluster,
    version: str,
    fields: Sequence[str],
    record: bool = False,
    query: Mapping[str, Any] | None = None,
) -> Iterator[Hit]:
    """Yield all hits of a query, or all documents, each with its fields.

    ``record``: with its record too.

    The index does not change, so each page of hits can begin after the last id of the one before.

    Raises:
        IndexUnavailable: the cluster does not answer.
    """
    body: dict[str, Any] = {
        "size": _RECORDS_A_PAGE if record else _PAGE,
        "sort": "id",
        "docvalue_fields": list(fields),
        "_source": record,
        "track_total_hits": False,
    } | ({"query": query} if query else {})
    while True:
        (hits,) = cluster.searches(version, [body], patient=True)
        yield from hits
        if len(hits) < body["size"]:
            return
        body["search_after"] = hits[-1]["sort"]
