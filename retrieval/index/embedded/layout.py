"""Which files an embedded index consists of, and the errors of opening them.

index/
  current -> versions/<name>      replaced in one rename when a change is complete
  versions/<time>-<checksum>/     never written again
    meta.json                     written last: what is here, each file's size and digest
    removed.npy                   for each document whether it was removed or replaced, bool
    bad_pages.txt                 pages of the source that could not be read
    lexical/                      tantivy, over all documents; locked while it is opened, so that
                                  the folder must be writable
    title_*.npy                   all titles as a prefix tree (``title_files``)
    rotation.npy, signs.npy       what the vectors were turned by, and the signs of all documents'
  databases/<change>.documents    SQLite (``documents``); versions share it, and so
  databases/<change>.vectors      this (``vectors``)
  building-<plan>/                what an unfinished change has done so far
  gone-building-<plan>/           the remains of one that ended; the next one removes it
  lock                            held while a change is made

Files that a change leaves as they were are hard links of the version before.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.documents import digest_of_documents
from retrieval.index.formats.database import connected
from retrieval.index.formats.vectors import digest_of_vectors
from retrieval.index.formats.versions import FORMAT, META
from retrieval.models.encoders.document_encoders import (
    DEFAULT_ENCODER,
    DPR_ENCODER,
    OWN_ENCODER,
    choice_of,
)
from retrieval.system.files import digest_of
from retrieval.system.fixes import esoteric_command

BUILDING = "building-"
DATABASES = "databases"
GONE = "gone-"
LEXICAL = "lexical"
LOCK = "lock"
REMOVED = "removed.npy"
ROTATION = "rotation.npy"
SIGNS = "signs.npy"

DOCUMENTS, VECTORS = "documents", "vectors"
DIGESTS = {DOCUMENTS: digest_of_documents, VECTORS: digest_of_vectors}


@dataclass(frozen=True, slots=True)
class Stored:
    """What a version has in a database.

    Attributes:
        name: the database's file.
        parts: of each change that added rows, how many, and a digest of them.
        size: bytes that the file has at least.
    """

    name: str = ""
    parts: tuple[tuple[int, str], ...] = ()
    size: int = 0

    def __len__(self) -> int:
        """Return the number of its rows."""
        return sum(count for count, _ in self.parts)


@dataclass(frozen=True, slots=True)
class Meta:
    """The content of ``meta.json`` of a version.

    Attributes:
        encoder: whose vectors there are, "" for an index without vectors.
        meets: the text encoder whose vectors these are compared with, likewise.
        date: the day of the newest text that was read, "" if unknown.
        documents: those that can be found, a long one counted once; ``passages``: each passage of
            it counted; ``sentences``: of all of them.
        made_by: the name of the work that made it (``building.Begun``).
        stored: what is in the databases ``DOCUMENTS``, removed ones too, and ``VECTORS``.
        files: bytes and SHA-256 of each file of the version, by its path there.
        changed: whether pages were added or removed, which its source alone does not bring back.
    """

    name: str
    source: str
    encoder: str = ""
    meets: str = ""
    date: str = ""
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    bad_pages: int = 0
    superseded: int = 0
    built_at: str = ""
    made_by: str = ""
    checksum: str = ""
    stored: Mapping[str, Stored] = field(
        default_factory=lambda: {DOCUMENTS: Stored(), VECTORS: Stored()}
    )
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    changed: bool = False

    def needed(self) -> dict[str, list[str]]:
        """Return the names of the files that the version shares, by their folder."""
        return {DATABASES: [stored.name for stored in self.stored.values()]}

    def fix(self) -> str:
        """Return the hint with the command that builds such an index again."""
        return rebuild(self.source, self.encoder, self.changed)

    def size(self) -> int:
        """Return the size of the version on the disk."""
        files = sum(size for size, _ in self.files.values())
        return files + sum(stored.size for stored in self.stored.values())

    def verify(self, index: Path, version: Path) -> None:
        """Read everything and compare it with its digests.

        Raises:
            IndexUnavailable: something is not what was built.
        """
        for name, (_, digest) in self.files.items():
            if digest_of(version / name) != digest:
                raise damaged(self.fix(), name)
        for kind, stored in self.stored.items():
            if stored.name and not _is_whole(index / DATABASES / stored.name, kind, stored):
                raise damaged(self.fix(), stored.name)

    def to_json(self) -> bytes:
        """Return what ``read_meta`` reads."""
        return json.dumps({"format": FORMAT} | asdict(self), indent=1).encode("utf-8")

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Meta:
        """Return what ``to_json`` wrote, without its format.

        Raises:
            TypeError, ValueError, LookupError, AttributeError: it is damaged.
        """
        stored = {
            kind: Stored(one["name"], tuple((n, d) for n, d in one["parts"]), one["size"])
            for kind, one in content["stored"].items()
        }
        files = {name: (size, digest) for name, (size, digest) in content["files"].items()}
        return cls(**content | {"stored": stored, "files": files})


def _is_whole(path: Path, kind: str, stored: Stored) -> bool:
    try:
        with closing(connected(path)) as connection:
            # What documents are found by, which the digests say nothing about.
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return False
        first = 0
        for count, digest in stored.parts:
            if DIGESTS[kind](path, first, first + count) != digest:
                return False
            first += count
    except (OSError, sqlite3.Error, ValueError):
        return False
    return True


def rebuild(source: str = "vital", encoder: str | None = None, changed: bool = False) -> str:
    """Return the hint that ends with the command which builds an index.

    ``encoder`` and ``changed`` are those of the ``Meta`` of the index that is to be built again;
    an encoder that is not known is taken for the default one.
    """
    choice = DEFAULT_ENCODER if encoder is None else choice_of(encoder)
    vectors = "" if choice == DEFAULT_ENCODER else f" --vectors {choice}"
    command = esoteric_command(f"index build --source {shlex.quote(source)}{vectors}")
    then = ", and then add and remove again what was added and removed since" if changed else ""
    return f"Run{then}: {command}"


def damaged(fix: str, what: str = "") -> IndexUnavailable:
    """Return the error of a damaged index, with the hint ``fix``; ``what`` names a file."""
    where = f": {Path(what).name} is not whole" if what else ""
    return IndexUnavailable("index_damaged", f"The index is damaged{where}.", fix)


def not_opened(error: Exception, version: Path, fix: str) -> IndexUnavailable:
    """Return the error of a version that could not be opened."""
    number = error.errno if isinstance(error, OSError) else None
    if number in {errno.EMFILE, errno.ENFILE}:
        return IndexUnavailable(
            "index_many_files",
            "The index needs more files open than the system allows.",
            "Allow more open files (ulimit -n).",
        )
    if number in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return IndexUnavailable(
            "index_forbidden",
            f"The index in {version} cannot be opened ({os.strerror(number)}).",
            "Let this user read and write there: what reads an index locks it for a moment.",
        )
    return damaged(fix)


def other_encoder(has: str, wanted: str) -> IndexUnavailable:
    """Return the error of an index that has vectors of another encoder."""
    choice = choice_of(wanted)
    vectors = f" --vectors {choice}" if choice in (DPR_ENCODER, OWN_ENCODER) else ""
    named = f"vectors of {_called(has) or 'no encoder'}, not of {_called(wanted) or 'none'}"
    instead = "Use --recipe report, or run" if choice_of(has) == DPR_ENCODER else "Run"
    return IndexUnavailable(
        "index_encoder",
        f"The index has {named}.",
        f"{instead}: {esoteric_command(f'index encode{vectors}')}",
    )


def _called(encoder: str) -> str:
    """Return how a message calls an encoder, by its name in an index."""
    if choice_of(encoder) == OWN_ENCODER:
        return f"{encoder.removeprefix(f'{OWN_ENCODER} ')} (ESOTERIC_ENCODER)"
    return encoder


def no_vectors() -> IndexUnavailable:
    """Return the error of an index without vectors."""
    return IndexUnavailable(
        "index_vectors", "The index has no vectors.", f"Run: {esoteric_command('index encode')}"
    )


def read_meta(index: Path, version: Path) -> Meta:
    """Return ``meta.json`` of a version of an index whose files are all there and whole.

    Raises:
        IndexUnavailable: it is missing, damaged, or of another format.
    """
    try:
        content: Any = json.loads((version / META).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexUnavailable("index_missing", "There is no index yet.", rebuild()) from error
    except (OSError, ValueError) as error:
        raise not_opened(error, version, rebuild()) from error
    content = content if isinstance(content, dict) else {}
    encoder = content.get("encoder")
    fix = rebuild(
        str(content.get("source", "vital")),
        encoder if isinstance(encoder, str) else None,
        bool(content.get("changed")),
    )
    if content.pop("format", None) != FORMAT:
        raise IndexUnavailable(
            "index_format", "The index was built by another version of ESOTERIC.", fix
        )
    try:
        meta = Meta.from_json(content)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise damaged(fix) from error
    for name, (size, _) in meta.files.items():
        if _size_of(version / name) != size:
            raise damaged(fix, name)
    for stored in meta.stored.values():
        # It may have grown since.
        if stored.name and _size_of(index / DATABASES / stored.name) < stored.size:
            raise damaged(fix, stored.name)
    return meta


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1
