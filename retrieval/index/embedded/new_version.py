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

from retrieval.corpora.corpus import BadPage, Corpus
from retrieval.errors import BadSource
from retrieval.index.embedded import documents
from retrieval.index.embedded.documents import (
    Documents,
    NewDocuments,
    Prepared,
    later_passages,
    sentence_counts,
)
from retrieval.index.embedded.embedded_store import EmbeddedStore
from retrieval.index.embedded.encoding import encode
from retrieval.index.embedded.layout import (
    DATABASES,
    DIGESTS,
    DOCUMENTS,
    GONE,
    LEXICAL,
    REMOVED,
    ROTATION,
    SIGNS,
    VECTORS,
    Meta,
    Stored,
    read_meta,
)
from retrieval.index.embedded.lexical import LexicalWriter
from retrieval.index.embedded.packaged_vectors import packaged_vectors
from retrieval.index.embedded.title_files import add_titles
from retrieval.index.formats import vectors
from retrieval.index.formats.codes import rotation
from retrieval.index.formats.database import append
from retrieval.index.formats.vectors import NewVectors
from retrieval.index.formats.versions import BAD_PAGES, META, current_version, swap_in, sweep
from retrieval.models.encoders.encoder import DocumentEncoder
from retrieval.system.files import digest_of, write_array, write_whole

SAVED = "saved.json"
_PASSING = (SAVED, META)  # not of the version, or written after what describes the others
_TABLES = {DOCUMENTS: documents.TABLES, VECTORS: vectors.TABLES}


class NewVersion:
    """A version in the folder of unfinished work; it is not used before ``publish``.

    Until then, the rows that it adds to the databases of the version before are in separate ones.
    """

    def __init__(self, building: Path, before: str, meta: Meta, removed: NDArray[np.bool_]) -> None:
        """Begin with what ``meta`` describes; use ``empty``, ``of`` or ``saved``.

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
    def empty(cls, building: Path, corpus: Corpus) -> NewVersion:
        """Return a version without documents, for those of a corpus."""
        shutil.rmtree(building / "version", ignore_errors=True)
        (building / "version" / LEXICAL).mkdir(parents=True)
        meta = Meta(corpus.name, corpus.source, date=corpus.date)
        return cls(building, "", meta, np.zeros(0, dtype=np.bool_))

    @classmethod
    def of(cls, building: Path, before: Path, corpus: Corpus | None = None) -> NewVersion:
        """Return a version with all that another has; its files are linked and not copied.

        ``corpus``: what it becomes an index of, if that changes.
        """
        shutil.rmtree(building / "version", ignore_errors=True)
        (building / "version" / LEXICAL).mkdir(parents=True)
        for name in _files(before):
            os.link(before / name, building / "version" / name)
        meta = read_meta(building.parent, before)
        if corpus is not None:
            meta = replace(meta, name=corpus.name, source=corpus.source, date=corpus.date)
        return cls(building, before.name, meta, np.load(before / REMOVED))

    @classmethod
    def saved(cls, building: Path, before: str) -> NewVersion | None:
        """Return what an earlier try saved, if it began with this version."""
        try:
            content = json.loads((building / "version" / SAVED).read_text(encoding="utf-8"))
            if content["before"] != before:
                return None
            removed = np.load(building / "version" / REMOVED)
            return cls(building, before, Meta.from_json(content["meta"]), removed)
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def read(
        self, chunks: Callable[[NewDocuments], Iterator[Prepared]], date: str, all_of: bool
    ) -> None:
        """Add the pages of a source, which replace older ones with their ids.

        ``chunks`` yields the chunks that the database lacks; after an interruption the next try
        continues with those. ``date``: the day of the source's newest text, "" if unknown.
        ``all_of``: older documents that the source does not have are removed.

        Raises:
            BadSource: no page can be read, or none has a sentence.
            OSError: the disk is full or read-only.
        """
        before, first = self._meta.stored[DOCUMENTS], len(self._removed)
        path = self._new(DOCUMENTS, first)
        with closing(NewDocuments(path, first)) as new:
            self._lexical.add(new.texts(), first)
            for chunk in chunks(new):
                self._lexical.add(chunk.texts, new.end)
                new.add(chunk)
            new.finish()
            bad, superseded = new.bad_pages(), new.superseded()
            older = self._database(before) if before.name else None
            kept = new.kept(older, first) if older and all_of else None
            replaced = new.replaced(older, first) if older and not all_of else []
            if new.end > first:
                add_titles(self._folder, new.titles())
        if new.end == first and not (kept and kept.mask.any()):
            self._abandon()
            raise _empty(self._meta.source, bad)
        if kept:
            replaced = np.flatnonzero(~self._removed & ~kept.mask).tolist()
            superseded += kept.earlier
        added = np.zeros(new.end - first, dtype=np.bool_)
        self._removed = np.concatenate([self._removed, added])
        self._meta = replace(
            self._meta,
            bad_pages=len(bad),
            superseded=len(superseded),
            changed=not all_of,
            date=max(self._meta.date, date),
            sentences=self._meta.sentences + sum(sentence_counts(path, range(first, new.end))),
        )
        if new.end > first:
            self._add(DOCUMENTS, path, first, new.end)
            self._remove(path, superseded)
        if older:
            self._remove(older, replaced)
        if not self._meta.sentences:
            self._abandon()
            raise _empty(self._meta.source, bad)
        lines = (f"{page.message} {page.hint}\n" for page in bad)
        write_whole(self._folder / BAD_PAGES, "".join(lines).encode("utf-8", "replace"))
        self.save()

    def _abandon(self) -> None:
        self._lexical.commit()  # until then its threads write into the folder
        shutil.rmtree(self._building)

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
        packaged = packaged_vectors(encoder.name, digest) if new.first == 0 else None
        if packaged:
            if new.end == 0:
                new.add(packaged.encoded(sentence_counts(path, range(last))))
            on_progress(last, last)
            return packaged.turn
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
        write_whole(self._folder / META, meta.to_json())
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
        """Return ``Meta.files``; what is shared with the version before is not read again."""
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
    # Renamed first, so that no half of it is taken for unfinished work.
    gone = building.with_name(f"{GONE}{building.name}")
    building.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _files(version: Path) -> list[str]:
    """Return the files that ``Meta.files`` describes, by their paths in a version's folder."""
    names = (
        path.relative_to(version).as_posix()
        for path in version.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    )
    return sorted(name for name in names if name not in _PASSING)


def _empty(source: str, bad: Sequence[BadPage]) -> BadSource:
    message = f"{source} holds no page with a sentence"
    if bad:
        return BadSource("source_empty", f"{message}: {bad[0].message}", bad[0].hint)
    return BadSource("source_empty", f"{message}.", "Name a source that holds some.")
