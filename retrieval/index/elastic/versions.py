"""The versions of an index: found, written, and swapped in.

An index ``wiki`` is an alias of one of the indices ``wiki-<time>-<random>``, its versions. While
one is written it has the alias ``<version>-written``; then it is sealed, and both aliases change in
one step. A change writes another version.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError
from elasticsearch.helpers import BulkIndexError, streaming_bulk

from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.batches import batched
from retrieval.index.elastic.change_lock import ChangeLock
from retrieval.index.elastic.cluster import Cluster, read_only
from retrieval.index.elastic.elastic_store import ElasticStore
from retrieval.index.elastic.entries import (
    FORMAT,
    SETTINGS,
    ElasticMeta,
    MadeEntries,
    id_in,
    key_of,
    mapping,
    value_in,
)
from retrieval.index.errors import IndexNotBuilt, index_missing, rebuild
from retrieval.index.interface import IndexInfo

logger = logging.getLogger(__name__)

_DOCUMENTS_A_REQUEST = 500
_BYTES_A_REQUEST = 8_000_000
_RETRIES = 10  # of documents that a busy server refused
_SAVED_EVERY = timedelta(seconds=2)
_PLACED_WITHIN = "30s"  # until a new index has a node
# How long, and how many, replaced versions are kept, because workers have them open.
_KEPT_FOR = timedelta(hours=1)
_KEPT_VERSIONS = 20


@dataclass(frozen=True, slots=True)
class Version:
    """An index of Elasticsearch; ``meta`` is None where none was written for it."""

    name: str
    meta: ElasticMeta | None
    serves: bool
    is_written: bool


class Versions:
    """All versions of one index.

    Every method may raise ``IndexUnavailable``: the cluster does not answer.
    """

    def __init__(self, cluster: Cluster, snapshots: Path) -> None:
        """``snapshots``: a folder of this machine for files that are derived from an index."""
        self.cluster = cluster
        self._index = cluster.location.index
        self._files = snapshots / self._index

    def all(self) -> list[Version]:
        """Return the versions, the one that was begun first first."""
        # For "wiki" the pattern also finds those of an index "wiki-2".
        return [one for one in self._named() if self._is_version(one.name)]

    def serving(self) -> Version | None:
        """Return the version that serves, if there is an index."""
        return next((one for one in self._named() if one.serves), None)

    def serving_meta(self) -> ElasticMeta:
        """Return the description of the version that serves.

        Raises:
            IndexUnavailable: there is none, it has another format, or is not an index of ESOTERIC.
        """
        version = self.serving()
        if version is None:
            raise index_missing(self.cluster.location)
        meta = version.meta
        if meta is None or meta.format != FORMAT:
            raise IndexUnavailable(
                "index_format",
                f"The index at {self.cluster.location} is not one that this version of ESOTERIC"
                " reads.",
                rebuild() if meta is None else meta.fix(),
            )
        return meta

    def refuse_other_things(self) -> None:
        """Check that the name is free, or belongs to an index of ESOTERIC.

        Raises:
            IndexNotBuilt: something else has the name and must not be replaced.
        """
        for one in self._named():
            if one.name == self._index or (one.serves and not self._is_version(one.name)):
                raise IndexNotBuilt(
                    "index_not_empty",
                    f"{self.cluster.location} is the name of something that ESOTERIC has not"
                    " built.",
                    "Choose another name for the index.",
                )

    def bad_pages_file(self, version: str) -> Path:
        """Return the file of this machine that lists the unreadable pages of a version."""
        return self._files / f"{version}.bad_pages.txt"

    def opened(self, meta: ElasticMeta) -> ElasticStore:
        """Return a view of the version that is described."""
        return ElasticStore(self.cluster, meta, self._files)

    def begin(
        self, lock: ChangeLock, meta: ElasticMeta, copy_of: str | None = None
    ) -> WrittenVersion:
        """Continue the unfinished work that ``meta`` describes, or begin it.

        ``copy_of``: the version to copy first, for a change of some of the documents.

        Raises:
            IndexUnavailable: no node has space for it.
        """
        client, replaces = self.cluster.patient, self.serving()
        for one in self.all():
            if one.is_written and one.meta is not None and one.meta.plan == meta.plan:
                client.indices.put_settings(index=one.name, settings={"index.blocks.write": False})
                return WrittenVersion(self, lock, one.meta, replaces)
        # A name that sorts after those of earlier versions.
        version = f"{self._index}-{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(2)}"
        new = WrittenVersion(self, lock, replace(meta, version=version), replaces)
        placed: dict[str, Any] = {
            "aliases": {_written(version): {}},
            "wait_for_active_shards": 1,
            "timeout": _PLACED_WITHIN,
        }
        if copy_of is None:
            mappings = {**mapping(meta.dimension), "_meta": new.meta.to_mapping()}
            answer = client.indices.create(
                index=version, settings=SETTINGS, mappings=mappings, **placed
            )
        else:
            settings = {"index.blocks.write": None}
            answer = client.indices.clone(
                index=copy_of, target=version, settings=settings, **placed
            )
        if not answer["shards_acknowledged"]:
            client.indices.delete(index=version)
            raise read_only(self.cluster.location)
        new.save()
        return new

    def drop(self, lock: ChangeLock, version: str) -> None:
        """Remove a version that does not serve, and its list of bad pages."""
        lock.held()
        now = self.serving()
        if now is None or now.name != version:
            self.cluster.patient.options(ignore_status=404).indices.delete(index=version)
            self.bad_pages_file(version).unlink(missing_ok=True)

    def drop_oldest(self, lock: ChangeLock) -> None:
        """Remove versions that were replaced long ago: workers have opened another since."""
        done = sorted(
            (one.meta.built_at, one.name)
            for one in self.all()
            if one.meta is not None and not one.is_written
        )
        oldest = (datetime.now(UTC) - _KEPT_FOR).isoformat(timespec="seconds")
        for place, ((_, version), (replaced_at, _)) in enumerate(pairwise(done)):
            if replaced_at < oldest or place < len(done) - 1 - _KEPT_VERSIONS:
                self.drop(lock, version)

    def _is_version(self, name: str) -> bool:
        """Return whether ``begin`` gave this name to a version of the index."""
        return re.fullmatch(rf"{re.escape(self._index)}-\d{{20}}-[0-9a-f]{{4}}", name) is not None

    def _named(self) -> list[Version]:
        """Return all indices that have the name of the index, or begin with it, in order."""
        found: Mapping[str, Any] = self.cluster.ask(
            lambda client, _: client.indices.get(
                index=[self._index, f"{self._index}-*"],
                features=["aliases", "mappings"],
                ignore_unavailable=True,
            )
        ).body
        return [
            Version(
                name,
                ElasticMeta.of_mapping(one["mappings"], name),
                self._index in one["aliases"],
                _written(name) in one["aliases"],
            )
            for name, one in sorted(found.items())
        ]


class WrittenVersion:
    """A version that is being written. Documents that are sent twice are stored once."""

    def __init__(
        self, versions: Versions, lock: ChangeLock, meta: ElasticMeta, replaces: Version | None
    ) -> None:
        """Continue the version that ``meta`` names; to create one, call ``Versions.begin``.

        ``replaces``: the serving version, which this one will replace.
        """
        self.meta = meta
        self._versions = versions
        self._lock = lock
        self._replaces = replaces
        self._cluster = versions.cluster
        self._client = self._cluster.patient
        self._saved_at = datetime.now(UTC)

    def save(self) -> None:
        """Write the description and progress of the version into the index."""
        self._client.indices.put_mapping(index=self.meta.version, meta=self.meta.to_mapping())
        self._saved_at = datetime.now(UTC)

    def add(self, made: MadeEntries) -> None:
        """Write the entries of the next item, and count it; counts are saved at intervals."""
        self._send({"_id": key_of(e["id"]), "_source": e} for e in made.entries)
        if made.bad:
            listed = self._versions.bad_pages_file(self.meta.version)
            listed.parent.mkdir(parents=True, exist_ok=True)
            with listed.open("a", encoding="utf-8") as stream:
                stream.writelines(f"{line}\n" for line in made.bad)
        self.meta = replace(
            self.meta,
            items=self.meta.items + 1,
            pages=self.meta.pages + made.pages,
            bad_pages=self.meta.bad_pages + len(made.bad),
            first_bad=self.meta.first_bad or next(iter(made.bad), ""),
        )
        if datetime.now(UTC) - self._saved_at > _SAVED_EVERY:
            self.save()

    def remove(self, ids: Iterable[str]) -> None:
        """Remove documents; those that an earlier try removed are no error."""
        actions = ({"_op_type": "delete", "_id": key_of(document_id)} for document_id in ids)
        self._send(actions, ignore=(404,))

    def remove_older_passages(self) -> None:
        """Remove older passages of the long documents that were added."""
        version, scan = self.meta.version, self._cluster.scan
        self._client.indices.refresh(index=version)
        new = {"term": {"plan": self.meta.plan}}
        first = {"bool": {"filter": [new, {"exists": {"field": "title_key"}}]}}
        for some in batched(scan(version, ["whole"], query=first), _DOCUMENTS_A_REQUEST):
            same = {"terms": {"whole": [value_in(hit, "whole") for hit in some]}}
            older = {"bool": {"filter": same, "must_not": new}}
            self.remove(id_in(hit) for hit in scan(version, ["id"], query=older))

    def discard(self) -> None:
        """Remove it."""
        self._lock.held()
        self._client.indices.delete(index=self.meta.version)

    def publish(self, superseded: int | None = None) -> IndexInfo:
        """Count and seal it, and move the alias to it.

        ``superseded``: the number of the previous version, if no pages were read.

        Raises:
            IndexNotBuilt: another process changes the index now.
            IndexUnavailable: the titles cannot be stored on this machine.
        """
        client, version = self._client, self.meta.version
        client.indices.refresh(index=version)
        counted = client.search(
            index=version,
            size=0,
            track_total_hits=True,
            aggregations={
                "sentences": {"value_count": {"field": "numbers"}},
                "written": {"filter": {"term": {"plan": self.meta.plan}}},
                "documents": {"filter": {"exists": {"field": "title_key"}}},
            },
        )
        found = counted["aggregations"]
        written = int(found["written"]["doc_count"])
        digests = (value_in(hit, "digest") for hit in self._cluster.scan(version, ["digest"]))
        self.meta = replace(
            self.meta,
            documents=int(found["documents"]["doc_count"]),
            passages=int(counted["hits"]["total"]["value"]),
            sentences=int(found["sentences"]["value"]),
            superseded=self.meta.pages - written if superseded is None else superseded,
            checksum=checksum_of(digests),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self.save()
        client.indices.put_settings(index=version, settings={"index.blocks.write": True})
        store = self._versions.opened(self.meta)
        store.titles()
        self._swap_in()
        try:
            self._versions.drop_oldest(self._lock)
        except (ApiError, TransportError, EsotericError) as error:
            logger.warning("Older versions stay: esoteric index prune removes them (%s)", error)
        return store.info()

    def keep_bad_pages_of(self, version: str) -> None:
        """Copy the list of bad pages from the version that this one was copied from."""
        listed = self._versions.bad_pages_file(version)
        if listed.exists():
            shutil.copy(listed, self._versions.bad_pages_file(self.meta.version))

    def _send(self, actions: Iterable[Mapping[str, Any]], ignore: Sequence[int] = ()) -> None:
        """Send documents; if the server is busy, in smaller requests and again later."""
        self._lock.held()
        answers = streaming_bulk(
            self._client,
            ({"_index": _written(self.meta.version), **action} for action in actions),
            chunk_size=_DOCUMENTS_A_REQUEST,
            max_chunk_bytes=_BYTES_A_REQUEST,
            max_retries=_RETRIES,
            initial_backoff=0.5,
            max_backoff=30,
            retry_on_status=(429, 503),
            raise_on_error=False,  # it would raise before it tries again
            yield_ok=False,
            require_alias=True,  # this must not create an index that was removed
        )
        for _, answer in answers:
            (result,) = answer.values()
            if result["status"] not in ignore:
                raise BulkIndexError("a document was refused", [answer])

    def _swap_in(self) -> None:
        """Move the alias from the version that this one replaces.

        Raises:
            IndexNotBuilt: the index was changed meanwhile.
        """
        self._lock.held()
        alias, version = self._cluster.location.index, self.meta.version
        actions: list[dict[str, Any]] = [
            {"add": {"index": version, "alias": alias}},
            {"remove": {"index": version, "alias": _written(version), "must_exist": True}},
        ]
        if self._replaces is not None:
            # All or nothing: if another version serves by now, nothing is done.
            before = {"index": self._replaces.name, "alias": alias, "must_exist": True}
            actions.append({"remove": before})
        try:
            self._client.indices.update_aliases(actions=actions)
        except ApiError as error:
            # A request whose answer was lost is sent again; the second answer says that it is done.
            now = self._versions.serving()
            if now is None or now.name != version:
                if error.meta.status == 404:
                    raise self._lock.taken_over() from error
                raise


def checksum_of(digests: Iterable[str]) -> str:
    """Return the digest of the documents' digests, in the order of their ids."""
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest.encode("ascii"))
    return whole.hexdigest()[:16]


def _written(version: str) -> str:
    """Return the alias that a version has while it is written."""
    return f"{version}-written"
