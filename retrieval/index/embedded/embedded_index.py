"""Builds an embedded index and changes it, in a folder next to the served one.

One process at a time; resumable after a kill, swapped in when complete.
"""

from __future__ import annotations

import errno
import fcntl
import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from retrieval.corpora.corpus import Corpus
from retrieval.errors import IndexUnavailable
from retrieval.index.building import Plan, name_of, updates
from retrieval.index.embedded.documents import Documents
from retrieval.index.embedded.embedded_store import EmbeddedStore, verify
from retrieval.index.embedded.folder_version import FolderVersion, clean_up, discard
from retrieval.index.embedded.layout import (
    BAD_PAGES,
    BUILDING,
    DATABASES,
    DOCUMENTS,
    FORMAT,
    GONE,
    LOCK,
    REMOVED,
    current_version,
    needs_build,
    read_meta,
    sweep,
)
from retrieval.index.embedded.new_documents import Preparation
from retrieval.index.errors import IndexNotBuilt, other_encoder, unknown_document
from retrieval.index.interface import (
    BadPages,
    BuildProgress,
    Index,
    IndexInfo,
    ProgressListener,
    ignore_progress,
)
from retrieval.models.encoders import DocumentEncoder
from retrieval.system.files import write_whole

_PLAN = "plan.json"  # the content of a ``Plan``, its work in words, and a name of the work


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
        version = current_version(self._folder)
        verify(self._folder, version, read_meta(self._folder, version))

    def diagnose(self) -> None:
        self.verify()

    def bad_pages(self) -> BadPages:
        if not self.open(None).info().bad_pages:
            return BadPages("", "")
        listed = self._folder / "current" / BAD_PAGES
        with listed.open(encoding="utf-8") as stream:
            return BadPages(stream.readline().strip(), str(listed))

    def unfinished(self) -> list[str]:
        try:
            with _locked(self._folder):
                pass
        except (IndexNotBuilt, OSError):
            return []
        found = []
        for building in sorted(self._folder.glob(f"{BUILDING}*")):
            size = sum(path.stat().st_size for path in building.rglob("*") if path.is_file())
            what = _plan_in(building).get("work", "an unknown change")
            found.append(
                f"Unfinished: {what}, {size / 1e6:.1f} MB. The same command continues it unless"
                f" the source has changed; if it is not wanted, remove {building}"
            )
        return found

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
        with self._changing():
            current = current_version(self._folder)
            needed = read_meta(self._folder, current).needed() if current.is_dir() else None
            unfinished = sorted(self._folder.glob(f"{BUILDING}*"))
            for building in unfinished:
                discard(building)
            removed = [building.name for building in unfinished]
            return removed if needed is None else removed + sweep(self._folder, needed)

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        def begun(folder: Path) -> FolderVersion:
            before = self._updated_by(corpus, encoder)
            return self._read(folder, before, corpus, on_progress, all_of=True)

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
            return self._read(folder, before, corpus, on_progress, all_of=False)

        return self._changed(Plan.addition(corpus, encoder), begun, encoder, on_progress)

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = ignore_progress
    ) -> IndexInfo:
        self.open(None)

        def begun(folder: Path) -> FolderVersion:
            before = current_version(self._folder)
            return FolderVersion.saved(folder, before) or FolderVersion.begun(folder, before)

        return self._changed(Plan.vectors(encoder), begun, encoder, on_progress)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        self.open(None)
        wanted = list(dict.fromkeys(ids))

        def begun(folder: Path) -> FolderVersion:
            new = FolderVersion.begun(folder, current_version(self._folder))
            if (unknown := new.remove(wanted)) is not None:
                discard(folder)
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
        with self._changing():
            building, name = self._begun(plan)
            if self._made_by() == name:  # an earlier try did all but the cleaning up
                clean_up(building)
            else:
                new = begun(building)
                if encoder is not None:
                    new.encode(
                        encoder,
                        self._processes,
                        lambda done, of: on_progress(BuildProgress("encoding", done, of, done)),
                    )
                new.publish(name)
            return self.open(None).info()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lock the index for one change.

        Raises:
            IndexNotBuilt: the disk is full or read-only, another change is being made, or
                the folder contains something other than an index: builds remove old files there.
        """
        folder = self._folder
        try:
            if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).is_file():
                raise IndexNotBuilt(
                    "index_not_empty",
                    f"{folder} contains files that are not an index.",
                    "Name an empty folder, or one that does not exist yet.",
                )
            folder.mkdir(parents=True, exist_ok=True)
            with _locked(folder):
                for gone in folder.glob(f"{GONE}*"):
                    shutil.rmtree(gone)
                yield
        except OSError as error:
            raise _not_built(error, folder) from error

    def _begun(self, plan: Plan) -> tuple[Path, str]:
        """Start or resume a plan; unfinished work of other plans is kept.

        Returns its folder and a unique name: if the same plan is done again after it was finished,
        it has another.
        """
        building = self._folder / f"{BUILDING}{plan.digest(format=FORMAT)}"
        building.mkdir(exist_ok=True)
        name = _plan_in(building).get("name")
        if not isinstance(name, str):
            name = uuid.uuid4().hex
            content = json.dumps({**plan.content, "work": plan.work, "name": name})
            write_whole(building / _PLAN, content.encode("utf-8"))
        for leftover in building.rglob("*.partial"):
            leftover.unlink()
        return building, name

    def _made_by(self) -> str:
        """Return the name of the work that made the current version, "" without one."""
        try:
            return read_meta(self._folder, current_version(self._folder)).made_by
        except IndexUnavailable:
            return ""

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

    def _read(
        self,
        folder: Path,
        before: Path | None,
        corpus: Corpus,
        on_progress: ProgressListener,
        all_of: bool,
    ) -> FolderVersion:
        """Return a version with the pages of a corpus; ``all_of``: with no others.

        ``before``: the version that it begins with.
        """
        new = FolderVersion.saved(folder, before)
        if new is None:
            new = FolderVersion.begun(folder, before, corpus if all_of else None)
            prepare = partial(_preparation, self._folder, before if all_of else None)
            new.read(corpus, prepare, self._processes, on_progress, all_of)
        return new


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise IndexNotBuilt(
                "index_locked",
                f"Another build of the index in {folder} is running.",
                "Wait until it is done.",
            ) from error
        yield


def _not_built(error: OSError, folder: Path) -> IndexNotBuilt:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return IndexNotBuilt(
            "disk_full",
            f"The disk that holds {folder} is full; the previous index is unchanged.",
            "Free some space and run the same command again: it continues where it stopped.",
        )
    return IndexNotBuilt(
        "index_not_written",
        f"The index cannot be written below {folder} ({error.strerror or error}).",
        "Check the folder's permissions, or name another one (--to, or ESOTERIC_HOME).",
    )


def _plan_in(building: Path) -> dict[str, Any]:
    """Return the plan that was written when the work started; empty if it cannot be read."""
    try:
        plan = json.loads((building / _PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return plan if isinstance(plan, dict) else {}


def _preparation(folder: Path, before: Path | None) -> Preparation:
    if before is None:
        return Preparation()
    removed = np.load(before / REMOVED)
    name = read_meta(folder, before).stored[DOCUMENTS].name
    return Preparation(Documents(folder / DATABASES / name, len(removed), removed))
