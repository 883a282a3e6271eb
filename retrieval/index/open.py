"""The one place that knows which kinds of index there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded import layout

if TYPE_CHECKING:
    from retrieval.index.formats.description import Description
    from retrieval.index.interface import Index

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


def description_of(folder: Path) -> Description:
    """Return the description of the index in a folder, without loading what opens it.

    Whether its files are whole is not looked at, nor whether this version of ESOTERIC reads them.

    Raises:
        IndexUnavailable: there is no index, or its description is damaged.
    """
    return layout.read_description(folder)


def needs_build(folder: Path, source: str) -> Literal["missing", "outdated"] | None:
    """See ``Index.needs_build``; of an index in a folder, without loading what opens it."""
    return layout.needs_build(folder, source)
