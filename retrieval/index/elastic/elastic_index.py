"""Builds an index in Elasticsearch and changes it: resumable after a kill, swapped in by an alias.

``meta`` describes the parts of such an index.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError
from elasticsearch.helpers import BulkIndexError

from retrieval.corpora.corpus import Corpus, kind_of
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.batches import batched
from retrieval.index.elastic.change_lock import ChangeLock, being_changed
from retrieval.index.elastic.cluster import Cluster, document_refused, problem, read_only
from retrieval.index.elastic.elastic_store import ElasticStore
from retrieval.index.elastic.entries import (
    FORMAT,
    code_in,
    digest_of,
    id_in,
    key_of,
    sentence_codes_in,
    value_in,
)
from retrieval.index.elastic.entry_maker import Item, SplitDocuments
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.elastic.meta import (
    Meta,
    all_versions,
    read_meta,
    refuse_other_things,
    serving_version,
    serving_version_or_none,
)
from retrieval.index.elastic.new_version import (
    NewVersion,
    bad_pages_file,
    checksum_of,
    drop,
    settle,
)
from retrieval.index.elastic.scan import scan
from retrieval.index.elastic.unchanged import Before
from retrieval.index.embedded.layout import damaged, other_encoder
from retrieval.index.formats.codes import rotation
from retrieval.index.interface import (
    BadPages,
    BuildProgress,
    Index,
    IndexInfo,
    ProgressListener,
    tell_nobody,
    unknown_document,
)
from retrieval.models.encoders.encoder import DocumentEncoder
from retrieval.system.fixes import esoteric_command

_RECORDS_AN_ITEM = 256
_ROTATION_NUMBERS = 8


class ElasticIndex:
    """An index in Elasticsearch; see ``Index``."""

    def __init__(self, location: ElasticLocation, snapshots: Path, processes: int = 1) -> None:
        """Store the location; no request is sent yet.

        ``snapshots``: a folder of this machine for files that are derived from the index.
        ``processes``: how many processes split and encode documents.
        """
        self._location = location
        self._snapshots = snapshots
        self._processes = processes
        self._cluster = Cluster(location)

    def open(self, meets: str | None) -> ElasticStore:
        """See ``Index.open``; raises also if Elasticsearch does not answer."""
        self._cluster.check_version()
        meta = read_meta(self._cluster, self.version())
        if meta.encoder and meets is not None and meta.meets != meets:
            raise other_encoder(meta.encoder, meets)
        if not _same_rotation(meta):
            raise IndexUnavailable(
                "index_rotation",
                f"This machine computes the rotation of vectors differently from the one that built"
                f" the index at {self._location}, so it cannot compare them.",
                f"Run: {esoteric_command('index encode')}",
            )
        return ElasticStore(self._cluster, meta, self._snapshots)

    def version(self) -> str:
        """See ``Index.version``. It is read by a search, so that an index with missing parts fails.

        Raises:
            IndexUnavailable: there is no index, or Elasticsearch does not answer.
        """
        body = {"size": 1, "_source": False, "track_total_hits": False}
        (hits,) = self._cluster.searches(self._location.index, [body])
        return str(hits[0]["_index"]) if hits else serving_version(self._cluster)

    def lacks(self, source: str) -> bool:
        """See ``Index.lacks``."""
        serving = serving_version_or_none(self._cluster)
        if serving is None:
            return True
        meta = all_versions(self._cluster).get(serving)
        outdated = meta is not None and meta.format != FORMAT and not meta.changed
        return outdated and meta is not None and meta.source == source

    def verify(self) -> None:
        """See ``Index.verify``: every document is read and compared with its digest."""
        meta = read_meta(self._cluster, self.version())
        if checksum_of(self._checked_digests(meta)) != meta.checksum:
            raise damaged(meta.rebuild())

    def diagnose(self) -> None:
        """See ``Index.diagnose``: whether the index answers, and whether the disk has space."""
        self.version()
        report = self._cluster.ask(lambda client, _: client.health_report(feature="disk"))
        if report["indicators"]["disk"]["status"] in ("yellow", "red"):
            raise read_only(self._location)

    def bad_pages(self) -> BadPages:
        """See ``Index.bad_pages``; they are listed on the machine that built the index."""
        meta = read_meta(self._cluster, serving_version(self._cluster))
        listed = bad_pages_file(self._snapshots, self._cluster, meta.version)
        return BadPages(meta.first_bad, str(listed) if listed.exists() else "")

    def unfinished(self) -> list[str]:
        """See ``Index.unfinished``."""
        name = self._location.index
        if self._cluster.ask(lambda client, _: being_changed(client, name)):
            return []
        serving = serving_version_or_none(self._cluster)
        return [
            f"Unfinished: {meta.work}, {meta.pages} pages so far. The same command continues it"
            " unless the source has changed; if it is not wanted, run:"
            f" {esoteric_command('index prune')}"
            for version, meta in all_versions(self._cluster).items()
            if meta is not None and meta.state == "building" and version != serving
        ]

    def prune(self) -> list[str]:
        """See ``Index.prune``."""
        with self._changing() as lock:
            serving = serving_version_or_none(self._cluster)
            others = [version for version in all_versions(self._cluster) if version != serving]
            for version in others:
                drop(self._cluster, lock, self._snapshots, version)
        return others

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """See ``Index.build``.

        Raises also:
            IndexUnavailable: Elasticsearch does not answer, or its disk is full.
            IndexNotBuilt: another process changes the index, or something else has its name.
        """
        with self._changing() as lock:
            plan = _digest(_described(corpus, encoder))
            meta = _meta_of(corpus.name, corpus.source, corpus.date, encoder)
            meta = replace(meta, plan=plan, work=f"a build of {corpus.source}")
            new = NewVersion.resume_or_start(self._cluster, lock, self._snapshots, meta)
            self._read(new, corpus, encoder, on_progress, self._updated_by(meta))
            return new.publish()

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """See ``Index.add``; raises what ``build`` raises too."""
        with self._changing() as lock:
            before = read_meta(self._cluster, serving_version(self._cluster))
            if before.encoder != _name(encoder):
                raise other_encoder(before.encoder, _name(encoder))
            plan = _digest({**_described(corpus, encoder), "to": before.version})
            newest = max(before.date, corpus.date)
            meta = _meta_of(before.name, before.source, newest, encoder)
            meta = replace(meta, plan=plan, work=f"an addition of {corpus.source}", changed=True)
            new = NewVersion.resume_or_start(
                self._cluster, lock, self._snapshots, meta, before.version
            )
            self._read(new, corpus, encoder, on_progress, None)
            new.remove_older_passages()
            return new.publish()

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = tell_nobody
    ) -> IndexInfo:
        """See ``Index.encode``; raises what ``build`` raises too."""
        with self._changing() as lock:
            before = read_meta(self._cluster, serving_version(self._cluster))
            meta = replace(
                _meta_of(before.name, before.source, before.date, encoder),
                plan=_digest({"encode": encoder.name, "of": before.version}),
                work=f"vectors of {encoder.name}",
                changed=before.changed,
                bad_pages=before.bad_pages,
                first_bad=before.first_bad,
            )
            new = NewVersion.resume_or_start(self._cluster, lock, self._snapshots, meta)
            new.keep_bad_pages_of(before.version)
            hits = scan(self._cluster, before.version, ["id"], record=True)
            items: Iterator[Item] = (
                SplitDocuments([hit["_source"]["record"] for hit in some])
                for some in batched(hits, _RECORDS_AN_ITEM)
            )

            def progress(done: int) -> None:
                on_progress(BuildProgress("encoding", done, before.documents, done))

            progress(new.meta.pages)
            for _ in new.write(items, encoder, self._processes):
                progress(new.meta.pages)
            return new.publish(superseded=before.superseded)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        """See ``Index.remove``; raises what ``build`` raises too."""
        with self._changing() as lock:
            before = read_meta(self._cluster, serving_version(self._cluster))
            wanted = list(dict.fromkeys(ids))
            entries = self._entries_of(before.version, wanted)
            meta = replace(
                before,
                plan=_digest({"without": wanted, "of": before.version}),
                work="a removal",
                state="building",
                changed=True,
                replaced_at="",
            )
            new = NewVersion.resume_or_start(
                self._cluster, lock, self._snapshots, meta, before.version
            )
            new.keep_bad_pages_of(before.version)
            new.remove(entries)
            return new.publish(superseded=before.superseded)

    def _checked_digests(self, meta: Meta) -> Iterator[str]:
        """Yield the digest of each document; raise ``IndexUnavailable`` if one is wrong."""
        vectors = ["code", "numbers", "sentence_codes"] if meta.dimension else []
        for hit in scan(self._cluster, meta.version, ["id", "digest", *vectors], record=True):
            arrays = []
            if meta.dimension:
                arrays = [code_in(hit), sentence_codes_in(hit, meta.dimension).codes]
            digest = digest_of(hit["_source"]["record"], *arrays)
            if digest != value_in(hit, "digest"):
                raise damaged(meta.rebuild(), id_in(hit))
            yield digest

    @contextmanager
    def _changing(self) -> Iterator[ChangeLock]:
        """Lock the index for one change.

        Raises:
            IndexUnavailable: Elasticsearch does not answer or refuses.
            IndexNotBuilt: another process changes the index, or something else has its name.
        """
        self._cluster.check_version()
        refuse_other_things(self._cluster)
        try:
            with ChangeLock(self._cluster.patient, self._location.index) as lock:
                settle(self._cluster)
                yield lock
        except BulkIndexError as error:
            raise document_refused(error, self._location) from error
        except (ApiError, TransportError) as error:
            raise problem(error, self._location) from error

    def _updated_by(self, new: Meta) -> Before | None:
        """Return the current version if a build may take unchanged documents from it.

        Nothing removes it meanwhile: whoever removes versions holds the lock of the index.
        """
        serving = serving_version_or_none(self._cluster)
        meta = all_versions(self._cluster).get(serving) if serving is not None else None
        if meta is None or meta.format != FORMAT or not _same_rotation(meta):
            return None
        if kind_of(meta.source) != kind_of(new.source) or meta.encoder != new.encoder:
            return None
        return Before(self._location, meta.version, meta.dimension)

    def _entries_of(self, version: str, ids: Sequence[str]) -> list[str]:
        """Return the ids of documents, of long ones those of all passages.

        Raises:
            BadSource: the version has no document with one of the ids.
        """
        entries = []
        for document_id in ids:
            key = key_of(document_id)
            either = [{"term": {"whole": key}}, {"ids": {"values": [key]}}]
            query = {"bool": {"should": either}}
            found = [id_in(hit) for hit in scan(self._cluster, version, ["id"], query=query)]
            if not found:
                raise unknown_document(document_id)
            entries += found
        return entries

    def _read(
        self,
        new: NewVersion,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener,
        before: Before | None,
    ) -> None:
        """Write the corpus's pages, without those that an earlier try has written.

        ``before``: the version that unchanged documents are taken from.

        Raises:
            BadSource: there is none that can be read.
        """
        size = corpus.size()
        read = [0]  # progress after this many chunks

        def chunks() -> Iterator[Item]:
            for chunk, more in corpus.chunks():
                read.append(read[-1] + more)
                yield chunk

        on_progress(BuildProgress("reading", 0, size, 0))
        for number in new.write(chunks(), encoder, self._processes, before):
            on_progress(BuildProgress("reading", read[number + 1], size, new.meta.pages))
        if not new.meta.pages:
            new.discard()
            first = new.meta.first_bad
            raise BadSource(
                "source_empty",
                f"{corpus.source} holds no page{f': {first}' if first else '.'}",
                "" if first else "Name a source with pages.",
            )


def _meta_of(name: str, source: str, date: str, encoder: DocumentEncoder | None) -> Meta:
    """Return the description of a version before anything of it is written."""
    dimension = encoder.dimension if encoder is not None else 0
    return Meta(
        format=FORMAT,
        version="",
        plan="",
        work="",
        state="building",
        name=name,
        source=source,
        date=date,
        encoder=_name(encoder),
        meets=encoder.query_encoder if encoder is not None else "",
        dimension=dimension,
        rotation=_rotation_numbers(dimension),
    )


def _rotation_numbers(dimension: int) -> tuple[float, ...]:
    """Return some numbers of ``codes.rotation``, by which machines can compare theirs."""
    if not dimension:
        return ()
    return tuple(float(number) for number in rotation(dimension).sum(axis=0)[:_ROTATION_NUMBERS])


def _same_rotation(meta: Meta) -> bool:
    ours = _rotation_numbers(meta.dimension)
    return all(abs(a - b) < 1e-2 for a, b in zip(meta.rotation, ours, strict=True))


def _described(corpus: Corpus, encoder: DocumentEncoder | None) -> dict[str, str]:
    return {
        "source": corpus.source,
        "fingerprint": corpus.fingerprint(),
        "encoder": _name(encoder),
    }


def _digest(plan: Mapping[str, Any]) -> str:
    content = json.dumps({"format": FORMAT, **plan}, sort_keys=True).encode("utf-8")
    return hashlib.sha256(content).hexdigest()[:16]


def _name(encoder: DocumentEncoder | None) -> str:
    return encoder.name if encoder is not None else ""


_: type[Index] = ElasticIndex
