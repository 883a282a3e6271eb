"""The versions of an index, and the description of each in ``_meta`` of its mapping.

An index ``wiki`` is an alias of one of the indices ``wiki-<time>-<random>``, its
versions. A version is written once and then sealed; a change writes another version, and the alias
moves to that in one step.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from elasticsearch import ApiError, Elasticsearch

from retrieval.errors import IndexUnavailable
from retrieval.index.building import Plan, name_of
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.entries import FORMAT
from retrieval.index.errors import IndexNotBuilt, index_missing, rebuild
from retrieval.index.formats.codes import rotation
from retrieval.index.formats.description import Description
from retrieval.models.encoders import DocumentEncoder

_KEY = "esoteric"
_ROTATION_NUMBERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticMeta(Description):
    """The description of a version and of the work on it.

    Attributes:
        version: the name of the Elasticsearch index that this was written for. A copy of the index
            has another name, and is not valid until its own name is written here.
        plan: a digest of the ``Plan``; ``work``: the plan in words.
        state: ``building`` until the version is complete.
        dimension: the length of the vectors, or 0.
        rotation: some numbers of the matrix that rotates the vectors.
        items: the number of finished items of the work; ``pages``: how many of their pages could
            be read; ``first_bad``: the first that could not.
        replaced_at: when another version replaced it, ISO 8601 in UTC, or "".
    """

    format: int
    version: str
    plan: str
    work: str
    state: Literal["building", "ready"]
    dimension: int
    rotation: tuple[float, ...]
    items: int = 0
    pages: int = 0
    first_bad: str = ""
    replaced_at: str = ""

    @classmethod
    def begun(cls, plan: Plan, about: Description, of: str = "", **changes: Any) -> ElasticMeta:
        """Return the description of the work on a plan before anything is written.

        ``about``: the version or the corpus that it begins with. ``of``: the name of the version
        that is changed. ``changes``: other values than those of ``about``.
        """
        own = {"version": "", "dimension": 0, "rotation": ()} | asdict(about) | changes
        conditions = {"of": of} if of else {}
        return cls.read(
            own
            | {
                "format": FORMAT,
                "plan": plan.digest(format=FORMAT, **conditions),
                "work": plan.work,
                "state": "building",
                "items": 0,
                "pages": 0,
                "replaced_at": "",
            }
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the content of ``_meta``."""
        return {_KEY: asdict(self)}

    @classmethod
    def of(cls, version: str, mappings: Mapping[str, Any]) -> ElasticMeta | None:
        """Read the answer of ``GET VERSION/_mapping``; None if it has no valid description."""
        values = mappings.get("mappings", {}).get("_meta", {}).get(_KEY)
        if not isinstance(values, dict) or values.get("version") != version:
            return None
        try:
            return cls.read(values | {"rotation": tuple(values["rotation"])})
        except (KeyError, TypeError):
            return None

    def turns_alike(self) -> bool:
        """Return whether this machine rotates vectors as the one did that made those stored."""
        ours = rotation_numbers(self.dimension)
        return all(abs(a - b) < 1e-2 for a, b in zip(self.rotation, ours, strict=True))


def vectors_of(encoder: DocumentEncoder | None) -> dict[str, Any]:
    """Return what a description says of the vectors of an encoder, if there is one."""
    dimension = encoder.dimension if encoder is not None else 0
    return {
        "encoder": name_of(encoder),
        "meets": encoder.query_encoder if encoder is not None else "",
        "dimension": dimension,
        "rotation": rotation_numbers(dimension),
    }


def rotation_numbers(dimension: int) -> tuple[float, ...]:
    """Return some numbers of ``codes.rotation``, by which machines can compare theirs."""
    if not dimension:
        return ()
    return tuple(float(number) for number in rotation(dimension).sum(axis=0)[:_ROTATION_NUMBERS])


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


def read_meta(cluster: Cluster, version: str) -> ElasticMeta:
    """Return the description of a version.

    Raises:
        IndexUnavailable: it has another format, is not an index of ESOTERIC, or is gone.
    """
    mappings = cluster.ask(lambda client, _: client.indices.get_mapping(index=version))
    meta = ElasticMeta.of(version, mappings[version])
    if meta is None or meta.format != FORMAT:
        raise IndexUnavailable(
            "index_format",
            f"The index at {cluster.location} is not one that this version of ESOTERIC reads.",
            rebuild() if meta is None else meta.fix(),
        )
    return meta


def all_versions(cluster: Cluster) -> dict[str, ElasticMeta | None]:
    """Return the versions of the index, the oldest first, with the description of each.

    It is None if the build ended before it wrote anything.
    """
    pattern = f"{cluster.location.index}-*"
    found = cluster.ask(
        lambda client, _: client.indices.get_mapping(index=pattern, allow_no_indices=True)
    )
    # For "wiki" the pattern also finds those of an index "wiki-2".
    ours = (name for name in sorted(found) if is_version(name, cluster.location.index))
    return {name: ElasticMeta.of(name, found[name]) for name in ours}


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
        raise IndexNotBuilt(
            "index_not_empty",
            f"{cluster.location} is the name of something that ESOTERIC has not built.",
            "Choose another name for the index.",
        )


def new_version(index: str) -> str:
    """Return a name that sorts after those of earlier versions."""
    return f"{index}-{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(2)}"


def is_version(name: str, index: str) -> bool:
    """Return whether ``new_version`` gave this name to a version of the index."""
    return re.fullmatch(rf"{re.escape(index)}-\d{{20}}-[0-9a-f]{{4}}", name) is not None
