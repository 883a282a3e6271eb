"""What an index in Elasticsearch says of itself: kept in ``_meta`` of its mapping.

``NAME`` is an alias of one index, ``NAME-<time>-<random>``, which is never written again. Another
version is another index; the alias changes to it in one step when it is complete.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from elasticsearch import ApiError, Elasticsearch

from retrieval.elastic.cluster import Cluster, index_missing
from retrieval.elastic.entries import FORMAT
from retrieval.errors import IndexUnavailable
from retrieval.mends import esoteric_command

_KEY = "esoteric"


@dataclass(frozen=True, slots=True)
class Meta:
    """What is known of one version of an index.

    Attributes:
        plan: a digest of what it is made of; the same work has the same.
        state: an index is ``building`` until all of it is there.
        items: of how many items of the work everything is there, and ``pages`` and ``bad_pages``
            those that were read of them, ``first_bad`` the first that could not be.
        builder: which process writes it, and ``beat`` when it last wrote, seconds since 1970.
        meets: the text encoder that the vectors are compared with; ``encoder`` made them.
        turn: some numbers of the matrix that they are turned by.
        superseded: pages that had the id of a later one.
    """

    format: int
    plan: str
    what: str
    state: Literal["building", "ready"]
    name: str
    source: str
    encoder: str
    meets: str
    dimension: int
    turn: tuple[float, ...]
    builder: str
    beat: float
    items: int = 0
    pages: int = 0
    bad_pages: int = 0
    first_bad: str = ""
    superseded: int = 0
    documents: int = 0
    sentences: int = 0
    checksum: str = ""
    built_at: str = ""

    def to_mapping(self) -> dict[str, Any]:
        """Return what ``_meta`` holds."""
        return {_KEY: asdict(self)}

    @classmethod
    def of(cls, mappings: Mapping[str, Any]) -> Meta | None:
        """Read the answer of ``GET INDEX/_mapping``; None if it is no index of ours."""
        values = mappings.get("mappings", {}).get("_meta", {}).get(_KEY)
        if not isinstance(values, dict):
            return None
        known = {field.name for field in fields(cls)}
        read = {name: value for name, value in values.items() if name in known}
        try:
            return cls(**(read | {"turn": tuple(read["turn"])}))
        except (KeyError, TypeError):
            return None


def current(cluster: Cluster) -> str:
    """Return the name of the version that the alias stands for.

    Raises:
        IndexUnavailable: there is none, or the cluster does not answer.
    """
    name = cluster.location.index

    def question(client: Elasticsearch, _: str) -> list[str]:
        try:
            return list(client.indices.get_alias(name=name))
        except ApiError as error:
            if error.meta.status == 404:
                return []
            raise

    versions = cluster.ask(question)
    if not versions:
        raise index_missing(cluster.location)
    return min(versions)


def read_meta(cluster: Cluster, version: str) -> Meta:
    """Return what a version says of itself.

    Raises:
        IndexUnavailable: it is of another format or of something else, or is gone.
    """
    mappings = cluster.ask(lambda client, _: client.indices.get_mapping(index=version))
    meta = Meta.of(mappings[version])
    if meta is None or meta.format != FORMAT:
        raise IndexUnavailable(
            "index_format",
            f"The index at {cluster.location} is not one that this version of ESOTERIC reads.",
            f"Run: {esoteric_command('index build --source vital')}",
        )
    return meta


def versions(cluster: Cluster) -> dict[str, Meta]:
    """Return all versions of the index, complete or not, by name."""
    pattern = f"{cluster.location.index}-*"
    found = cluster.ask(
        lambda client, _: client.indices.get_mapping(index=pattern, allow_no_indices=True)
    )
    read = {name: Meta.of(mappings) for name, mappings in found.items()}
    return {name: meta for name, meta in sorted(read.items()) if meta is not None}


def new_version(index: str) -> str:
    """Return a name that sorts after those of earlier versions."""
    return f"{index}-{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(2)}"
