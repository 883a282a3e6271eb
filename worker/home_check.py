"""Whether what a home keeps is as it was written: database, documents, indexes, room on the disk.

``esoteric verify`` prints it. The service reads everything once a day, in a process of low
priority, and keeps the outcome in ``verified.json`` of the home, for ``/readyz`` and ``/metrics``.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from json import dumps
from pathlib import Path
from threading import Event

from pydantic import BaseModel, ConfigDict, ValidationError

from retrieval.errors import EsotericError, IndexUnavailable, Problem
from retrieval.index.open import IndexLocation, open_index
from retrieval.system.files import write_whole
from retrieval.system.processes import end_this_process_when_closed
from retrieval.words import counted
from settings import Settings
from worker.corpora.corpus_folders import exclusively
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady, UnknownCorpus
from worker.database import Database
from worker.threads import Regular

_KEPT = "verified.json"
LOOK_SECONDS = 60.0
# After a start the service has other work; processes that started together do not check together.
FIRST_SECONDS = (300.0, 3600.0)
AGAIN_SECONDS = 24 * 3600.0
_POLL_SECONDS = 0.5
_NICENESS = 19
# The upkeep empties the log each 20 seconds; a longer one is kept by something that hangs.
_LONGEST_LOG = 100_000_000
# As of the alert EsotericDiskNearlyFull.
_LEAST_FREE = 1_000_000_000
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from worker.home_check import main; main()"
)

logger = logging.getLogger(__name__)


class Part(BaseModel):
    """A part of a home: what was found, or with ``problem`` what is wrong with it.

    ``kind``: database, log, disk, index or documents. ``version``: of the index in use.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    subject: str
    found: str = ""
    problem: Problem | None = None
    version: str = ""


class Outcome(BaseModel):
    """All parts of a home, and when they were read, in seconds since 1970."""

    at: float
    parts: tuple[Part, ...]


def check_home(settings: Settings, everything: bool) -> Iterator[Part]:
    """Yield the parts of a home one by one, as they are read.

    ``everything``: read all bytes of files and indexes, and compare them with their digests;
    otherwise it is looked whether they are there and open. It writes nothing but digests of files
    that were uploaded before such were kept.
    """
    database = Database(settings.database_url)
    try:
        yield _part("database", "database", lambda: _database(database))
        yield _part("log", "write-ahead log", lambda: _log(database))
    finally:
        database.close()
    yield _part("disk", "free disk", lambda: _disk(settings.home))
    index = _part("index", "index", lambda: _index(settings, settings.store, everything))
    yield index.model_copy(update={"version": version_in_use(settings)})
    store = CorpusStore(settings.documents, settings.folders)
    for name in store.names():
        try:
            corpus = store.corpus(name)
            if corpus.folder is None:
                files = partial(_files, store, name, everything)
                yield _part("documents", f"files of “{corpus.title}”", files)
            _, place = store.searchable(name)
            index_of = partial(_index, settings, place, everything)
            yield _part("documents", f"index of “{corpus.title}”", index_of)
        except (UnknownCorpus, CorpusNotReady):
            continue  # removed meanwhile, or not indexed yet


def _part(kind: str, subject: str, check: Callable[[], str]) -> Part:
    try:
        return Part(kind=kind, subject=subject, found=check())
    except UnknownCorpus:
        raise
    except EsotericError as error:
        return Part(kind=kind, subject=subject, problem=error.problem)
    except Exception as error:  # damaged files fail in many ways
        said = str(error) or type(error).__name__
        problem = Problem(
            "not_readable",
            f"It cannot be read: {said.rstrip('.')}.",
            "Check its disk and who may read it; `esoteric restore` brings a backup back.",
        )
        return Part(kind=kind, subject=subject, problem=problem)


def _database(database: Database) -> str:
    database.check()
    if database.folder is None:
        database.reach()
        return "on a server, which checks its own files"
    size = database.size_bytes()
    return "none yet" if size is None else f"whole, {_megabytes(size)}"


def _log(database: Database) -> str:
    size = database.log_bytes()
    if size > _LONGEST_LOG:
        raise EsotericError(
            "log_long",
            f"It has {_megabytes(size)}, so something keeps it from being emptied.",
            "Restart the service, and end other programs that have the database open.",
        )
    return _megabytes(size)


def _disk(home: Path) -> str:
    while not home.exists():
        home = home.parent
    usage = shutil.disk_usage(home)
    if usage.free < _LEAST_FREE:
        raise EsotericError(
            "disk_nearly_full",
            f"{_megabytes(usage.free)} of {_megabytes(usage.total)} are left.",
            "Free some space, or set ESOTERIC_KEEP_DAYS.",
        )
    return f"{_megabytes(usage.free)} left"


