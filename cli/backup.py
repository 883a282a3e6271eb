"""``esoteric backup``: the claims with their results, and the documents, in one file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import click

from cli.backup_file import BackupFailed, contents, database_file, read_manifest, write_backup
from cli.errors import reports_errors, say
from retrieval.errors import IndexUnavailable
from retrieval.index.errors import rebuild
from retrieval.index.open import description_of
from settings import Settings
from worker import sqlite
from worker.corpora.corpus_store import CorpusStore


@click.command("backup", epilog="Example: esoteric backup claims-monday.zip")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@reports_errors
def command(file: Path) -> None:
    """Write all claims and all uploaded documents into FILE, also while the service runs.

    An earlier backup in FILE is replaced. The index of the default corpus and the unpacked models
    are left out: they can be made again, and the command says how. esoteric restore brings FILE
    back.
    """
    settings = Settings.from_environment()
    database = database_file(settings.database_url, "pg_dump")
    if not database.exists():
        raise BackupFailed(
            "nothing_there",
            f"There is no database {database}, so there is nothing to back up.",
            "Set ESOTERIC_HOME to the folder that the service uses.",
        )
    _check_target(file)
    try:
        documents = CorpusStore(settings.documents, settings.folders)
        manifest = write_backup(database, documents, _index_of(settings), file)
    except sqlite3.Error as error:
        if sqlite.is_damaged(error):
            raise BackupFailed(
                "database_damaged",
                f"The database {database} is damaged and was not backed up: {error}.",
                "Stop the service and bring the last backup back, which stays as it is:"
                " esoteric restore FILE --replace.",
            ) from error
        raise BackupFailed(
            "backup_failed",
            f"The database {database} was not backed up: {error}.",
            "Check with esoteric doctor that it works, and the space on the disk of FILE.",
        ) from error
    say(f"{contents(manifest)} in {file}, {file.stat().st_size / 1e6:.1f} MB.", on_output=True)
    for corpus in manifest.corpora:
        if corpus.documents and corpus.version is None:
            line = f"“{corpus.title}” is not indexed yet; this is done after a restore."
            say(line, on_output=True)
        if corpus.folder is not None:
            line = f"“{corpus.title}” is of the folder {corpus.folder}, whose files are not in it."
            say(line, on_output=True)
    line = "The default index and the unpacked models are not in it; it can be built again."
    if manifest.index is not None:
        line += f" {rebuild(*manifest.index)}"
    say(line, on_output=True)


def _check_target(file: Path) -> None:
    """Check that no file is lost other than an earlier backup."""
    if not file.exists():
        return
    try:
        read_manifest(file)
    except BackupFailed as error:
        raise BackupFailed(
            "file_exists",
            f"{file} exists and is not a backup that can be read.",
            "Name another file, or remove it.",
        ) from error


def _index_of(settings: Settings) -> tuple[str, str, bool] | None:
    if not isinstance(settings.store, Path):
        return None
    try:
        found = description_of(settings.store)
    except IndexUnavailable:
        return None
    return found.source, found.encoder, found.changed
