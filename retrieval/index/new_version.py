"""Makes a version of an index: of nothing, or of the one that stands, whose files it shares."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import BadPage
from retrieval.encoders.encoder import DocumentEncoder
from retrieval.files import write_array, write_whole
from retrieval.index.codes import rotation
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.index.layout import (
    DELETED,
    GONE,
    LEXICAL,
    SEGMENTS,
    VECTORS,
    Meta,
    described,
    read_meta,
)
from retrieval.index.lexical import LexicalWriter
from retrieval.index.merging import merge_segments, merge_vectors, mergeable, merged_digest
from retrieval.index.packaged_vectors import packaged_vectors
from retrieval.index.segment import Segment
from retrieval.index.vector_writer import encoded_parts, write_vectors
from retrieval.index.versions import BAD_PAGES, META, current_version, swap_in, sweep

SAVED = "saved.json"
_PASSING = (SAVED, META)  # not of the version, or written behind what tells of the others


class NewVersion:
    """A version below the folder of unfinished work; nobody finds it before ``publish``."""

    def __init__(self, building: Path, before: str, meta: Meta, deleted: NDArray[np.bool_]) -> None:
        """Begin with what ``meta`` describes; use ``empty``, ``of`` or ``saved``.

        ``before`` names the version that it began with, if any.
        """
        self._index = building.parent
        self._building = building
        self._before = before
        self._folder = building / "version"
        self._meta = meta
        self._deleted = deleted
        self.lexical = LexicalWriter(self._folder / LEXICAL)

    @classmethod
    def empty(cls, building: Path, name: str, source: str) -> NewVersion:
        """Return a version without documents."""
        (building / "version" / LEXICAL).mkdir(parents=True)
        meta = Meta(name, source, "", "", 0, 0, 0, 0, "", "", "", (), (), {})
        return cls(building, "", meta, np.zeros(0, dtype=np.bool_))

    @classmethod
    def of(cls, building: Path, before: Path) -> NewVersion:
        """Return a version with all that another holds; its words are linked and not copied."""
        lexical = building / "version" / LEXICAL
        lexical.mkdir(parents=True)
        for path in (before / LEXICAL).iterdir():
            if path.suffix != ".lock":
                os.link(path, lexical / path.name)
        os.link(before / BAD_PAGES, building / "version" / BAD_PAGES)
        meta = read_meta(building.parent, before)
        return cls(building, before.name, meta, np.load(before / DELETED))

    @classmethod
    def saved(cls, building: Path, before: str) -> NewVersion | None:
        """Return what an earlier try saved, if it is all there and began with this version."""
        try:
            content = json.loads((building / "version" / SAVED).read_text(encoding="utf-8"))
            if content["before"] != before:
                return None
            deleted = np.load(building / "version" / DELETED)
            new = cls(building, before, Meta(**content["meta"]), deleted)
        except (OSError, ValueError, TypeError, LookupError):
            return None
        needed = new._meta.needed().items()
        places = [new._place(kind, name) for kind, names in needed for name in names]
        return new if all(place.is_dir() for place in places) else None

    def __len__(self) -> int:
        """Return how many documents there are, deleted ones too."""
        return len(self._deleted)

    def add(self, made: Path, checksum: str, bad: Sequence[BadPage]) -> None:
        """Add a segment, whose texts ``lexical`` holds; its pages take the place of older ones.

        Raises:
            OSError: it cannot be moved to the others.
        """
        before = self._segments()
        place = self._building / SEGMENTS / _name(checksum)
        place.parent.mkdir(exist_ok=True)
        made.rename(place)
        new = Segment(place)
        older = _of_all(before, lambda segment: segment.held_by(new))
        here = [len(self) + number for number in new.superseded()]
        self._deleted = np.concatenate([self._deleted, np.zeros(len(new), dtype=np.bool_)])
        self._meta = replace(
            self._meta,
            segments=(*self._meta.segments, (place.name, len(new), checksum)),
            bad_pages=len(bad),
            superseded=len(here),
            changed=bool(before),
        )
        self._delete([*older, *here])
        lines = (f"{page.message} {page.hint}\n" for page in bad)
        write_whole(self._folder / BAD_PAGES, "".join(lines).encode("utf-8", "replace"))

    def remove(self, ids: Sequence[str]) -> None:
        """Take out the documents with these ids."""
        self._meta = replace(self._meta, changed=True)
        self._delete(
            _of_all(self._segments(), lambda segment: [n for i in ids for n in segment.numbers(i)])
        )

    def save(self) -> None:
        """Put on the disk what there is, so that a later try need not do it again.

        Raises:
            OSError: the disk is full or read-only.
        """
        self.lexical.commit()
        write_array(self._folder / DELETED, self._deleted)
        content = {"before": self._before, "meta": asdict(self._meta)}
        write_whole(self._folder / SAVED, json.dumps(content).encode("utf-8"))

    def encode(
        self, encoder: DocumentEncoder, processes: int, on_progress: Callable[[int, int], None]
    ) -> None:
        """Give every segment vectors of this encoder, those that have another's too.

        ``on_progress`` is told how many documents have them, of how many. Interrupted, the
        next try goes on behind what was done.

        Raises:
            ModelUnavailable: the encoder cannot be loaded.
            OSError: the disk is full or read-only.
        """
        if self._meta.encoder != encoder.name:
            self._meta = replace(self._meta, encoder=encoder.name, meets=encoder.meets, vectors=())
        done = sum(count for _, count, _ in self._meta.segments[: len(self._meta.vectors)])

        def count(more: int) -> None:
            nonlocal done
            done += more
            on_progress(done, len(self))

        on_progress(done, len(self))
        for name, _, checksum in self._meta.segments[len(self._meta.vectors) :]:
            made = self._building / f"{encoder.name}-{checksum[:16]}"
            made.mkdir(exist_ok=True)
            parts = self._building / f"{encoder.name}-{checksum[:16]}.parts"
            parts.mkdir(exist_ok=True)
            segment = self._place(SEGMENTS, name)
            packaged = packaged_vectors(encoder.name, checksum)
            if packaged:
                digest = write_vectors(made, packaged.turn, [packaged.part], count)
            else:
                turn = rotation(encoder.dimension)
                encoded = encoded_parts(parts, segment, encoder, turn, processes)
                digest = write_vectors(made, turn, encoded, count)
            place = self._building / VECTORS / _name(digest)
            place.parent.mkdir(exist_ok=True)
            made.rename(place)
            self._meta = replace(self._meta, vectors=(*self._meta.vectors, (place.name, digest)))
            self.save()
            shutil.rmtree(parts)

    def merge(self) -> None:
        """Put the last segments together where they have become many; all have vectors or none.

        Raises:
            IndexUnavailable: one of them is damaged, which the digest of all would hide.
            OSError: the disk is full or read-only.
        """
        segments, vectors = self._meta.segments, self._meta.vectors
        many = mergeable([count for _, count, _ in segments])
        if many == 1:
            return
        left, merged = segments[:-many], segments[-many:]
        folders = [(name, checksum) for name, _, checksum in merged]
        name, checksum = self._merged(SEGMENTS, folders, merge_segments)
        one = (name, sum(count for _, count, _ in merged), checksum)
        if vectors:
            coded = self._merged(VECTORS, vectors[-many:], merge_vectors)
            vectors = (*vectors[:-many], coded)
        self._meta = replace(self._meta, segments=(*left, one), vectors=vectors)
        self.save()

    def publish(self, made_by: str) -> None:
        """Put the version on the disk, make it the current one and remove what it replaces.

        ``made_by`` is the name of the work that this ends.

        Raises:
            OSError: the disk is full or read-only.
        """
        self.lexical.commit()
        write_array(self._folder / DELETED, self._deleted)
        if not (self._folder / BAD_PAGES).exists():
            write_whole(self._folder / BAD_PAGES, b"")
        needed = self._meta.needed()
        files: dict[str, tuple[int, str]] = {}
        for kind, names in needed.items():
            for name in names:
                before = self._meta.files.items()
                known = {path: file for path, file in before if f"{kind}/{name}/" in path}
                below = self._place(kind, name)
                files |= known or described(below, below.parent.parent)
        digest = hashlib.sha256(self._deleted.tobytes())
        for checksum in [c for _, _, c in self._meta.segments] + [c for _, c in self._meta.vectors]:
            digest.update(checksum.encode("ascii"))
        sizes = [np.diff(segment.sentence_starts) for segment in self._segments()]
        own = described(self._folder, self._folder)
        meta = replace(
            self._meta,
            documents=int((~self._deleted).sum()),
            sentences=int(np.concatenate(sizes)[~self._deleted].sum()),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
            made_by=made_by,
            checksum=digest.hexdigest(),
            files=files | {path: file for path, file in own.items() if path not in _PASSING},
        )
        write_whole(self._folder / META, meta.to_json())
        for kind, names in needed.items():
            (self._index / kind).mkdir(exist_ok=True)
            for name in names:
                if (self._building / kind / name).is_dir():
                    (self._building / kind / name).rename(self._index / kind / name)
        # Before the old one goes.
        EmbeddedStore.open_version(self._index, self._folder, meta.meets)
        swap_in(self._index, self._folder, _name(meta.checksum))
        clean_up(self._building)

    def _merged(
        self,
        kind: str,
        merged: Sequence[tuple[str, str]],
        merge: Callable[[Path, Sequence[Path]], None],
    ) -> tuple[str, str]:
        """Make one folder of some, which are told by name and digest; return its."""
        made = self._building / "merged"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        for name, _ in merged:
            self._meta.verify(self._index, self._folder, f"{kind}/{name}/")
        merge(made, [self._place(kind, name) for name, _ in merged])
        checksum = merged_digest([digest for _, digest in merged])
        place = self._building / kind / _name(checksum)
        place.parent.mkdir(exist_ok=True)
        made.rename(place)
        return place.name, checksum

    def _segments(self) -> list[Segment]:
        return [Segment(self._place(SEGMENTS, name)) for name, _, _ in self._meta.segments]

    def _place(self, kind: str, name: str) -> Path:
        """Return where a segment or its vectors lie: here, or with those that serve already."""
        here = self._building / kind / name
        return here if here.is_dir() else self._index / kind / name

    def _delete(self, numbers: Sequence[int]) -> None:
        self._deleted[numbers] = True
        self.lexical.remove(numbers)


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


def _of_all(segments: Sequence[Segment], numbers: Callable[[Segment], Sequence[int]]) -> list[int]:
    """Return documents of the segments, as ``numbers`` tells them for each."""
    found, first = [], 0
    for segment in segments:
        found += [first + number for number in numbers(segment)]
        first += len(segment)
    return found


def _name(checksum: str) -> str:
    return f"{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%f')}-{checksum[:12]}"
