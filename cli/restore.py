"""``esoteric restore``: the claims and the documents of a backup into a home."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from cli.backup_file import (
    BackupFailed,
    contents,
    corpora,
    count_claims,
    database_file,
    newer,
    read_manifest,
    unpack,
)
from cli.errors import reports_errors, say
from cli.home_lock import without_service
from retrieval.errors import IndexUnavailable
from retrieval.index.errors import rebuild
from retrieval.index.open import description_of
from retrieval.system.files import make_private_folder
from retrieval.words import counted
from settings import Settings
from worker import sqlite
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database, StoreUnavailable
from worker.run_store import RunStore
from worker.user_store import UserStore
from worker.worker_store import WorkerStore

_BESIDE = ("-wal", "-shm")  # SQLite's other files of a database


@click.command("restore", epilog="Example: esoteric restore claims-monday.zip")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--replace",
    is_flag=True,
    help="Replace claims and documents; the earlier ones are kept under another name.",
)
@reports_errors
def command(file: Path, replace: bool) -> None:
    """Bring the claims and documents of a backup into ESOTERIC_HOME, while no service runs there.

    A backup of an earlier version is brought to this one, if its tables are still read. Claims
    that waited or were being checked wait again, and are checked when the service starts.
    """
    settings = Settings.from_environment()
    database = database_file(settings.database_url, "pg_restore")
    manifest = read_manifest(file)
    with without_service(settings.home):
        has_claims = _claims_in(database)
        has_documents = _documents_in(settings) if manifest.corpora else ""
        occupied = " and ".join(one for one in (has_claims, has_documents) if one)
        if occupied and not replace:
            raise BackupFailed(
                "not_empty",
                f"{occupied}, so nothing was restored.",
                "Set ESOTERIC_HOME to another folder, or use --replace, which keeps what is there"
                " under another name.",
            )
        _check_unused(database)
        make_private_folder(database.parent)
        with (
            TemporaryDirectory(prefix=".restore.", dir=database.parent) as place,
            TemporaryDirectory(prefix=".restore.", dir=settings.home) as documents,
        ):
            restored = Path(place) / database.name
            to_index = unpack(file, manifest, restored, Path(documents))
            users = _make_ready(restored, file)
            kept = []
            if has_documents:
                kept.append(_set_aside(settings.documents))
            for corpus in manifest.corpora:
                make_private_folder(settings.documents)
                (Path(documents) / corpus.name).rename(settings.documents / corpus.name)
            if has_claims:
                kept.append(_set_aside(database))
            restored.replace(database)
    moment = f"{manifest.made_at:%Y-%m-%d %H:%M} UTC"
    say(f"{contents(manifest)} of {moment} in {settings.home}.", on_output=True)
    if users:
        say(f"Users who can log in: {', '.join(users)}. Remove those who left.", on_output=True)
    for path in kept:
        say(f"What was there is now {path}.", on_output=True)
    for title in to_index:
        say(f"“{title}” is indexed again when the service starts.", on_output=True)
    for corpus in manifest.corpora:
        if corpus.folder is not None and corpus.folder not in settings.folders:
            line = f"“{corpus.title}” needs a folder {corpus.folder} in ESOTERIC_FOLDERS."
            say(line, on_output=True)
    if manifest.index is not None and _lacks_index(settings):
        say(f"The default index is not restored. {rebuild(*manifest.index)}", on_output=True)


def _claims_in(database: Path) -> str:
    """Return what there is to lose in a database, "" if nothing."""
    if not database.exists():
        return ""
    try:
        claims = count_claims(database)
    except sqlite3.Error as error:
        return f"{database} cannot be read ({error})"
    return f"{database} has {counted(claims, 'claim')}" if claims else ""


def _documents_in(settings: Settings) -> str:
    number = len(CorpusStore(settings.documents, settings.folders).names())
    return f"{settings.documents} has {corpora(number)}" if number else ""


def _check_unused(database: Path) -> None:
    """Check that no process has the database open, such as a worker without `esoteric up`."""
    try:
        if database.exists():
            sqlite.leave_wal(database)
    except sqlite3.Error as error:
        if sqlite.is_locked(error):
            raise BackupFailed(
                "database_in_use",
                f"Another program has {database} open, so nothing was restored.",
                "Stop the web server and the workers, and run the command again.",
            ) from error
        # It is damaged, and set aside as it is.


def _make_ready(restored: Path, file: Path) -> list[str]:
    """Bring a database to the tables of today, without its workers and logins; return its users."""
    database = Database(f"sqlite:///{restored}")
    try:
        runs = RunStore(database)
        for job in runs.running():
            runs.give_back(job.run)
        WorkerStore(database).forget_silent(timedelta(0))
        users = UserStore(database)
        users.log_out_all()
        names = [user.name for user in users.all()]
    except StoreUnavailable as error:
        if error.code == "store_older":
            raise BackupFailed(
                "backup_older",
                f"{file} was made by an older ESOTERIC, whose tables this one does not read.",
                "Restore it with the version that made it.",
            ) from error
        if error.code != "store_version":
            raise
        raise newer(file, "its database has tables that this one does not know") from error
    finally:
        database.close()
    sqlite.leave_wal(restored)
    return names


def _set_aside(path: Path) -> Path:
    """Give a database, or a folder, another name, and return it."""
    names = (path.with_name(f"{path.name}.{number}") for number in count(1))
    kept = next(name for name in names if not name.exists())
    for end in (*_BESIDE, ""):
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(kept.with_name(kept.name + end))
    return kept


def _lacks_index(settings: Settings) -> bool:
    if not isinstance(settings.store, Path):
        return False
    try:
        description_of(settings.store)
    except IndexUnavailable:
        return True
    return False
