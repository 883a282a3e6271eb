"""The versions of an index, and the description of each in ``_meta`` of its mapping.

An index ``wiki`` is an alias of one of the indices ``wiki-<time>-<random>``, its versions. While
one is written it has the alias ``<version>-written``; then it is sealed, and both aliases change in
one step. A change writes another version.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from elasticsearch import Elasticsearch

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
        dimension: the length of the vectors, or 0.
        rotation: some numbers of the matrix that rotates the vectors.
        items: the number of finished items of the work; ``pages``: how many of their pages could
            be read; ``first_bad``: the first that could not.
    """

    format: int
    version: str
    plan: str
    work: str
    dimension: int
    rotation: tuple[float, ...]
    items: int = 0
    pages: int = 0
    first_bad: str = ""

    @classmethod
    def begun(cls, plan: Plan, about: Description, of: str = "", **changes: Any) -> ElasticMeta:
        """Return the description of the work on a plan before anything is written.

        ``about``: the version or the corpus that it begins with. ``of``: the name of the version
        that is changed. ``changes``: other values than those of ``about``.
        """
        own = {"version": "", "dimension": 0, "rotation": ()} | asdict(about) | changes
        digest = plan.digest(format=FORMAT, **({"of": of} if of else {}))
        begun = {"format": FORMAT, "plan": digest, "work": plan.work, "items": 0, "pages": 0}
        return cls.read(own | begun)

    def to_mapping(self) -> dict[str, Any]:
        """Return the content of ``_meta``."""
        return {_KEY: asdict(self)}

    def turns_alike(self) -> bool:
        """Return whether this machine rotates vectors as the one did that made those stored."""
        ours = rotation_numbers(self.dimension)
        return all(abs(a - b) < 1e-2 for a, b in zip(self.rotation, ours, strict=True))


@dataclass(frozen=True, slots=True)
class Version:
    """An index of Elasticsearch; ``meta`` is None where none was written for it."""

    name: str
    meta: ElasticMeta | None
    serves: bool
    is_written: bool


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


def versions(cluster: Cluster) -> list[Version]:
    """Return the versions of the index, the one that was begun first first.

    Raises:
        IndexUnavailable: the cluster does not answer.
    """
    # For "wiki" the pattern also finds those of an index "wiki-2".
    return [one for one in _named(cluster) if is_version(one.name, cluster.location.index)]


def serving(cluster: Cluster) -> Version | None:
    """Return the version that serves, if there is an index; raises what ``versions`` raises."""
    return next((one for one in _named(cluster) if one.serves), None)


def serving_meta(cluster: Cluster) -> ElasticMeta:
    """Return the description of the version that serves.

    Raises:
        IndexUnavailable: there is none, it has another format, is not an index of ESOTERIC, or the
            cluster does not answer.
    """
    version = serving(cluster)
    if version is None:
        raise index_missing(cluster.location)
    meta = version.meta
    if meta is None or meta.format != FORMAT:
        raise IndexUnavailable(
            "index_format",
            f"The index at {cluster.location} is not one that this version of ESOTERIC reads.",
            rebuild() if meta is None else meta.fix(),
        )
    return meta


def refuse_other_things(cluster: Cluster) -> None:
    """Check that the name is free, or belongs to an index of ESOTERIC.

    Raises:
        IndexNotBuilt: something else has the name and must not be replaced.
        IndexUnavailable: the cluster does not answer.
    """
    name = cluster.location.index
    for one in _named(cluster):
        if one.name == name or (one.serves and not is_version(one.name, name)):
            raise IndexNotBuilt(
                "index_not_empty",
                f"{cluster.location} is the name of something that ESOTERIC has not built.",
                "Choose another name for the index.",
            )


def written(version: str) -> str:
    """Return the alias that a version has while it is written."""
    return f"{version}-written"


def new_version(index: str) -> str:
    """Return a name that sorts after those of earlier versions."""
    return f"{index}-{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(2)}"


def is_version(name: str, index: str) -> bool:
    """Return whether ``new_version`` gave this name to a version of the index."""
    return re.fullmatch(rf"{re.escape(index)}-\d{{20}}-[0-9a-f]{{4}}", name) is not None


def _named(cluster: Cluster) -> list[Version]:
    """Return all indices that have the name of the index, or begin with it, in order."""
    name = cluster.location.index

    def question(client: Elasticsearch, _: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = client.indices.get(
            index=[name, f"{name}-*"],
            features=["aliases", "mappings"],
            ignore_unavailable=True,
        ).body
        return found

    return [
        Version(one, _meta(one, found), name in found["aliases"], written(one) in found["aliases"])
        for one, found in sorted(cluster.ask(question).items())
    ]


def _meta(version: str, found: Mapping[str, Any]) -> ElasticMeta | None:
    """Return the description in the mapping of an index, if it has a valid one."""
    values = found["mappings"].get("_meta", {}).get(_KEY)
    if not isinstance(values, dict) or values.get("version") != version:
        return None
    try:
        return ElasticMeta.read(values | {"rotation": tuple(values["rotation"])})
    except (KeyError, TypeError):
        return None
