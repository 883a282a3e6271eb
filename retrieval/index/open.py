"""The one place that knows which kinds of index there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from retrieval.index.elastic.location import ElasticLocation

# Of an index in a folder, without loading what opens it.
from retrieval.index.embedded.layout import description_of, needs_build

if TYPE_CHECKING:
    from retrieval.index.interface import Index
    from retrieval.types import Document

__all__ = ["IndexLocation", "as_read", "description_of", "needs_build", "open_index"]

IndexLocation: TypeAlias = Path | ElasticLocation


def open_index(location: IndexLocation, snapshots: Path, processes: int = 1) -> Index:
    """Return the index at this location: in a folder, or on Elasticsearch.

    It need not be there yet. ``snapshots`` is a folder of this machine for files that are
    derived from an index on a server; work is done by so many processes. What a kind needs is
    imported when one of it is opened.
    """
    if isinstance(location, ElasticLocation):
        from retrieval.index.elastic.elastic_index import ElasticIndex

        return ElasticIndex(location, snapshots, processes)
    from retrieval.index.embedded.embedded_index import EmbeddedIndex

    return EmbeddedIndex(location, processes)


def as_read(index: Path, document: str, most: int) -> list[Document]:
    """Return a document of an index in a folder; see ``embedded_store.as_read``."""
    from retrieval.index.embedded import embedded_store

    return embedded_store.as_read(index, document, most)
