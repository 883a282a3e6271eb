"""Makes a version of an index: of nothing, or of the one that stands, whose files it shares."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import BadPage
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.index.files import write_array, write_whole
from retrieval.index.layout import DELETED, LEXICAL, SEGMENTS, Meta, described, read_meta
from retrieval.index.lexical import LexicalWriter
from retrieval.index.segment import Segment
from retrieval.index.segment_writer import Written
from retrieval.index.versions import BAD_PAGES, META, swap_in


class NewVersion:
    """A version below the folder of unfinished work; nobody finds it before ``publish``."""

    def __init__(self, building: Path, meta: Meta, deleted: NDArray[np.bool_]) -> None:
        """Begin with what ``meta`` describes; use ``empty`` or ``of``."""
        self._index = building.parent
        self._building = building
        self._folder = building / "version"
        self._meta = meta
        self._deleted = deleted
        self._bad: Sequence[BadPage] = ()
        self._segments = [Segment(self._index / SEGMENTS / name) for name, _, _ in meta.segments]
        self.lexical = LexicalWriter(self._folder / LEXICAL)

    @classmethod
    def empty(cls, building: Path, name: str, source: str, encoder: str) -> NewVersion:
        """Return a version without documents."""
        (building / "version" / LEXICAL).mkdir(parents=True)
        meta = Meta(name, source, encoder, 0, 0, 0, "", "", (), {})
        return cls(building, meta, np.zeros(0, dtype=np.bool_))

    @classmethod
    def of(cls, building: Path, before: Path) -> NewVersion:
        """Return a version with all that another holds; its words are linked and not copied."""
        (building / "version" / LEXICAL).mkdir(parents=True)
        for path in (before / LEXICAL).iterdir():
            if path.suffix != ".lock":
                os.link(path, building / "version" / LEXICAL / path.name)
        return cls(building, read_meta(building.parent, before), np.load(before / DELETED))

    def __len__(self) -> int:
        """Return how many documents there are, deleted ones too."""
        return len(self._deleted)

    def add(self, made: Path, written: Written, bad: Sequence[BadPage]) -> None:
        """Add a segment, whose texts ``lexical`` holds; its pages take the place of older ones.

        Raises:
            OSError: it cannot be moved to the others.
        """
        place = self._index / SEGMENTS / _name(written.checksum)
        place.parent.mkdir(exist_ok=True)
        made.rename(place)
        new = Segment(place)
        older = self._of_all(lambda segment: segment.held_by(new))
        here = [len(self) + number for number in new.superseded()]
        self._deleted = np.concatenate([self._deleted, np.zeros(len(new), dtype=np.bool_)])
        self._segments.append(new)
        self._meta = replace(
            self._meta,
            segments=(*self._meta.segments, (place.name, len(new), written.checksum)),
            files={**self._meta.files, **described(place, self._index)},
        )
        self._delete([*older, *here])
        self._bad = bad

    def remove(self, ids: Sequence[str]) -> None:
        """Take out the documents with these ids."""
        self._delete(self._of_all(lambda segment: [n for i in ids for n in segment.numbers(i)]))

    def publish(self) -> None:
        """Put the version on the disk, make it the current one and remove what it replaces.

        Raises:
            OSError, ValueError: the disk is full or read-only.
        """
        self.lexical.commit()
        write_array(self._folder / DELETED, self._deleted)
        lines = (f"{page.message} {page.hint}\n" for page in self._bad)
        write_whole(self._folder / BAD_PAGES, "".join(lines).encode("utf-8", "replace"))
        digest = hashlib.sha256(self._deleted.tobytes())
        for _, _, checksum in self._meta.segments:
            digest.update(checksum.encode("ascii"))
        shared = {n: file for n, file in self._meta.files.items() if n.startswith(SEGMENTS)}
        sizes = [np.diff(segment.sentence_starts) for segment in self._segments]
        meta = replace(
            self._meta,
            documents=int((~self._deleted).sum()),
            sentences=int(np.concatenate(sizes)[~self._deleted].sum()),
            bad_pages=len(self._bad),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
            checksum=digest.hexdigest(),
            files={**shared, **described(self._folder, self._folder)},
        )
        write_whole(self._folder / META, meta.to_json())
        EmbeddedStore.open_version(
            self._index, self._folder, meta.encoder
        )  # before the old one goes
        swap_in(self._index, self._folder, _name(meta.checksum), [n for n, _, _ in meta.segments])
        shutil.rmtree(self._building, ignore_errors=True)

    def _of_all(self, numbers: Callable[[Segment], Sequence[int]]) -> list[int]:
        """Return documents of the segments there are, as ``numbers`` tells them for each."""
        found, first = [], 0
        for segment in self._segments:
            found += [first + number for number in numbers(segment)]
            first += len(segment)
        return found

    def _delete(self, numbers: Sequence[int]) -> None:
        self._deleted[numbers] = True
        self.lexical.remove(numbers)


def _name(checksum: str) -> str:
    return f"{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%f')}-{checksum[:12]}"
