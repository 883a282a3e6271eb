"""Writes one version of an index, and replaces the serving one with it."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError
from elasticsearch.helpers import BulkIndexError, streaming_bulk

from retrieval.errors import EsotericError
from retrieval.index.batches import batched
from retrieval.index.elastic.change_lock import ChangeLock
from retrieval.index.elastic.cluster import Cluster, read_only, scan
from retrieval.index.elastic.elastic_store import ElasticStore
from retrieval.index.elastic.entries import (
    SETTINGS,
    MadeEntries,
    id_in,
    key_of,
    mapping,
    value_in,
)
from retrieval.index.elastic.versions import (
    ElasticMeta,
    Version,
    new_version,
    serving,
    versions,
    written,
)
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


class ElasticVersion:
    """A version that is being written. Documents that are sent twice are stored once."""

    def __init__(
        self,
        cluster: Cluster,
        lock: ChangeLock,
        snapshots: Path,
        meta: ElasticMeta,
        replaces: Version | None,
    ) -> None:
        """Continue the version that ``meta`` names; to create one, call ``resume_or_start``.

        ``replaces``: the serving version, which this one will replace.
        """
        self.meta = meta
        self._replaces = replaces
        self._cluster = cluster
        self._client = cluster.patient
        self._lock = lock
        self._snapshots = snapshots
        self._saved_at = datetime.now(UTC)

    @classmethod
    def resume_or_start(
        cls,
        cluster: Cluster,
        lock: ChangeLock,
        snapshots: Path,
        meta: ElasticMeta,
        copy_of: str | None = None,
    ) -> ElasticVersion:
        """Continue unfinished work with the same plan, or begin it.

        ``copy_of``: the version to copy first, for a change of some of the documents.

        Raises:
            IndexUnavailable: no node has space for it.
        """
        client = cluster.patient
        replaces = serving(cluster)
        for one in versions(cluster):
            if one.is_written and one.meta is not None and one.meta.plan == meta.plan:
                client.indices.put_settings(index=one.name, settings={"index.blocks.write": False})
                return cls(cluster, lock, snapshots, one.meta, replaces)
        version = new_version(cluster.location.index)
        new = cls(cluster, lock, snapshots, replace(meta, version=version), replaces)
        placed: dict[str, Any] = {
            "aliases": {written(version): {}},
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
            raise read_only(cluster.location)
        new.save()
        return new

    def save(self) -> None:
        """Write the description and progress of the version into the index."""
        self._client.indices.put_mapping(index=self.meta.version, meta=self.meta.to_mapping())
        self._saved_at = datetime.now(UTC)

    def add(self, made: MadeEntries) -> None:
        """Write the entries of the next item."""
        self._send({"_id": key_of(e["id"]), "_source": e} for e in made.entries)
        self._count(made)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove documents; those that an earlier try removed are no error."""
        actions = ({"_op_type": "delete", "_id": key_of(document_id)} for document_id in ids)
        self._send(actions, ignore=(404,))

    def remove_older_passages(self) -> None:
        """Remove older passages of the long documents that were added."""
        version = self.meta.version
        self._client.indices.refresh(index=version)
        new = {"term": {"plan": self.meta.plan}}
        first = {"bool": {"filter": [new, {"exists": {"field": "title_key"}}]}}
        hits = scan(self._cluster, version, ["whole"], query=first)
        for some in batched(hits, _DOCUMENTS_A_REQUEST):
            same = {"terms": {"whole": [value_in(hit, "whole") for hit in some]}}
            older = {"bool": {"filter": same, "must_not": new}}
            self.remove(id_in(hit) for hit in scan(self._cluster, version, ["id"], query=older))

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
        written = int(counted["aggregations"]["written"]["doc_count"])
        self.meta = replace(
            self.meta,
            documents=int(counted["aggregations"]["documents"]["doc_count"]),
            passages=int(counted["hits"]["total"]["value"]),
            sentences=int(counted["aggregations"]["sentences"]["value"]),
            superseded=self.meta.pages - written if superseded is None else superseded,
            checksum=checksum_of(
                value_in(hit, "digest") for hit in scan(self._cluster, version, ["digest"])
            ),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self.save()
        client.indices.put_settings(index=version, settings={"index.blocks.write": True})
        store = ElasticStore(self._cluster, self.meta, self._snapshots)
        store.titles()
        self._swap_in()
        try:
            self._drop_oldest()
        except (ApiError, TransportError, EsotericError) as error:
            logger.warning("Older versions stay: esoteric index prune removes them (%s)", error)
        return store.info()

    def keep_bad_pages_of(self, version: str) -> None:
        """Copy the list of bad pages from the version that this one was copied from."""
        listed = bad_pages_file(self._snapshots, self._cluster, version)
        if listed.exists():
            shutil.copy(listed, bad_pages_file(self._snapshots, self._cluster, self.meta.version))

    def _send(self, actions: Iterable[Mapping[str, Any]], ignore: Sequence[int] = ()) -> None:
        """Send documents; if the server is busy, in smaller requests and again later."""
        self._lock.held()
        answers = streaming_bulk(
            self._client,
            ({"_index": written(self.meta.version), **action} for action in actions),
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

    def _count(self, made: MadeEntries) -> None:
        """Count a finished item; the counts are saved at intervals."""
        if made.bad:
            listed = bad_pages_file(self._snapshots, self._cluster, self.meta.version)
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

    def _swap_in(self) -> None:
        """Move the alias from the version that this one replaces.

        Raises:
            IndexNotBuilt: the index was changed meanwhile.
        """
        self._lock.held()
        alias, version = self._cluster.location.index, self.meta.version
        actions: list[dict[str, Any]] = [
            {"add": {"index": version, "alias": alias}},
            {"remove": {"index": version, "alias": written(version), "must_exist": True}},
        ]
        if self._replaces is not None:
            # All or nothing: if another version serves by now, nothing is done.
            before = {"index": self._replaces.name, "alias": alias, "must_exist": True}
            actions.append({"remove": before})
        try:
            self._client.indices.update_aliases(actions=actions)
        except ApiError as error:
            # A request whose answer was lost is sent again; the second answer says that it is done.
            now = serving(self._cluster)
            if now is None or now.name != version:
                if error.meta.status == 404:
                    raise self._lock.taken_over() from error
                raise

    def _drop_oldest(self) -> None:
        """Remove versions that were replaced long ago: workers have opened another since."""
        done = sorted(
            (one.meta.built_at, one.name)
            for one in versions(self._cluster)
            if one.meta is not None and not one.is_written
        )
        oldest = (datetime.now(UTC) - _KEPT_FOR).isoformat(timespec="seconds")
        for place, ((_, version), (replaced_at, _)) in enumerate(pairwise(done)):
            if replaced_at < oldest or place < len(done) - 1 - _KEPT_VERSIONS:
                drop(self._cluster, self._lock, self._snapshots, version)


def drop(cluster: Cluster, lock: ChangeLock, snapshots: Path, version: str) -> None:
    """Remove a version that does not serve, and its list of bad pages."""
    lock.held()
    now = serving(cluster)
    if now is None or now.name != version:
        cluster.patient.options(ignore_status=404).indices.delete(index=version)
        bad_pages_file(snapshots, cluster, version).unlink(missing_ok=True)


def bad_pages_file(snapshots: Path, cluster: Cluster, version: str) -> Path:
    """Return the file of this machine that lists the unreadable pages of a version."""
    return snapshots / cluster.location.index / f"{version}.bad_pages.txt"


def checksum_of(digests: Iterable[str]) -> str:
    """Return the digest of the documents' digests, in the order of their ids."""
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest.encode("ascii"))
    return whole.hexdigest()[:16]
