"""Builds an index in Elasticsearch and changes it: resumable after a kill, swapped in by an alias.

Every change writes a new version beside the one that serves; ``meta`` says how they are named. What
is sent twice is there once, since a document's id is that of its entry.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TypeAlias

from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch
from elasticsearch.helpers import BulkIndexError, streaming_bulk

from retrieval.corpora.corpus import Chunk, Corpus, Page
from retrieval.elastic.cluster import Cluster, problem, read_only
from retrieval.elastic.elastic_store import ElasticStore
from retrieval.elastic.entries import (
    FORMAT,
    SETTINGS,
    code_in,
    digest_of,
    entries_with_vectors,
    entry_of,
    key_of,
    mapping,
    sentence_codes_in,
    value_in,
)
from retrieval.elastic.location import ElasticLocation
from retrieval.elastic.meta import Meta, current, new_version, read_meta, versions
from retrieval.elastic.scan import batched, scan
from retrieval.encoders.encoder import DocumentEncoder
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.building import IndexNotBuilt
from retrieval.index.codes import rotation
from retrieval.index.layout import damaged, other_encoder, rebuild
from retrieval.index.records import Record, encodable, records_of
from retrieval.index.sentence_splitter import SentenceSplitter
from retrieval.index.store import (
    BadPages,
    BuildProgress,
    Index,
    IndexInfo,
    ProgressListener,
    tell_nobody,
    unknown_document,
)
from retrieval.networks import runtime
from retrieval.on_all_cores import in_order

_DOCUMENTS_A_REQUEST = 500
_BYTES_A_REQUEST = 8_000_000
_RETRIES = 10  # of documents that the server was too busy for
_RECORDS_AN_ITEM = 256
# A builder that has not written for so long is taken for dead.
_DEAD_SECONDS = 180.0
_BEAT_SECONDS = 2.0
# Replaced versions stay so long, and no more than so many.
_KEPT_FOR = timedelta(hours=1)
_KEPT_VERSIONS = 20
_TURN_NUMBERS = 8
_PLACED_WITHIN = "30s"  # until a new index has a node


@dataclass(frozen=True, slots=True)
class Records:
    """An item of the work whose documents are split already."""

    records: list[Record]


Item: TypeAlias = Chunk | Records


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an item of the work becomes: entries to send, and what its pages were."""

    entries: list[dict[str, Any]]
    pages: int
    bad: list[str]


