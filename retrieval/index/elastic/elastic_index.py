"""Builds an index in Elasticsearch and changes it: resumable after a kill, swapped in by an alias.

``versions.py`` says what such an index consists of, ``entries.py`` how a document is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from elastic_transport import TransportError
from elasticsearch import ApiError
from elasticsearch.helpers import BulkIndexError

from retrieval.corpora.corpus import BadPage, Corpus
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.errors import IndexUnavailable
from retrieval.index import errors
from retrieval.index.batches import batched
from retrieval.index.building import Plan, name_of, read, updates
from retrieval.index.elastic import entries
from retrieval.index.elastic.change_lock import ChangeLock, being_changed
from retrieval.index.elastic.cluster import Cluster, document_refused, problem, read_only
from retrieval.index.elastic.elastic_store import ElasticStore
from retrieval.index.elastic.entries import (
    ElasticMeta,
    EntryMaker,
    MadeEntries,
    UnchangedEntries,
    with_packaged,
)
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.elastic.versions import Versions, WrittenVersion, checksum_of
from retrieval.index.formats.packaged import packaged_vectors
from retrieval.index.formats.records import Record
from retrieval.index.interface import (
    BadPages,
    BuildProgress,
    Description,
    Index,
    IndexInfo,
    ProgressListener,
    ignore_progress,
)
from retrieval.models import runtime
from retrieval.models.encoders import DocumentEncoder
from retrieval.system.fixes import esoteric_command
from retrieval.system.processes import in_order

_RECORDS_AN_ITEM = 256


class ElasticIndex(Index):
    """An index in Elasticsearch.

    Every method may raise ``IndexUnavailable``: Elasticsearch does not answer, or its disk is full.
    Every change may also raise ``IndexNotBuilt``: another process changes the index, or something
    else has its name.
    """

    def __init__(self, location: ElasticLocation, snapshots: Path, processes: int = 1) -> None:
        """Store the location; no request is sent yet.

        ``snapshots``: a folder of this machine for files that are derived from the index.
        ``processes``: how many processes split and encode documents.
        """
        self._location = location
        self._processes = processes
        self._cluster = Cluster(location)
        self._versions = Versions(self._cluster, snapshots)

    def open(self, query_encoder: str | None) -> ElasticStore:
        self._cluster.check_version()
        self.version()
        meta = self._versions.serving_meta()
        meta.check_query_encoder(query_encoder)
        if not meta.turns_alike():
            raise IndexUnavailable(
                "index_rotation",
                f"This machine computes the rotation of vectors differently from the one that built"
                f" the index at {self._location}, so it cannot compare them.",
                f"Run: {esoteric_command('index encode')}",
            )
        return self._versions.opened(meta)

    def version(self) -> str:
        # By a search, so that an index with missing parts fails.
        body = {"size": 1, "_source": False, "track_total_hits": False}
        (hits,) = self._cluster.searches(self._location.index, [body])
        return str(hits[0]["_index"]) if hits else self._versions.serving_meta().version

    def needs_build(self, source: str) -> Literal["missing", "outdated"] | None:
        now = self._versions.serving()
        if now is None:
            return "missing"
        meta = now.meta
        if meta is None or meta.format == entries.FORMAT or meta.changed or meta.source != source:
            return None
        return "outdated"

    def verify(self) -> None:
        meta = self._versions.serving_meta()
        if checksum_of(self._checked_digests(meta)) != meta.checksum:
            raise errors.damaged(meta.fix())

    def diagnose(self) -> None:
        # Whether the index answers, and whether the disk has space.
        self.version()
        report = self._cluster.ask(lambda client, _: client.health_report(feature="disk"))
        if report["indicators"]["disk"]["status"] in ("yellow", "red"):
            raise read_only(self._location)

    def bad_pages(self) -> BadPages:
        meta = self._versions.serving_meta()
        listed = self._versions.bad_pages_file(meta.version)
        return BadPages(meta.first_bad, str(listed) if listed.exists() else "")

    def unfinished(self) -> list[str]:
        name = self._location.index
        if self._cluster.ask(lambda client, _: being_changed(client, name)):
            return []
        return [
            f"Unfinished: {one.meta.work}, {one.meta.pages} pages so far. The same command"
            " continues it unless the source has changed; if it is not wanted, run:"
            f" {esoteric_command('index prune')}"
            for one in self._versions.all()
            if one.is_written and one.meta is not None
        ]

    def prune(self) -> list[str]:
        with self._changing() as lock:
            others = [one.name for one in self._versions.all() if not one.serves]
            for version in others:
                self._versions.drop(lock, version)
        return others

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        with self._changing() as lock:
            about = Description(name=corpus.name, source=corpus.source, date=corpus.date)
            meta = ElasticMeta.begun(
                Plan.build(corpus, encoder), about, **entries.vectors_of(encoder)
            )
            new = self._versions.begin(lock, meta)
            self._read(new, corpus, encoder, on_progress, self._updated_by(corpus, encoder))
            return new.publish()

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        with self._changing() as lock:
            before = self._versions.serving_meta()
            if before.encoder != name_of(encoder):
                raise errors.other_encoder(before.encoder, name_of(encoder))
            meta = ElasticMeta.begun(
                Plan.addition(corpus, encoder),
                before,
                before.version,
                date=max(before.date, corpus.date),
                changed=True,
                bad_pages=0,
                first_bad="",
            )
            new = self._versions.begin(lock, meta, before.version)
            self._read(new, corpus, encoder, on_progress, None)
            new.remove_older_passages()
            return new.publish()

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = ignore_progress
    ) -> IndexInfo:
        with self._changing() as lock:
            before = self._versions.serving_meta()
            meta = ElasticMeta.begun(
                Plan.vectors(encoder), before, before.version, **entries.vectors_of(encoder)
            )
            new = self._versions.begin(lock, meta)
            new.keep_bad_pages_of(before.version)
            hits = self._cluster.scan(before.version, ["id"], record=True)
            items = batched((hit["_source"]["record"] for hit in hits), _RECORDS_AN_ITEM)

            def progress(done: int) -> None:
                on_progress(BuildProgress("encoding", done, before.documents, done))

            progress(new.meta.pages)
            make = partial(_of_records, self._maker(new, encoder))
            rest = islice(items, new.meta.items, None)
            for made in in_order(make, rest, self._processes):
                new.add(made)
                progress(new.meta.pages)
            return new.publish(superseded=before.superseded)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        with self._changing() as lock:
            before = self._versions.serving_meta()
            wanted = list(dict.fromkeys(ids))
            gone = self._entries_of(before.version, wanted)
            meta = ElasticMeta.begun(Plan.removal(wanted), before, before.version, changed=True)
            new = self._versions.begin(lock, meta, before.version)
            new.keep_bad_pages_of(before.version)
            new.remove(gone)
            return new.publish(superseded=before.superseded)

    def _checked_digests(self, meta: ElasticMeta) -> Iterator[str]:
        """Yield the digest of each document; raise ``IndexUnavailable`` if one is wrong."""
        fields = ["id", "digest", *(entries.VECTORS if meta.dimension else ())]
        for hit in self._cluster.scan(meta.version, fields, record=True):
            vectors = entries.vectors_in(hit) if meta.dimension else []
            digest = entries.digest_of(hit["_source"]["record"], *vectors)
            if digest != entries.value_in(hit, "digest"):
                raise errors.damaged(meta.fix(), entries.id_in(hit))
            yield digest

    @contextmanager
    def _changing(self) -> Iterator[ChangeLock]:
        """Lock the index for one change.

        Raises:
            IndexUnavailable: Elasticsearch does not answer or refuses.
            IndexNotBuilt: another process changes the index, or something else has its name.
        """
        self._cluster.check_version()
        self._versions.refuse_other_things()
        try:
            with ChangeLock(self._cluster.patient, self._location.index) as lock:
                yield lock
        except BulkIndexError as error:
            raise document_refused(error, self._location) from error
        except (ApiError, TransportError) as error:
            raise problem(error, self._location) from error

    def _maker(
        self,
        new: WrittenVersion,
        encoder: DocumentEncoder | None,
        before: UnchangedEntries | None = None,
    ) -> Callable[[], EntryMaker]:
        """Return what makes, in each process, the entries of a version."""
        networks = runtime.kept_folder()
        return partial(EntryMaker, encoder, new.meta.plan, self._processes, networks, before)

    def _updated_by(
        self, corpus: Corpus, encoder: DocumentEncoder | None
    ) -> UnchangedEntries | None:
        """Return the entries of the current version if a build may take those of unchanged pages.

        Nothing removes it meanwhile: whoever removes versions holds the lock of the index.
        """
        now = self._versions.serving()
        meta = now.meta if now is not None else None
        if meta is None or meta.format != entries.FORMAT or not meta.turns_alike():
            return None
        if not updates(meta, corpus, encoder):
            return None
        return UnchangedEntries(self._location, meta.version, meta.dimension)

    def _entries_of(self, version: str, ids: Sequence[str]) -> list[str]:
        """Return the ids of documents, of long ones those of all passages.

        Raises:
            BadSource: the version has no document with one of the ids.
        """
        found: list[str] = []
        for document_id in ids:
            key = entries.key_of(document_id)
            either = [{"term": {"whole": key}}, {"ids": {"values": [key]}}]
            query = {"bool": {"should": either}}
            hits = self._cluster.scan(version, ["id"], query=query)
            passages = [entries.id_in(hit) for hit in hits]
            if not passages:
                raise errors.unknown_document(document_id)
            found += passages
        return found

    def _read(
        self,
        new: WrittenVersion,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener,
        before: UnchangedEntries | None,
    ) -> None:
        """Write the corpus's pages, without those that an earlier try has written.

        ``before``: has the entries of unchanged documents.

        Raises:
            BadSource: there is none that can be read.
        """
        make = self._maker(new, encoder, before)
        known = encoder and before is None and self._packaged(new, corpus, encoder, on_progress)
        for made in known or read(
            corpus, new.meta.items, make, self._processes, on_progress, lambda: new.meta.pages
        ):
            new.add(made)
        if not new.meta.pages:
            new.discard()
            first = new.meta.first_bad
            raise errors.source_empty(corpus.source, [BadPage(first, "")] if first else [])

    def _packaged(
        self,
        new: WrittenVersion,
        corpus: Corpus,
        encoder: DocumentEncoder,
        on_progress: ProgressListener,
    ) -> Sequence[MadeEntries] | None:
        """Return the entries of the default corpus with the vectors that come with the project.

        None for another corpus or encoder, and for a build that an earlier try has begun.
        """
        if corpus.source != VitalCorpus.source or new.meta.items:
            return None
        vectors = packaged_vectors(encoder.name)
        if vectors is None:
            return None
        make = self._maker(new, None)
        made = read(corpus, 0, make, self._processes, on_progress, lambda: 0)
        return with_packaged(list(made), vectors)


def _of_records(make: Callable[[], EntryMaker]) -> Callable[[list[Record]], MadeEntries]:
    """Return what makes entries of documents that are split already."""
    return make().of_records
