"""The documents in a backup: each corpus with its files and, where it is whole, its index."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import BaseModel, field_validator

from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.layout import make_current, parts_of
from retrieval.system.files import make_private_file, make_private_folder
from worker import sqlite
from worker.corpora.corpus_folders import CORPUS, DIGESTS, FILES, INDEX, INDEXING, NAME
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import UnknownCorpus

_FOLDER = "documents"  # in the zip
_BLOCK = 1 << 20


class PackedFile(BaseModel, frozen=True):
    """A file of a corpus, by its path there; ``modified``: seconds since 1970."""

    path: str
    size: int
    sha256: str
    modified: float

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, path: str) -> str:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\0" in path:
            raise ValueError("the path leads out of its corpus")
        return path


class PackedCorpus(BaseModel, frozen=True):
    """A corpus in a backup.

    ``folder``: see ``Corpus``; the files of such a corpus are not packed. ``version``: of its index
    (``Parts``), ``None`` where the index is not packed, because it was not whole at that time.
    """

    name: str
    title: str
    folder: str | None
    version: str | None
    files: tuple[PackedFile, ...]

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("no name of a corpus")
        return name

    @property
    def documents(self) -> int:
        """How many files somebody uploaded."""
        return sum(PurePosixPath(file.path).parts[0] == FILES for file in self.files)


def pack_documents(
    store: CorpusStore, pack: zipfile.ZipFile, scratch: Path
) -> tuple[PackedCorpus, ...]:
    """Write all corpora into a zip; while one is written, changes to its files wait.

    An index goes in if it is of the files as they are. ``scratch`` is a folder for copies of
    databases.

    Raises:
        OSError, sqlite3.Error: a file cannot be read or written.
    """
    packed = []
    for name in store.names():
        try:
            packed.append(_pack_corpus(store, name, pack, scratch))
        except UnknownCorpus:  # it was removed meanwhile
            continue
    return tuple(packed)


def _pack_corpus(
    store: CorpusStore, name: str, pack: zipfile.ZipFile, scratch: Path
) -> PackedCorpus:
    with store.holding(name) as corpus:
        place = store.place(name)
        paths = [CORPUS, *_below(place, FILES)]
        if (place / DIGESTS).exists():
            paths.append(DIGESTS)
        databases: tuple[str, ...] = ()
        version = None
        # Held, a corpus is neither indexed nor changed by another process.
        if store.get(name).state == "ready":
            try:
                parts = parts_of(place / INDEX)
            except IndexUnavailable:
                pass  # damaged: it is built again
            else:
                version = parts.version
                paths += [INDEXING, *(f"{INDEX}/{path}" for path in parts.files)]
                databases = tuple(f"{INDEX}/{path}" for path in parts.databases)
        inside = f"{_FOLDER}/{name}"
        files = [_pack_file(pack, place / path, inside, path) for path in paths]
        for path in databases:
            copy = scratch / "database"
            sqlite.copy(place / path, copy)
            files.append(_pack_file(pack, copy, inside, path))
            copy.unlink()
    return PackedCorpus(
        name=name, title=corpus.title, folder=corpus.folder, version=version, files=tuple(files)
    )


def _below(place: Path, folder: str) -> Iterator[str]:
    for path in sorted((place / folder).rglob("*")):
        if path.is_file():
            yield path.relative_to(place).as_posix()


def _pack_file(pack: zipfile.ZipFile, file: Path, inside: str, path: str) -> PackedFile:
    member = zipfile.ZipInfo.from_file(file, f"{inside}/{path}", strict_timestamps=False)
    member.compress_type = zipfile.ZIP_DEFLATED
    with file.open("rb") as content, pack.open(member, "w") as packed:
        size, digest = _copied(content, packed)
    return PackedFile(path=path, size=size, sha256=digest, modified=file.stat().st_mtime)


def unpack_documents(
    pack: zipfile.ZipFile, corpora: tuple[PackedCorpus, ...], into: Path
) -> list[str]:
    """Write the corpora of a backup into a folder; return the titles of those to be indexed again.

    An index of a format that is not read any more is left out.

    Raises:
        ValueError: a file has other bytes than were packed.
        OSError: a file cannot be written.
    """
    without = []
    for corpus in corpora:
        place = into / corpus.name
        for file in corpus.files:
            _unpack_file(pack, f"{_FOLDER}/{corpus.name}/{file.path}", file, place)
        if not _has_index(corpus, place):
            shutil.rmtree(place / INDEX, ignore_errors=True)
            (place / INDEXING).unlink(missing_ok=True)
            if corpus.documents or corpus.folder is not None:
                without.append(corpus.title)
    return without


def _has_index(corpus: PackedCorpus, place: Path) -> bool:
    if corpus.version is None:
        return False
    try:
        make_current(place / INDEX, corpus.version)
    except IndexUnavailable:
        return False
    return True


def _unpack_file(pack: zipfile.ZipFile, member: str, file: PackedFile, place: Path) -> None:
    target = place / file.path
    make_private_folder(target.parent)
    make_private_file(target)
    with pack.open(member) as packed, target.open("wb") as content:
        found = _copied(packed, content)
    if found != (file.size, file.sha256):
        raise ValueError(f"{member} has other bytes than were packed")
    os.utime(target, (file.modified, file.modified))


def _copied(source: IO[bytes], target: IO[bytes]) -> tuple[int, str]:
    """Copy a stream, and return how many bytes it had and their SHA-256."""
    size, digest = 0, hashlib.sha256()
    while block := source.read(_BLOCK):
        size += len(block)
        digest.update(block)
        target.write(block)
    return size, digest.hexdigest()
