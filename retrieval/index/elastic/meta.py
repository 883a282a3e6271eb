"""The versions of an index, and the description of each in ``_meta`` of its mapping.

An index ``wiki`` is an alias of one of the indices ``wiki-<time>-<random>``, its
versions. A version is written once and then sealed; a change writes another version, and the alias
moves to that in one step.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from elasticsearch import ApiError, Elasticsearch

from retrieval.errors import IndexUnavailable
from retrieval.index.elastic.cluster import Cluster, index_missing
from retrieval.index.elastic.entries import FORMAT
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded.building import IndexNotBuilt
from retrieval.index.embedded.layout import rebuild

_KEY = "esoteric"


@dataclass(frozen=True, slots=True)
class Meta:
    """The description of one version.

    Attributes:
        version: the name of the Elasticsearch index that this was written for. A copy of the index
            has another name, and is not valid until its own name is written here.
        plan: a digest of the content of the work; the same work has the same. ``work``: in words.
        state: ``building`` until the version is complete.
        name, source: of the corpus.
        encoder: the name of the encoder of the vectors, "" without vectors; ``meets``: the text
            encoder that they are compared with; ``dimension``: their length, or 0.
        rotation: some numbers of the matrix that rotates the vectors.
        changed: whether pages were added or removed; a build from the source loses these changes.
        items: the number of finished items of the work; ``pages`` and ``bad_pages``: how many of
            their pages could be read and could not; ``first_bad``: the first that could not.
        date: the day of the newest text that was read, "" if unknown.
        superseded: pages that had the id of a later one.
        documents: a long one counts once; ``passages``: each of its passages counts.
        replaced_at: when another version replaced it, ISO 8601 in UTC, or "".
    """

    format: int
    version: str
    plan: str
    work: str
    state: Literal["building", "ready"]
    name: str
    source: str
    encoder: str
    meets: str
    dimension: int
    rotation: tuple[float, ...]
    changed: bool = False
    items: int = 0
    pages: int = 0
    bad_pages: int = 0
    first_bad: str = ""
    superseded: int = 0
    date: str = ""
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    checksum: str = ""
    built_at: str = ""
    replaced_at: str = ""

    def to_mapping(self) -> dict[str, Any]:
        """Return the content of ``_meta``."""
        return {_KEY: asdict(self)}

    def rebuild(self) -> str:
        """Return the hint with the command that builds such a version again."""
        return rebuild(self.source, self.encoder, self.changed)

    @classmethod
    def of(cls, version: str, mappings: Mapping[str, Any]) -> Meta | None:
        """Read the answer of ``GET VERSION/_mapping``; None if it has no valid description."""
        values = mappings.get("mappings", {}).get("_meta", {}).get(_KEY)
        if not isinstance(values, dict) or values.get("version") != version:
            return None
        known = {field.name for field in fields(cls)}
        read = {name: value for name, value in values.items() if name in known}
        try:
            return cls(**(read | {"rotation": tuple(read["rotation"])}))
        except (KeyError, TypeError):
            return None


def serving_version(cluster: Cluster) -> str:
    """Return the name of the version that serves.

    Raises:
        IndexUnavailable: there is none, or the cluster does not answer.
    """
    version = serving_version_or_none(cluster)
    if version is None:
        raise index_missing(cluster.location)
    return version


def serving_version_or_none(cluster: Cluster) -> str | None:
    """Return the name of the version that serves, None if there is no index.

    Raises:
        IndexUnavailable: the cluster does not answer.
    """
    name = cluster.location.index

    def question(client: Elasticsearch, _: str) -> list[str]:
        try:
            return list(client.indices.get_alias(name=name))
        except ApiError as error:
            if error.meta.status == 404:
                return []
            raise

    return max(cluster.ask(question), default=None)


def read_meta(cluster: Cluster, version: str) -> Meta:
    """Return the description of a version.

    Raises:
        IndexUnavailable: it has another format, is not an index of ESOTERIC, or is gone.
    """
    mappings = cluster.ask(lambda client, _: client.indices.get_mapping(index=version))
    meta = Meta.of(version, mappings[version])
    if meta is None or meta.format != FORMAT:
        raise IndexUnavailable(
            "index_format",
            f"The index at {cluster.location} is not one that this version of ESOTERIC reads.",
            rebuild() if meta is None else meta.rebuild(),
        )
    return meta


def all_versions(cluster: Cluster) -> dict[str, Meta | None]:
    """Return the versions of the index, the oldest first, with the description of each.

    It is None if the build ended before it wrote anything.
    """
    pattern = f"{cluster.location.index}-*"
    found = cluster.ask(
        lambda client, _: client.indices.get_mapping(index=pattern, allow_no_indices=True)
    )
    # For "wiki" the pattern also finds those of an index "wiki-2".
    ours = (name for name in sorted(found) if is_version(name, cluster.location.index))
    return {name: Meta.of(name, found[name]) for name in ours}


def refuse_other_things(cluster: Cluster) -> None:
    """Check that the name is free, or belongs to an index of ESOTERIC.

    Raises:
        IndexNotBuilt: something else has the name and must not be replaced.
        IndexUnavailable: the cluster does not answer.
    """
    name = cluster.location.index
    version = serving_version_or_none(cluster)
    taken = cluster.ask(lambda client, _: bool(client.indices.exists(index=name)))
    if (version is None and taken) or (version is not None and not is_version(version, name)):
        raise _not_ours(cluster.location)


def _not_ours(location: ElasticLocation) -> IndexNotBuilt:
    return IndexNotBuilt(
        "index_not_empty",
        f"{location} is the name of something that ESOTERIC has not built.",
        "Choose another name for the index.",
    )


def new_version(index: str) -> str:
    """Return a name that sorts after those of earlier versions."""
    return f"{index}-{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(2)}"


def is_version(name: str, index: str) -> bool:
    """Return whether ``new_version`` gave this name to a version of the index."""
    return re.fullmatch(rf"{re.escape(index)}-\d{{20}}-[0-9a-f]{{4}}", name) is not None
