"""The file of ``esoteric backup``: a zip with the database of claims, the documents, a manifest."""

from __future__ import annotations

import errno
import hashlib
import json
import lzma
import os
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from pydantic import BaseModel, field_validator

from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.embedded.layout import make_current, parts_of
from retrieval.system.files import flush, make_private_file, make_private_folder
from retrieval.words import counted
from worker import sqlite
from worker.corpora.corpus_folders import CORPUS, DIGESTS, FILES, INDEX, INDEXING, NAME
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import UnknownCorpus
from worker.database import read_url

FORMAT = 2  # 1 had no documents
_DATABASE, _MANIFEST, _DOCUMENTS = "esoteric.db", "manifest.json", "documents"
_BLOCK = 1 << 20
# What is raised for a file that is no backup, or has other bytes than were written.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, sqlite3.Error),
    *(EOFError, LookupError, TypeError, ValueError, RuntimeError),
)


class BackupFailed(EsotericError):
    """A backup cannot be made, read or restored."""


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


class Manifest(BaseModel, frozen=True):
    """What is in a backup.

    ``program`` and ``revision``: the versions of ESOTERIC and of the tables (``None``: older than
    Alembic). ``index``: source, encoder and ``changed`` of the index at that time, if it was in a
    folder; ``retrieval.index.errors.rebuild`` makes its command of them. ``corpora``: uploaded
    documents, and folders that may be searched.
    """

    format: int
    program: str
    revision: str | None
    made_at: datetime
    claims: int
    index: tuple[str, str, bool] | None
    corpora: tuple[PackedCorpus, ...] = ()


def database_file(database_url: str, tool: str) -> Path:
    """Return the file of the database; ``tool`` is the one of PostgreSQL that does the same.

    Raises:
        BackupFailed: it is on a server, or in memory.
        StoreUnavailable: this is no address of a database.
    """
    file = sqlite.file_of(read_url(database_url))
    if file is None:
        raise BackupFailed(
            "database_elsewhere",
            "ESOTERIC_DATABASE_URL names a database that is no file of SQLite.",
            f"Use that database's own tool, for PostgreSQL {tool}.",
        )
    return file


def write_backup(
    database: Path, documents: CorpusStore, index: tuple[str, str, bool] | None, file: Path
) -> Manifest:
    """Back up what others may change meanwhile, into a file that is whole or not there.

    Raises:
        sqlite3.Error: the database cannot be copied, or is damaged.
        OSError: the file cannot be written.
    """
    with TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
        copy, packed = Path(folder) / _DATABASE, Path(folder) / "packed"
        made_at = datetime.now(UTC).replace(microsecond=0)
        # Claims first: the corpora that they name are still there when these are packed.
        sqlite.copy(database, copy)
        revision, claims = _described(copy)
        make_private_file(packed)
        with packed.open("wb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as pack:
                pack.write(copy, _DATABASE)
                copy.unlink()
                manifest = Manifest(
                    format=FORMAT,
                    program=_program(),
                    revision=revision,
                    made_at=made_at,
                    claims=claims,
                    index=index,
                    corpora=_pack_documents(documents, pack, Path(folder)),
                )
                pack.writestr(_MANIFEST, manifest.model_dump_json(indent=1))
            flush(stream)
        packed.replace(file)
    return manifest


def read_manifest(file: Path) -> Manifest:
    """Return what is in a backup.

    Raises:
        BackupFailed: it is none, it is damaged, or its format is newer than this program.
        OSError: the file cannot be read.
    """
    with _reading(file) as pack:
        content = json.loads(pack.read(_MANIFEST))
        written_in = int(content["format"])
        if written_in > FORMAT:
            raise newer(file, f"format {written_in}; this one reads format {FORMAT}")
        return Manifest.model_validate(content)


def unpack(file: Path, manifest: Manifest, database: Path, documents: Path) -> list[str]:
    """Write what is in a backup into a new private file and a folder.

    Returns the titles of the corpora that are to be indexed again.

    Raises:
        BackupFailed: the backup is damaged.
        OSError: a file cannot be read or written.
    """
    make_private_file(database)
    with _reading(file) as pack:
        with pack.open(_DATABASE) as packed, database.open("wb") as stream:
            shutil.copyfileobj(packed, stream)
        _described(database)
        return _unpack_documents(pack, manifest.corpora, documents)


@contextmanager
def _reading(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as pack:
            yield pack
    except (*_DAMAGED, OSError) as error:
        # In a damaged file, zipfile may look for a place before its beginning.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise BackupFailed(
            "no_backup",
            f"{file} is no backup of ESOTERIC, or it is damaged.",
            "Name a whole file that esoteric backup wrote.",
        ) from error


def contents(manifest: Manifest) -> str:
    """Return what is in a backup, in words."""
    said = counted(manifest.claims, "claim")
    if manifest.corpora:
        files = sum(corpus.documents for corpus in manifest.corpora)
        said += f" and {corpora(len(manifest.corpora))} of {counted(files, 'document')}"
    return said


def corpora(number: int) -> str:
    """Return a number of corpora, in words."""
    return "1 corpus" if number == 1 else f"{number} corpora"


def newer(file: Path, what: str) -> BackupFailed:
    """Return the error of a backup that this program is too old for."""
    return BackupFailed(
        "backup_newer",
        f"{file} was made by a newer ESOTERIC: {what}.",
        "Restore it with that version or a newer one.",
    )


def count_claims(database: Path) -> int:
    """Return the number of claims in a database of any version.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    with closing(sqlite3.connect(database)) as connection:
        (claims,) = connection.execute("SELECT count(*) FROM claims").fetchone()
        return int(claims)


def _described(database: Path) -> tuple[str | None, int]:
    """Return the revision and the number of claims of a database that is whole.

    Raises:
        sqlite3.Error: it is damaged, or no database of claims.
    """
    with closing(sqlite3.connect(database)) as connection:
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise sqlite.damage(found)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        revision = None
        if "alembic_version" in tables:
            (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return revision, count_claims(database)


def _program() -> str:
    try:
        return version("esoteric")
    except PackageNotFoundError:
        return "unknown"


# The documents: each corpus with its files and, where it is whole, its index.


def _pack_documents(
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
        inside = f"{_DOCUMENTS}/{name}"
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


def _unpack_documents(
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
            _unpack_file(pack, f"{_DOCUMENTS}/{corpus.name}/{file.path}", file, place)
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