def _index(settings: Settings, location: IndexLocation, everything: bool) -> str:
    index = open_index(location, settings.snapshots)
    while True:
        version = index.version()
        try:
            info = index.open(None).info()
            if not everything:
                found = ""
            elif isinstance(location, Path):
                index.verify()
                found = ", as it was built"
            else:
                index.diagnose()  # its server checks its own files
                found = ", healthy"
        except IndexUnavailable:
            if index.version() == version:
                raise
            continue  # it was replaced meanwhile
        return f"{counted(info.documents, 'document')}, {_megabytes(info.bytes)}{found}"


def _files(store: CorpusStore, name: str, everything: bool) -> str:
    checked, wrong = store.check_files(name, everything)
    if wrong:
        named = ", ".join(f"“{file}”" for file in wrong[:5]) + (" …" if len(wrong) > 5 else "")
        raise EsotericError(
            "documents_damaged",
            f"{len(wrong)} of {counted(checked, 'file')} are missing or have other bytes than were"
            f" uploaded: {named}.",
            "Upload them again, or bring a backup back with esoteric restore FILE --replace.",
        )
    return counted(checked, "file")


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


def version_in_use(settings: Settings) -> str:
    """Return the name of the version of the embedded default index, "" if there is none."""
    if not isinstance(settings.store, Path):
        return ""
    current = settings.store / "current"
    return current.readlink().name if current.is_symlink() else ""


def keep_outcome(settings: Settings, parts: tuple[Part, ...]) -> None:
    """Keep what was found for the web process; where the home cannot be written, it is left out."""
    outcome = Outcome(at=time.time(), parts=parts)
    try:
        write_whole(settings.home / _KEPT, outcome.model_dump_json().encode())
    except OSError as error:
        logger.error("The outcome of the check of the home could not be kept: %s", error)


def last_outcome(settings: Settings) -> Outcome | None:
    """Return what the last check of everything has found; ``None``: there was none."""
    try:
        return Outcome.model_validate_json((settings.home / _KEPT).read_bytes())
    except (OSError, ValidationError):
        return None


def damage_in_use(settings: Settings) -> Problem | None:
    """Return what is wrong with the default index, unless it was replaced since that was found."""
    outcome = last_outcome(settings)
    for part in outcome.parts if outcome is not None else ():
        if part.kind == "index" and part.version and part.version == version_in_use(settings):
            return part.problem
    return None


class HomeCheck(Regular):
    """Lets the home be checked once a day; every worker has one, and one of them does it."""

    def __init__(self, settings: Settings, stop: Event) -> None:
        super().__init__("daily check of the home", stop, lambda _: LOOK_SECONDS)
        self._settings = settings
        self._due = time.monotonic() + random.uniform(*FIRST_SECONDS)

    def look(self) -> None:
        """Check the home, if it is time to."""
        if time.monotonic() < self._due or not self._is_old():
            return
        self._due = time.monotonic() + FIRST_SECONDS[1]  # also if it fails
        with exclusively(self._settings.home / ".verifying") as mine:
            if mine and self._is_old():
                self._check()

    def _is_old(self) -> bool:
        outcome = last_outcome(self._settings)
        return outcome is None or not 0 <= time.time() - outcome.at < AGAIN_SECONDS

    def _check(self) -> None:
        began = time.monotonic()
        # Not ``-m``, so that the process finds the same modules as this one; the end of its input
        # tells it that this one has ended.
        arguments = [sys.executable, "-c", _PROGRAM, dumps(sys.path)]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, start_new_session=True) as process:
            while process.poll() is None:
                if self._halt.wait(_POLL_SECONDS):
                    process.kill()
                    return
        outcome = last_outcome(self._settings)
        if process.returncode or outcome is None:
            logger.error("The check of the home ended with status %d", process.returncode)
            return
        for part in outcome.parts:
            if part.problem is not None:
                problem = part.problem
                logger.critical("%s: %s %s", part.subject, problem.message, problem.hint)
        seconds = time.monotonic() - began
        logger.info("The home was checked: %d parts in %.0f s", len(outcome.parts), seconds)


def main() -> None:
    """Check the home of the environment and keep what was found; a process of its own."""
    end_this_process_when_closed(sys.stdin.fileno())
    os.nice(_NICENESS)
    settings = Settings.from_environment()
    keep_outcome(settings, tuple(check_home(settings, everything=True)))
