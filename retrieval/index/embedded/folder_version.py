"""Makes a new version of an index: from nothing, or from the current one, whose files it shares."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import Corpus
from retrieval.index.building import read
from retrieval.index.embedded import documents, vectors
from retrieval.index.embedded.documents import Documents, append, later_passages, sentence_counts
from retrieval.index.embedded.embedded_store import DIGESTS, EmbeddedStore
from retrieval.index.embedded.layout import (
    BAD_PAGES,
    DATABASES,
    DOCUMENTS,
    FORMAT,
    GONE,
    LEXICAL,
    META,
    REMOVED,
    ROTATION,
    SIGNS,
    VECTORS,
    EmbeddedMeta,
    Stored,
    current_version,
    read_meta,
    swap_in,
    sweep,
    write_meta,
)
from retrieval.index.embedded.lexical import LexicalWriter
from retrieval.index.embedded.new_documents import NewDocuments, Preparation
from retrieval.index.embedded.vectors import EncodedDocuments, NewVectors, encode
from retrieval.index.errors import source_empty
from retrieval.index.formats.codes import rotation
from retrieval.index.formats.packaged import packaged_vectors
from retrieval.index.formats.titles import NAMES, read_titles, run_of, write_titles
from retrieval.index.interface import ProgressListener
from retrieval.models.encoders import DocumentEncoder
from retrieval.models.title_trie import joined
from retrieval.system.files import digest_of, write_array, write_whole

SAVED = "saved.json"
_PASSING = (SAVED, META)  # not of the version, or written after what describes the others
_TABLES = {DOCUMENTS: documents.TABLES, VECTORS: vectors.TABLES}


class FolderVersion:
    """A version in the folder of unfinished work; it is not used before ``publish``.

    Until then, the rows that it adds to the databases of the version before are in separate ones.
    """

    def __init__(
        self, building: Path, before: str, meta: EmbeddedMeta, removed: NDArray[np.bool_]
    ) -> None:
        """Begin with what ``meta`` describes; use ``begun`` or ``saved``.

        ``before`` names the version that it began with, if any.
        """
        self._index = building.parent
        self._building = building
        self._before = before
        self._folder = building / "version"
        self._meta = meta
        self._removed = removed
        self._lexical = LexicalWriter(self._folder / LEXICAL)

    @classmethod
    def begun(
        cls, building: Path, before: Path | None, corpus: Corpus | None = None
    ) -> FolderVersion:
        """Return a version with all that another has, if any; its files are linked and not copied.

        ``corpus``: what it becomes an index of, if that changes.
        """
        folder = building / "version"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / LEXICAL).mkdir(parents=True)
        meta, removed = EmbeddedMeta(name="", source=""), np.zeros(0, dtype=np.bool_)
        if before is not None:
            for name in _files(before):
                os.link(before / name, folder / name)
            meta, removed = read_meta(building.parent, before), np.load(before / REMOVED)
        if corpus is not None:
            meta = replace(meta, name=corpus.name, source=corpus.source, date=corpus.date)
        return cls(building, before.name if before else "", meta, removed)

    @classmethod
    def saved(cls, building: Path, before: Path | None) -> FolderVersion | None:
        """Return what an earlier try saved, if it began with this version, or none."""
        name = before.name if before is not None else ""
        try:
            content = json.loads((building / "version" / SAVED).read_text(encoding="utf-8"))
            if content["before"] != name:
                return None
            removed = np.load(building / "version" / REMOVED)
            return cls(building, name, EmbeddedMeta.from_json(content["meta"]), removed)
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def read(
        self,
        corpus: Corpus,
        prepare: Callable[[], Preparation],
        processes: int,
        on_progress: ProgressListener,
        all_of: bool,
    ) -> None:
        """Add the pages of a source, which replace older ones with their ids.

        After an interruption the next try continues with the chunks that the database lacks.
        ``all_of``: older documents that the source does not have are removed.

        Raises:
            BadSource: no page can be read, or none has a sentence.
            OSError: the disk is full or read-only.
        """
        before, first = self._meta.stored[DOCUMENTS], len(self._removed)
        path = self._new(DOCUMENTS, first)
        with closing(NewDocuments(path, first)) as new:
            self._lexical.add(new.texts(), first)
            earlier = new.pages
            for chunk in read(
                corpus,
                new.chunks,
                prepare,
                processes,
                on_progress,
                lambda: new.pages - earlier,
            ):
                self._lexical.add(chunk.texts, new.end)
                new.add(chunk)
            new.finish()
            bad, superseded = new.bad_pages(), new.superseded()
            older = self._database(before) if before.name else None
            kept = new.kept(older, first) if older and all_of else None
            replaced = new.replaced(older, first) if older and not all_of else []
            if new.end > first:
                self._add_titles(new.titles())
        if kept:
            mask, read_again = kept
            replaced = np.flatnonzero(~self._removed & ~mask).tolist()
            superseded += read_again
        added = np.zeros(new.end - first, dtype=np.bool_)
        self._removed = np.concatenate([self._removed, added])
        self._meta = replace(
            self._meta,
            bad_pages=len(bad),
            superseded=len(superseded),
            changed=not all_of,
            date=max(self._meta.date, corpus.date),
            sentences=self._meta.sentences + sum(sentence_counts(path, range(first, new.end))),
        )
        if new.end > first:
            self._add(DOCUMENTS, path, first, new.end)
            self._remove(path, superseded)
        if older:
            self._remove(older, replaced)
        if not self._meta.sentences or (new.end == first and not all_of):
            self._lexical.commit()  # until then its threads write into the folder
            shutil.rmtree(self._building)
            raise source_empty(self._meta.source, bad)
        lines = (f"{page.message} {page.hint}\n" for page in bad)
        write_whole(self._folder / BAD_PAGES, "".join(lines).encode("utf-8", "replace"))
        self.save()

    def _add_titles(self, titled: Iterator[tuple[int, str]]) -> None:
        run = run_of(titled)
        if (self._folder / NAMES[0]).exists():
            run = joined(read_titles(self._folder), run)
        write_titles(self._folder, run)

    def remove(self, ids: Sequence[str]) -> str | None:
        """Remove the documents with these ids; return one that no document has, if any."""
        path = self._database(self._meta.stored[DOCUMENTS])
        found = Documents(path, len(self._removed), self._removed).of_whole(ids)
        self._meta = replace(self._meta, changed=True)
        self._remove(path, sorted({number for numbers in found.values() for number in numbers}))
        return next((one for one in ids if one not in found), None)

    def save(self) -> None:
        """Write to the disk what is done, so that the next try does not do it again.

        Raises:
            OSError: the disk is full or read-only.
        """
        self._lexical.commit()
        write_array(self._folder / REMOVED, self._removed)
        content = {"before": self._before, "meta": asdict(self._meta)}
        write_whole(self._folder / SAVED, json.dumps(content).encode("utf-8"))

    def encode(
        self, encoder: DocumentEncoder, processes: int, on_progress: Callable[[int, int], None]
    ) -> None:
        """Give all documents vectors of this encoder, and replace those of another encoder.

        ``on_progress`` gets how many documents have them, and of how many. After an interruption
        the next try continues.

        Raises:
            ModelUnavailable: the encoder cannot be loaded.
            OSError: the disk is full or read-only.
        """
        if self._meta.encoder != encoder.name:
            stored = {**self._meta.stored, VECTORS: Stored()}
            self._meta = replace(
                self._meta, encoder=encoder.name, meets=encoder.query_encoder, stored=stored
            )
        first, last = len(self._meta.stored[VECTORS]), len(self._removed)
        digest = self._meta.stored[DOCUMENTS].parts[-1][1]
        # Named by what is encoded, which may have changed since an interrupted try.
        begun = self._building / f"{encoder.name}-{first}-{digest[:16]}"
        with closing(NewVectors(begun, first)) as new:
            on_progress(new.end, last)
            if first == last:
                return
            turn = self._encoded(new, encoder, digest, processes, on_progress)
            signs = [np.load(self._folder / SIGNS)] if first else []
            write_array(self._folder / SIGNS, np.concatenate([*signs, new.signs()]))
            write_array(self._folder / ROTATION, turn)
        ended = begun.rename(self._new(VECTORS, first))
        self._add(VECTORS, ended, first, last)
        self.save()

    def _encoded(
        self,
        new: NewVectors,
        encoder: DocumentEncoder,
        digest: str,
        processes: int,
        on_progress: Callable[[int, int], None],
    ) -> NDArray[np.float32]:
        """Add the vectors that are missing; return the matrix that they were turned by."""
        last = len(self._removed)
        path = self._added(DOCUMENTS) or self._database(self._meta.stored[DOCUMENTS])
        # Those of a whole corpus.
        of = {"format": FORMAT, "documents": digest}
        packaged = packaged_vectors(encoder.name, **of) if new.first == 0 else None
        if packaged:
            turn = packaged.pop("turn")
            if new.end == 0:
                new.add(EncodedDocuments(**packaged, counts=sentence_counts(path, range(last))))
            on_progress(last, last)
            return turn
        known = self._folder / ROTATION
        turn = np.load(known) if new.first else rotation(encoder.dimension)
        encode(path, last, new, encoder, turn, processes, lambda end: on_progress(end, last))
        return turn

    def publish(self, made_by: str) -> None:
        """Put the version on the disk, make it the current one and remove what it replaces.

        ``made_by`` is the name of the work that this ends.

        Raises:
            OSError: the disk is full or read-only.
        """
        self.save()
        if not (self._folder / BAD_PAGES).exists():
            write_whole(self._folder / BAD_PAGES, b"")
        stored = {kind: self._published(kind, made_by) for kind in self._meta.stored}
        digest = hashlib.sha256(self._removed.tobytes())
        for one in stored.values():
            for _, part in one.parts:
                digest.update(part.encode("ascii"))
        meta = replace(
            self._meta,
            documents=self._documents(stored[DOCUMENTS]),
            passages=int((~self._removed).sum()),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
            made_by=made_by,
            checksum=digest.hexdigest(),
            stored=stored,
            files=self._described(),
        )
        write_meta(self._folder, meta)
        # Before the old one goes.
        EmbeddedStore.open_version(self._index, self._folder, meta.meets)
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        swap_in(self._index, self._folder, f"{now}-{meta.checksum[:12]}")
        clean_up(self._building)

    def _published(self, kind: str, made_by: str) -> Stored:
        """Put what was added to a database to its place."""
        stored, added = self._meta.stored[kind], self._added(kind)
        if added and stored.name:
            first = len(stored) - stored.parts[-1][0]
            append(self._database(stored), added, _TABLES[kind], first)
        elif added:
            stored = replace(stored, name=f"{made_by}.{kind}")
            place = self._database(stored)
            place.parent.mkdir(exist_ok=True)
            place.unlink(missing_ok=True)  # which an interrupted try has linked
            os.link(added, place)
        size = self._database(stored).stat().st_size if stored.name else 0
        return replace(stored, size=size)

    def _documents(self, stored: Stored) -> int:
        """Return the number of documents, a long one counted once."""
        here = ~self._removed
        here[later_passages(self._database(stored), len(here))] = False
        return int(here.sum())

    def _described(self) -> dict[str, tuple[int, str]]:
        """Return ``EmbeddedMeta.files``; what the version before has too is not read again."""
        before = self._index / "versions" / self._before
        files = {}
        for name in _files(self._folder):
            path = self._folder / name
            same = name in self._meta.files and path.samefile(before / name)
            digest = self._meta.files[name][1] if same else digest_of(path)
            files[name] = (path.stat().st_size, digest)
        return files

    def _added(self, kind: str) -> Path | None:
        """Return the database of the rows that this change adds, if it adds some."""
        stored = self._meta.stored[kind]
        if not stored.parts:
            return None
        path = self._new(kind, len(stored) - stored.parts[-1][0])
        return path if path.is_file() else None

    def _new(self, kind: str, first: int) -> Path:
        """Return where the rows from ``first`` on are that this change adds to a version."""
        return self._building / f"{kind}-{first}-{self._before or 'new'}"

    def _add(self, kind: str, path: Path, first: int, end: int) -> None:
        """Describe the rows that a database adds."""
        stored = self._meta.stored[kind]
        part = (end - first, DIGESTS[kind](path, first, end))
        added = replace(stored, parts=(*stored.parts, part))
        self._meta = replace(self._meta, stored={**self._meta.stored, kind: added})

    def _remove(self, path: Path, numbers: Sequence[int]) -> None:
        """Mark documents of a database as removed."""
        here = [number for number in numbers if not self._removed[number]]
        fewer = sum(sentence_counts(path, here))
        self._meta = replace(self._meta, sentences=self._meta.sentences - fewer)
        self._removed[here] = True
        self._lexical.remove(here)

    def _database(self, stored: Stored) -> Path:
        return self._index / DATABASES / stored.name


def clean_up(building: Path) -> None:
    """Remove what the current version, made in this folder, has replaced, and the folder."""
    index = building.parent
    current = current_version(index)
    (current / SAVED).unlink(missing_ok=True)
    sweep(index, read_meta(index, current).needed())
    discard(building)


def discard(building: Path) -> None:
    """Remove a folder of unfinished work; renamed first, so that no half of it is resumed."""
    gone = building.with_name(f"{GONE}{building.name}")
    building.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _files(version: Path) -> list[str]:
    """Return the paths in a version's folder of what ``EmbeddedMeta.files`` describes."""
    names = (
        path.relative_to(version).as_posix()
        for path in version.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    )
    return sorted(name for name in names if name not in _PASSING)
