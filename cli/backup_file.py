"""The file of ``esoteric backup``: a zip with the database of claims, the documents, a manifest."""

from __future__ import annotations

import errno
import json
import lzma
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from pydantic import BaseModel

from cli.backup_documents import PackedCorpus, pack_documents, unpack_documents
from retrieval.errors import EsotericError
from retrieval.system.files import flush, make_private_file
from retrieval.words import counted
from worker import sqlite
from worker.corpora.corpus_store import CorpusStore
from worker.database import read_url

FORMAT = 2  # 1 had no documents
_DATABASE, _MANIFEST = "esoteric.db", "manifest.json"
# What is raised for a file that is no backup, or has other bytes than were written.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, sqlite3.Error),
    *(EOFError, LookupError, TypeError, ValueError, RuntimeError),
)


class BackupFailed(EsotericError):
    """A backup cannot be made, read or restored."""


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
                    corpora=pack_documents(documents, pack, Path(folder)),
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
            copyfileobj(packed, stream)
        _described(database)
        return unpack_documents(pack, manifest.corpora, documents)


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
