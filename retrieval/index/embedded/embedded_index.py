"""Builds an embedded index and changes it: resumable after a kill, swapped in when complete."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from retrieval.corpora.corpus import Chunk, Corpus, kind_of
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.building import Begun, changing, remove_unfinished, unfinished
from retrieval.index.embedded.documents import Documents, NewDocuments, Preparation, Prepared
from retrieval.index.embedded.embedded_store import EmbeddedStore
from retrieval.index.embedded.layout import DATABASES, DOCUMENTS, REMOVED, other_encoder, read_meta
from retrieval.index.embedded.new_version import NewVersion, clean_up
from retrieval.index.formats.versions import BAD_PAGES, FORMAT, current_version, lacks_index, sweep
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
from retrieval.system.on_all_cores import in_order


class EmbeddedIndex:
    """An index in a folder; see ``Index``. ``processes`` share the work of a build."""

    def __init__(self, folder: Path, processes: int = 1) -> None:
        """Name the index's folder, which need not exist yet."""
        self._folder = folder
        self._processes = processes

    def open(self, meets: str | None) -> EmbeddedStore:
        """See ``Index.open``."""
        return EmbeddedStore.open(self._folder, meets)

    def version(self) -> str:
        """See ``Index.version``."""
        return current_version(self._folder).name

    def lacks(self, source: str) -> bool:
        """See ``Index.lacks``."""
        return lacks_index(self._folder, source)

    def verify(self) -> None:
        """See ``Index.verify``."""
        self.open(None).verify()

    def diagnose(self) -> None:
        """See ``Index.diagnose``."""
        self.verify()

    def bad_pages(self) -> BadPages:
        """See ``Index.bad_pages``."""
        if not self.open(None).info().bad_pages:
            return BadPages("", "")
        listed = self._folder / "current" / BAD_PAGES
        with listed.open(encoding="utf-8") as stream:
            return BadPages(stream.readline().strip(), str(listed))

    def unfinished(self) -> list[str]:
        """See ``Index.unfinished``."""
        return [
            f"Unfinished: {work.what}, {work.bytes / 1e6:.1f} MB. The same command continues it"
            " unless the source has changed; if it is not wanted, remove"
            f" {work.folder}"
            for work in unfinished(self._folder)
        ]

    def prune(self) -> list[str]:
        """See ``Index.prune``.

        Raises also:
            IndexNotBuilt: the disk is read-only, or the folder holds something that is no index.
        """
        if not self._folder.is_dir():
            return []
        with changing(self._folder):
            current = current_version(self._folder)
            needed = read_meta(self._folder, current).needed() if current.is_dir() else None
            removed = remove_unfinished(self._folder)
            return removed if needed is None else removed + sweep(self._folder, needed)

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """See ``Index.build``.

        Raises also:
            IndexNotBuilt: the disk is full or read-only, another build runs, or
                the folder holds something that is no index.
        """
        with changing(self._folder) as begin:
            begun = begin({"encoder": _name(encoder)} | _described(corpus))
            if done := self._done(begun):
                return done
            before = self._updated_by(corpus, _name(encoder))
            new = NewVersion.saved(begun.folder, before.name if before else "")
            if new is None:
                new = (
                    NewVersion.of(begun.folder, before, corpus)
                    if before
                    else NewVersion.empty(begun.folder, corpus)
                )
                chunks = partial(self._chunks, corpus, on_progress, before)
                new.read(chunks, corpus.date, all_of=True)
            return self._finished(new, begun, encoder, on_progress)

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = tell_nobody,
    ) -> IndexInfo:
        """See ``Index.add``; raises what ``build`` raises too."""
        self.open(None)
        with changing(self._folder) as begin:
            before = self.open(None).info()
            if before.encoder != _name(encoder):
                raise other_encoder(before.encoder, _name(encoder))
            begun = begin({"add": True, "encoder": before.encoder} | _described(corpus))
            if done := self._done(begun):
                return done
            new = NewVersion.saved(begun.folder, self.version())
            if new is None:
                new = NewVersion.of(begun.folder, current_version(self._folder))
                chunks = partial(self._chunks, corpus, on_progress, None)
                new.read(chunks, corpus.date, all_of=False)
            return self._finished(new, begun, encoder, on_progress)

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = tell_nobody
    ) -> IndexInfo:
        """See ``Index.encode``; raises what ``build`` raises too."""
        self.open(None)
        with changing(self._folder) as begin:
            begun = begin({"format": FORMAT, "encode": encoder.name})
            if done := self._done(begun):
                return done
            new = NewVersion.saved(begun.folder, self.version())
            new = new or NewVersion.of(begun.folder, current_version(self._folder))
            return self._finished(new, begun, encoder, on_progress)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        """See ``Index.remove``; raises what ``build`` raises too."""
        self.open(None)
        with changing(self._folder) as begin:
            wanted = list(dict.fromkeys(ids))
            begun = begin({"format": FORMAT, "without": wanted})
            if done := self._done(begun):
                return done
            new = NewVersion.of(begun.folder, current_version(self._folder))
            if (unknown := new.remove(wanted)) is not None:
                shutil.rmtree(begun.folder)
                raise unknown_document(unknown)
            return self._finished(new, begun, None, tell_nobody)

    def _done(self, begun: Begun) -> IndexInfo | None:
        """Return what the index contains if an earlier try did all but the cleaning up."""
        if not begun.before:
            return None
        try:
            made_by = read_meta(self._folder, current_version(self._folder)).made_by
        except IndexUnavailable:
            return None
        if made_by != begun.name:
            return None
        clean_up(begun.folder)
        return self.open(None).info()

    def _finished(
        self,
        new: NewVersion,
        begun: Begun,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener,
    ) -> IndexInfo:
        if encoder is not None:
            new.encode(
                encoder,
                self._processes,
                lambda done, of: on_progress(BuildProgress("encoding", done, of, done)),
            )
        new.publish(begun.name)
        return self.open(None).info()

    def _updated_by(self, corpus: Corpus, encoder: str) -> Path | None:
        """Return the version that a build updates, if it does not make all documents again.

        It does where more than half of the rows are of documents that were removed or replaced, so
        that these do not take ever more room.
        """
        version = current_version(self._folder)
        try:
            meta = read_meta(self._folder, version)
            same = kind_of(meta.source) == kind_of(corpus.source) and meta.encoder == encoder
            if not same or 2 * meta.passages <= len(meta.stored[DOCUMENTS]):
                return None
            meta.verify(self._folder, version)  # a build is what repairs a damaged index
        except IndexUnavailable:
            return None
        return version

    def _chunks(
        self,
        corpus: Corpus,
        on_progress: ProgressListener,
        before: Path | None,
        new: NewDocuments,
    ) -> Iterator[Prepared]:
        """Yield the chunks of a corpus that are not in the database of new documents yet.

        ``before``: the version whose documents are not made again where they did not change.
        """
        sizes: list[int] = []

        def missing() -> Iterator[Chunk]:
            for number, (chunk, size) in enumerate(corpus.chunks()):
                sizes.append(size)
                if number >= new.chunks:
                    yield chunk

        size, pages = corpus.size(), new.pages
        on_progress(BuildProgress("reading", 0, size, 0))
        prepare = partial(_preparation, self._folder, before)
        for chunk in in_order(prepare, missing(), self._processes):
            yield chunk
            done = sum(sizes[: new.chunks])
            on_progress(BuildProgress("reading", done, size, new.pages - pages))


def _preparation(folder: Path, before: Path | None) -> Preparation:
    if before is None:
        return Preparation()
    removed = np.load(before / REMOVED)
    name = read_meta(folder, before).stored[DOCUMENTS].name
    return Preparation(Documents(folder / DATABASES / name, len(removed), removed))


def _described(corpus: Corpus) -> dict[str, object]:
    return {"format": FORMAT, "source": corpus.source, "fingerprint": corpus.fingerprint()}


def _name(encoder: DocumentEncoder | None) -> str:
    return encoder.name if encoder is not None else ""


_: type[Index] = EmbeddedIndex