class ElasticIndex:
    """An index in Elasticsearch; see ``Index``."""

    def __init__(self, location: ElasticLocation, snapshots: Path, processes: int = 1) -> None:
        """Remember where it lies; nothing is asked yet.

        ``snapshots``: a folder of this machine for what is derived from the index. ``processes``:
        how many split and encode documents.
        """
        self._location = location
        self._snapshots = snapshots
        self._processes = processes
        self._cluster = Cluster(location)

    def open(self, meets: str | None) -> ElasticStore:
        """See ``Index.open``; raises also if Elasticsearch does not answer."""
        self._cluster.check_version()
        version = self.version()
        meta = read_meta(self._cluster, version)
        if meta.encoder and meets is not None and meta.meets != meets:
            raise other_encoder(meta.encoder, meets)
        if meta.dimension and not _same_turn(meta):
            raise IndexUnavailable(
                "index_arithmetic",
                f"The vectors at {self._location} were made by another arithmetic than this"
                " machine's.",
                "Run: esoteric index encode",
            )
        return ElasticStore(self._cluster, version, meta, self._snapshots)

    def version(self) -> str:
        """See ``Index.version``. A search tells it, so that an index that is not whole fails."""
        body = {"size": 1, "_source": False, "track_total_hits": False}
        (hits,) = self._cluster.searches(self._location.index, [body])
        return str(hits[0]["_index"]) if hits else current(self._cluster)

    def lacks(self, source: str) -> bool:
        """See ``Index.lacks``."""
        serving = self._serving()
        if serving is None:
            return True
        found = versions(self._cluster).get(serving)
        return found is not None and found.format != FORMAT and found.source == source

    def verify(self) -> None:
        """See ``Index.verify``: every document is read and compared with its digest."""
        version = self.version()
        meta = read_meta(self._cluster, version)
        fields = ["id", "digest", *(["code", "sentence_codes"] if meta.dimension else [])]
        whole, documents = hashlib.sha256(), 0
        for hit in scan(self._cluster, version, fields, record=True):
            record = hit["_source"]["record"]
            arrays = []
            if meta.dimension:
                arrays = [code_in(hit), sentence_codes_in(hit, meta.dimension).codes]
            digest = digest_of(record, *arrays)
            if digest != value_in(hit, "digest"):
                raise damaged(rebuild(meta.source, meta.encoder), value_in(hit, "id"))
            whole.update(digest.encode("ascii"))
            documents += 1
        if documents != meta.documents or _shortened(whole.hexdigest()) != meta.checksum:
            raise damaged(rebuild(meta.source, meta.encoder))

    def diagnose(self) -> None:
        """See ``Index.diagnose``: whether the index answers, and whether there is room."""
        self.version()
        report = self._cluster.ask(lambda client, _: client.health_report(feature="disk"))
        if report["indicators"]["disk"]["status"] in ("yellow", "red"):
            raise read_only(self._location)

    def bad_pages(self) -> BadPages:
        """See ``Index.bad_pages``; they are listed on the machine that built the index."""
        meta = read_meta(self._cluster, current(self._cluster))
        return BadPages(meta.first_bad, str(self._bad_pages_file) if meta.first_bad else "")

    def unfinished(self) -> list[str]:
        """See ``Index.unfinished``."""
        serving = self._serving()
        return [
            f"Unfinished: {meta.what}, {meta.pages} pages so far. The same command goes on with it"
            f" unless the source has changed; if it is not wanted, run: esoteric index prune"
            for name, meta in versions(self._cluster).items()
            if meta.state == "building" and name != serving and not _works(meta)
        ]

    def prune(self) -> list[str]:
        """See ``Index.prune``."""
        with self._changing() as client:
            serving = self._serving()
            others = [name for name in versions(self._cluster) if name != serving]
            for name in others:
                client.indices.delete(index=name)
        return others

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """See ``Index.build``.

        Raises also:
            IndexUnavailable: Elasticsearch does not answer, or has no room.
            IndexNotBuilt: another build runs.
        """
        with self._changing() as client:
            meta = _meta_of(corpus.name, corpus.source, encoder) | {
                "plan": _plan(corpus, encoder, ""),
                "what": f"a build of {corpus.source}",
            }
            new = self._begun(client, meta)
            self._read(new, corpus, encoder, on_progress)
            return self._published(new)

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """See ``Index.add``; raises what ``build`` raises too."""
        with self._changing() as client:
            serving = current(self._cluster)
            before = read_meta(self._cluster, serving)
            if before.encoder != _name(encoder):
                raise other_encoder(before.encoder, _name(encoder))
            meta = _meta_of(before.name, before.source, encoder) | {
                "plan": _plan(corpus, encoder, serving),
                "what": f"an addition of {corpus.source}",
            }
            new = self._begun(client, meta, serving)
            self._read(new, corpus, encoder, on_progress)
            return self._published(new)

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = tell_nobody
    ) -> IndexInfo:
        """See ``Index.encode``; raises what ``build`` raises too."""
        with self._changing() as client:
            serving = current(self._cluster)
            before = read_meta(self._cluster, serving)
            meta = _meta_of(before.name, before.source, encoder) | {
                "plan": _digest({"encode": encoder.name, "of": serving}),
                "what": f"vectors of {encoder.name}",
                "bad_pages": before.bad_pages,
                "first_bad": before.first_bad,
            }
            new = self._begun(client, meta)
            hits = scan(self._cluster, serving, ["id"], record=True)
            items = (
                Records([hit["_source"]["record"] for hit in some])
                for some in batched(hits, _RECORDS_AN_ITEM)
            )

            def progress(done: int) -> None:
                on_progress(BuildProgress("encoding", done, before.documents, done))

            progress(new.meta.pages)
            for _ in self._written(new, items, encoder):
                progress(new.meta.pages)
            return self._published(new, superseded=before.superseded)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        """See ``Index.remove``; raises what ``build`` raises too."""
        with self._changing() as client:
            serving = current(self._cluster)
            before = read_meta(self._cluster, serving)
            wanted = list(dict.fromkeys(ids))
            keys = [key_of(document_id) for document_id in wanted]
            found = client.mget(index=serving, ids=keys, source=False)["docs"] if keys else []
            for document_id, answer in zip(wanted, found, strict=True):
                if not answer.get("found"):
                    raise unknown_document(document_id)
            meta = {**_settled(before), "plan": _digest({"without": wanted, "of": serving})}
            new = self._begun(client, meta | {"what": "a removal"}, serving)
            self._send(client, new.name, ({"_op_type": "delete", "_id": key} for key in keys))
            return self._published(new, superseded=before.superseded)

    @contextmanager
    def _changing(self) -> Iterator[Elasticsearch]:
        """Give a client to change the index with, if no one else does.

        Raises:
            IndexUnavailable: Elasticsearch does not answer or refuses.
            IndexNotBuilt: another build runs.
        """
        self._cluster.check_version()
        for name, meta in versions(self._cluster).items():
            if meta.state == "building" and _works(meta):
                raise IndexNotBuilt(
                    "index_locked",
                    f"Another build of {self._location} is running ({name}).",
                    "Wait until it is done.",
                )
        try:
            yield self._cluster.patient
        except BulkIndexError as error:
            raise self._refused(error) from error
        except (ApiError, TransportError) as error:
            raise problem(error, self._location) from error

    def _refused(self, error: BulkIndexError) -> IndexUnavailable:
        """Return why documents were not taken."""
        (answer,) = error.errors[0].values()
        cause = answer.get("error", {})
        kind = cause.get("type", "unknown") if isinstance(cause, dict) else str(cause)
        if kind == "cluster_block_exception":
            return read_only(self._location)
        return IndexUnavailable(
            "store_failed",
            f"Elasticsearch at {self._location} did not take the document"
            f" {answer.get('_id')!r} ({answer.get('status')}, {kind}).",
            "See its log, then run the same command again: it goes on where it stopped.",
        )

    def _serving(self) -> str | None:
        try:
            return current(self._cluster)
        except IndexUnavailable as error:
            if error.code != "index_missing":
                raise
            return None

    def _begun(
        self, client: Elasticsearch, meta: Mapping[str, Any], before: str | None = None
    ) -> _NewVersion:
        """Go on with the same work where there is some, else begin it, as a copy of ``before``."""
        serving = self._serving()
        for name, found in versions(self._cluster).items():
            if found.plan == meta["plan"] and found.state == "building" and name != serving:
                client.indices.put_settings(index=name, settings={"index.blocks.write": False})
                new = _NewVersion(client, name, replace(found, builder=_builder()))
                new.save()
                return new
        name = new_version(self._location.index)
        if before is None:
            answer = client.indices.create(
                index=name,
                settings=SETTINGS,
                mappings=mapping(meta["dimension"]),
                wait_for_active_shards=1,
                timeout=_PLACED_WITHIN,
            )
        else:
            answer = client.indices.clone(
                index=before,
                target=name,
                settings={"index.blocks.write": None},
                wait_for_active_shards=1,
                timeout=_PLACED_WITHIN,
            )
        if not answer["shards_acknowledged"]:
            client.indices.delete(index=name)
            raise read_only(self._location)
        self._bad_pages_file.unlink(missing_ok=True)
        new = _NewVersion(client, name, Meta(state="building", beat=0.0, **meta))
        new.save()
        return new

    def _read(
        self,
        new: _NewVersion,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener,
    ) -> None:
        """Send the corpus's pages, but those that an earlier try has sent.

        Raises:
            BadSource: there is none that can be read.
        """
        size = corpus.size()
        read = [0]  # how much of it when so many chunks are read

        def chunks() -> Iterator[Item]:
            for chunk, more in corpus.chunks():
                read.append(read[-1] + more)
                yield chunk

        on_progress(BuildProgress("reading", 0, size, 0))
        for number in self._written(new, chunks(), encoder):
            on_progress(BuildProgress("reading", read[number + 1], size, new.meta.pages))
        if not new.meta.pages:
            new.client.indices.delete(index=new.name)
            first = new.meta.first_bad
            raise BadSource(
                "source_empty",
                f"{corpus.source} holds no page{f': {first}' if first else '.'}",
                "Name a source that holds some.",
            )

    def _written(
        self,
        new: _NewVersion,
        items: Iterable[Item],
        encoder: DocumentEncoder | None,
    ) -> Iterator[int]:
        """Send what the items become, in order; yield the number of each that is there."""
        done = new.meta.items
        prepare = partial(
            _Preparation, encoder, new.meta.plan, self._processes, runtime.kept_folder()
        )
        rest = islice(iter(items), done, None)
        for number, prepared in enumerate(in_order(prepare, rest, self._processes), start=done):
            actions = ({"_id": key_of(e["id"]), "_source": e} for e in prepared.entries)
            self._send(new.client, new.name, actions)
            self._note(prepared.bad)
            new.wrote(prepared)
            yield number

    def _send(
        self, client: Elasticsearch, index: str, actions: Iterable[Mapping[str, Any]]
    ) -> None:
        """Send documents, fewer at once and later again where the server has too much to do."""
        for _ in streaming_bulk(
            client,
            ({"_index": index, **action} for action in actions),
            chunk_size=_DOCUMENTS_A_REQUEST,
            max_chunk_bytes=_BYTES_A_REQUEST,
            max_retries=_RETRIES,
            initial_backoff=0.5,
            max_backoff=30,
            retry_on_status=(429, 503),
        ):
            pass

    @property
    def _bad_pages_file(self) -> Path:
        return self._snapshots / f"{self._location.index}.bad_pages.txt"

    def _note(self, bad: Sequence[str]) -> None:
        if bad:
            self._snapshots.mkdir(parents=True, exist_ok=True)
            with self._bad_pages_file.open("a", encoding="utf-8") as stream:
                stream.writelines(f"{line}\n" for line in bad)

    def _published(self, new: _NewVersion, superseded: int | None = None) -> IndexInfo:
        """Count and seal the new version and let the alias stand for it."""
        client, name, alias = new.client, new.name, self._location.index
        client.indices.refresh(index=name)
        counted = client.search(
            index=name,
            size=0,
            track_total_hits=True,
            aggregations={
                "sentences": {"value_count": {"field": "numbers"}},
                "written": {"filter": {"term": {"work": new.meta.plan}}},
            },
        )
        whole = hashlib.sha256()
        for hit in scan(self._cluster, name, ["digest"]):
            whole.update(value_in(hit, "digest").encode("ascii"))
        written = int(counted["aggregations"]["written"]["doc_count"])
        new.meta = replace(
            new.meta,
            documents=int(counted["hits"]["total"]["value"]),
            sentences=int(counted["aggregations"]["sentences"]["value"]),
            superseded=new.meta.pages - written if superseded is None else superseded,
            checksum=_shortened(whole.hexdigest()),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        new.save()
        client.indices.put_settings(index=name, settings={"index.blocks.write": True})
        serving = self._serving()
        actions: list[dict[str, Any]] = [{"add": {"index": name, "alias": alias}}]
        if serving is not None:
            actions.append({"remove": {"index": serving, "alias": alias}})
        client.indices.update_aliases(actions=actions)
        new.meta = replace(new.meta, state="ready")
        new.save()
        self._drop_oldest(client)
        store = ElasticStore(self._cluster, name, new.meta, self._snapshots)
        store.titles()
        return store.info()

    def _drop_oldest(self, client: Elasticsearch) -> None:
        """Remove versions that were replaced long ago: workers have opened the new one since."""
        ready = [(n, m) for n, m in versions(self._cluster).items() if m.state == "ready"]
        oldest = datetime.now(UTC) - _KEPT_FOR
        for place, ((name, _), (_, successor)) in enumerate(pairwise(ready)):
            replaced = datetime.fromisoformat(successor.built_at)
            if replaced < oldest or place < len(ready) - _KEPT_VERSIONS:
                client.indices.delete(index=name)


class _NewVersion:
    """The version that is being written."""

    def __init__(self, client: Elasticsearch, name: str, meta: Meta) -> None:
        self.client = client
        self.name = name
        self.meta = meta

    def save(self) -> None:
        """Say in the index what it is and how far."""
        self.meta = replace(self.meta, beat=time.time())
        self.client.indices.put_mapping(index=self.name, meta=self.meta.to_mapping())

    def wrote(self, prepared: Prepared) -> None:
        """Count an item that is there; what is counted is saved now and then."""
        meta = self.meta
        self.meta = replace(
            meta,
            items=meta.items + 1,
            pages=meta.pages + prepared.pages,
            bad_pages=meta.bad_pages + len(prepared.bad),
            first_bad=meta.first_bad or next(iter(prepared.bad), ""),
        )
        if time.time() - meta.beat > _BEAT_SECONDS:
            self.save()


class _Preparation:
    """Makes entries of chunks or records, in whichever process."""

    def __init__(
        self,
        encoder: DocumentEncoder | None,
        work: str,
        threads: int,
        networks: Path | None,
    ) -> None:
        if networks:
            runtime.keep_in(networks)
        # Where there are several processes, each of them is one of the threads.
        runtime.use_threads(1 if multiprocessing.parent_process() else threads)
        self._encoder = encoder
        self._work = work
        self._splitter = SentenceSplitter()
        self._turn = rotation(encoder.dimension) if encoder is not None else None

    def __call__(self, item: Item) -> Prepared:
        if isinstance(item, Records):
            return Prepared(self._entries(item.records), len(item.records), [])
        pages, bad = [], []
        for page in item:
            if isinstance(page, Page):
                pages.append(page)
            else:
                bad.append(f"{page.message} {page.hint}")
        return Prepared(self._entries(records_of(pages, self._splitter)), len(pages), bad)

    def _entries(self, records: Sequence[Record]) -> list[dict[str, Any]]:
        if self._encoder is None or self._turn is None:
            entries = [entry_of(record) for record in records]
        elif not records:
            return []
        else:
            whole, sentences = self._encoder.encode_documents([encodable(r) for r in records])
            entries = entries_with_vectors(records, whole, sentences, self._turn)
        return [entry | {"work": self._work} for entry in entries]


def _meta_of(name: str, source: str, encoder: DocumentEncoder | None) -> dict[str, Any]:
    """Return what is known of a version before anything of it is written."""
    dimension = encoder.dimension if encoder is not None else 0
    return {
        "format": FORMAT,
        "name": name,
        "source": source,
        "encoder": _name(encoder),
        "meets": encoder.meets if encoder is not None else "",
        "dimension": dimension,
        "turn": _turn_numbers(dimension),
        "builder": _builder(),
    }


def _settled(before: Meta) -> dict[str, Any]:
    """Return what a version without some documents has in common with the one before."""
    return {
        "format": FORMAT,
        "name": before.name,
        "source": before.source,
        "encoder": before.encoder,
        "meets": before.meets,
        "dimension": before.dimension,
        "turn": before.turn,
        "builder": _builder(),
        "bad_pages": before.bad_pages,
        "first_bad": before.first_bad,
    }


def _turn_numbers(dimension: int) -> tuple[float, ...]:
    """Return what tells one matrix of ``codes.rotation`` from another, of another arithmetic."""
    if not dimension:
        return ()
    return tuple(float(number) for number in rotation(dimension).sum(axis=0)[:_TURN_NUMBERS])


def _same_turn(meta: Meta) -> bool:
    ours = _turn_numbers(meta.dimension)
    return all(abs(a - b) < 1e-2 for a, b in zip(meta.turn, ours, strict=True))


def _plan(corpus: Corpus, encoder: DocumentEncoder | None, before: str) -> str:
    return _digest(
        {
            "source": corpus.source,
            "fingerprint": corpus.fingerprint(),
            "encoder": _name(encoder),
            "before": before,
        }
    )


def _digest(plan: Mapping[str, Any]) -> str:
    content = json.dumps({"format": FORMAT, **plan}, sort_keys=True).encode("utf-8")
    return _shortened(hashlib.sha256(content).hexdigest())


def _shortened(digest: str) -> str:
    return digest[:16]


def _name(encoder: DocumentEncoder | None) -> str:
    return encoder.name if encoder is not None else ""


def _builder() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _works(meta: Meta) -> bool:
    """Return whether another process is still writing a version."""
    host, _, pid = meta.builder.rpartition(":")
    if time.time() - meta.beat > _DEAD_SECONDS:
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return int(pid) != os.getpid()


_: type[Index] = ElasticIndex
