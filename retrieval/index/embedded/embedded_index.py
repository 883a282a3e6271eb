"""Builds an embedded index and changes it: resumable after a kill, swapped in when complete."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from retrieval.corpora.corpus import Corpus
from retrieval.errors import IndexUnavailable
from retrieval.index.building import Plan, name_of, read, updates
from retrieval.index.embedded.digests import verify
from retrieval.index.embedded.documents import Documents
from retrieval.index.embedded.embedded_store import EmbeddedStore
from retrieval.index.embedded.folder_version import FolderVersion, clean_up
from retrieval.index.embedded.layout import (
    BAD_PAGES,
    DATABASES,
    DOCUMENTS,
    REMOVED,
    current_version,
    sweep,
)
from retrieval.index.embedded.meta import needs_build, read_meta
from retrieval.index.embedded.new_documents import NewDocuments, Preparation, Prepared
from retrieval.index.embedded.work import Work, changing, remove_unfinished, unfinished
from retrieval.index.errors import other_encoder, unknown_document
from retrieval.index.interface import (
    BadPages,
    BuildProgress,
    Index,
    IndexInfo,
    ProgressListener,
    ignore_progress,
)
from retrieval.models.encoders import DocumentEncoder


class EmbeddedIndex(Index):
    """An index in a folder. ``processes`` share the work of a build.

    Every change may also raise ``IndexNotBuilt``: the disk is full or read-only, another change is
    being made, or the folder holds something that is no index.
    """

    def __init__(self, folder: Path, processes: int = 1, *, anew: bool = False) -> None:
        """Name the index's folder, which need not exist yet.

        ``anew``: a build makes all documents again, also those that did not change.
        """
        self._folder = folder
        self._processes = processes
        self._anew = anew

    def open(self, query_encoder: str | None) -> EmbeddedStore:
        return EmbeddedStore.open(self._folder, query_encoder)

    def version(self) -> str:
        return current_version(self._folder).name

    def needs_build(self, source: str) -> Literal["missing", "outdated"] | None:
        return needs_build(self._folder, source)

    def verify(self) -> None:
        self.open(None).verify()

    def diagnose(self) -> None:
        self.verify()

    def bad_pages(self) -> BadPages:
        if not self.open(None).info().bad_pages:
            return BadPages("", "")
        listed = self._folder / "current" / BAD_PAGES
        with listed.open(encoding="utf-8") as stream:
            return BadPages(stream.readline().strip(), str(listed))

    def unfinished(self) -> list[str]:
        return [
            f"Unfinished: {work.what}, {work.bytes / 1e6:.1f} MB. The same command continues it"
            " unless the source has changed; if it is not wanted, remove"
            f" {work.folder}"
            for work in unfinished(self._folder)
        ]

    def has_removed(self) -> bool:
        """Return whether its files have texts of documents that were removed or replaced.

        They are found no more, but stay until all documents are made again.

        Raises:
            IndexUnavailable: it is missing, damaged, or of another format.
        """
        meta = read_meta(self._folder, current_version(self._folder))
        return meta.passages < len(meta.stored[DOCUMENTS])

    def prune(self) -> list[str]:
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
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        def begun(folder: Path) -> FolderVersion:
            before = self._updated_by(corpus, encoder)
            new = FolderVersion.saved(folder, before.name if before else "")
            if new is None:
                new = FolderVersion.begun(folder, before, corpus)
                new.read(self._chunks(corpus, on_progress, before), corpus.date, all_of=True)
            return new

        return self._changed(Plan.build(corpus, encoder), begun, encoder, on_progress)

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        has = self.open(None).info().encoder
        if has != name_of(encoder):
            raise other_encoder(has, name_of(encoder))

        def begun(folder: Path) -> FolderVersion:
            before = current_version(self._folder)
            new = FolderVersion.saved(folder, before.name)
            if new is None:
                new = FolderVersion.begun(folder, before)
                new.read(self._chunks(corpus, on_progress), corpus.date, all_of=False)
            return new

        return self._changed(Plan.addition(corpus, encoder), begun, encoder, on_progress)

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = ignore_progress
    ) -> IndexInfo:
        self.open(None)

        def begun(folder: Path) -> FolderVersion:
            before = current_version(self._folder)
            return FolderVersion.saved(folder, before.name) or FolderVersion.begun(folder, before)

        return self._changed(Plan.vectors(encoder), begun, encoder, on_progress)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        self.open(None)
        wanted = list(dict.fromkeys(ids))

        def begun(folder: Path) -> FolderVersion:
            new = FolderVersion.begun(folder, current_version(self._folder))
            if (unknown := new.remove(wanted)) is not None:
                shutil.rmtree(folder)
                raise unknown_document(unknown)
            return new

        return self._changed(Plan.removal(wanted), begun)

    def _changed(
        self,
        plan: Plan,
        begun: Callable[[Path], FolderVersion],
        encoder: DocumentEncoder | None = None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        """Make a new version the current one, with vectors if there is an encoder.

        ``begun`` returns the version with all its documents, made in a folder, or made and saved
        there by an earlier try.
        """
        with changing(self._folder) as begin:
            work = begin(plan)
            if self._was_published(work):
                clean_up(work.folder)
            else:
                new = begun(work.folder)
                if encoder is not None:
                    new.encode(
                        encoder,
                        self._processes,
                        lambda done, of: on_progress(BuildProgress("encoding", done, of, done)),
                    )
                new.publish(work.name)
            return self.open(None).info()

    def _was_published(self, work: Work) -> bool:
        """Return whether an earlier try did all but the cleaning up."""
        try:
            meta = read_meta(self._folder, current_version(self._folder))
        except IndexUnavailable:
            return False
        return meta.made_by == work.name

    def _updated_by(self, corpus: Corpus, encoder: DocumentEncoder | None) -> Path | None:
        """Return the version that a build updates, if it does not make all documents again.

        It does where more than half of the rows are of documents that were removed or replaced, so
        that these do not take ever more room.
        """
        if self._anew:
            return None
        version = current_version(self._folder)
        try:
            meta = read_meta(self._folder, version)
            mostly_gone = 2 * meta.passages <= len(meta.stored[DOCUMENTS])
            if mostly_gone or not updates(meta, corpus, encoder):
                return None
            verify(self._folder, version, meta)  # a build is what repairs a damaged index
        except IndexUnavailable:
            return None
        return version

    def _chunks(
        self, corpus: Corpus, on_progress: ProgressListener, before: Path | None = None
    ) -> Callable[[NewDocuments], Iterator[Prepared]]:
        """Return what yields the chunks that a database of new documents does not have yet.

        ``before``: the version whose documents are not made again where they did not change.
        """
        prepare = partial(_preparation, self._folder, before)

        def chunks(new: NewDocuments) -> Iterator[Prepared]:
            first = new.pages
            return read(
                corpus,
                new.chunks,
                prepare,
                self._processes,
                on_progress,
                lambda: new.pages - first,
            )

        return chunks


def _preparation(folder: Path, before: Path | None) -> Preparation:
    if before is None:
        return Preparation()
    removed = np.load(before / REMOVED)
    name = read_meta(folder, before).stored[DOCUMENTS].name
    return Preparation(Documents(folder / DATABASES / name, len(removed), removed))
