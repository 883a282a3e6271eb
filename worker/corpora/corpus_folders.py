"""The folders of the corpora beside the default one: where things are, and who may change them.

corpus.json    what the corpus is (``Corpus``)
indexing.json  how far its indexing is (``Indexing``)
files/         what was uploaded
digests.json   of these files (``Digests``)
index/         its index
lock           held while one of these changes
indexed        held while it is indexed
"""

from __future__ import annotations

import errno
import fcntl
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from retrieval.errors import Problem
from retrieval.system.files import make_private_folder, write_whole
from worker.corpora.errors import CorpusNotReady, CorpusNotWritten, CorpusRefused, UnknownCorpus
from worker.jobs import Shared

Record = TypeVar("Record", bound=BaseModel)
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

# In the folder of a corpus.
CORPUS, INDEXING, FILES, INDEX = "corpus.json", "indexing.json", "files", "index"
DIGESTS = "digests.json"
_LOCK = "lock"
# In the folder of all corpora.
_MARK = ".mark"


Step: TypeAlias = Literal["reading", "encoding", "done", "failed"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Corpus(_Record):
    """What a corpus is.

    ``folder``: the name of a folder of ESOTERIC_FOLDERS, ``None`` where files are uploaded.
    ``wanted``: a mark that changes with the files; ``wanted_at``: when it last did, ``None`` in
    records of older versions. ``left_out``: what is said of files of the last upload that were not
    taken. ``owner``: who made it; ``shared``: with whom (worker/sharing.py), ``None``: everybody,
    where nobody logs in and in records of older versions.
    """

    title: str
    made_at: datetime
    folder: str | None
    wanted: str
    wanted_at: datetime | None = None
    left_out: tuple[str, ...] = ()
    owner: str | None = None
    shared: Shared | None = None


class FileReport(_Record):
    """What the indexing found in a file: how many passages, and what could not be read."""

    passages: int = 0
    problems: tuple[str, ...] = ()


class Digests(_Record):
    """The SHA-256 of the files of a corpus, by their names; those of before may have none."""

    files: dict[str, str] = {}


class Indexing(_Record):
    """How far the indexing of the files with the mark ``of`` is.

    ``done`` of ``total`` files are read, or passages encoded. ``files``: those that were read, by
    their names. ``deaths``: how often its process ended unexpectedly. ``problem``: why it failed.
    """

    of: str
    step: Step = "reading"
    done: int = 0
    total: int = 0
    files: dict[str, FileReport] = {}
    deaths: int = 0
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a corpus; ``bytes`` and ``report`` are ``None`` where they are not known yet."""

    name: str
    bytes: int | None
    report: FileReport | None


class CorpusFolders:
    """Reads what is in the folders; every method that writes may raise ``CorpusNotWritten``.

    What takes the name of a corpus raises ``UnknownCorpus`` if there is none, or it was removed.
    """

    def __init__(self, root: Path, folders: Mapping[str, Path]) -> None:
        """``folders``: those that may become corpora, by their names."""
        self.root = root
        self.folders = folders

    def names(self) -> list[str]:
        """Return the names of all corpora."""
        if not self.root.is_dir():
            return []
        return sorted(one.parent.name for one in self.root.glob(f"[!.]*/{CORPUS}"))

    def corpus(self, name: str) -> Corpus:
        """Return what a corpus is."""
        found = read(self.place(name) / CORPUS, Corpus) if NAME.fullmatch(name) else None
        if found is None:
            raise UnknownCorpus(name)
        return found

    def indexing(self, name: str) -> Indexing | None:
        """Return how far the last indexing of a corpus is; ``None``: there was none."""
        return read(self.place(name) / INDEXING, Indexing)

    def place(self, name: str) -> Path:
        """Return the folder of a corpus, which may not exist."""
        return self.root / name

    def index(self, name: str) -> Path:
        """Return the folder of the index of a corpus, which may not exist."""
        return self.place(name) / INDEX

    def files(self, name: str) -> Path:
        """Return the folder with the files of a corpus.

        Raises:
            CorpusRefused: it is of a folder that is not allowed any more.
        """
        folder = self.corpus(name).folder
        if folder is None:
            return self.place(name) / FILES
        if folder not in self.folders:
            raise CorpusRefused(
                "folder_not_allowed",
                f"The folder “{folder}” is not among those that may be searched.",
                "Add it to ESOTERIC_FOLDERS and restart the service, or remove the corpus.",
            )
        return self.folders[folder]

    def searchable(self, name: str) -> tuple[str, Path]:
        """Return the title of a corpus and the folder of its index.

        Raises:
            CorpusNotReady: it has no index yet.
        """
        title, index = self.corpus(name).title, self.index(name)
        if not (index / "current").exists():
            raise CorpusNotReady(title)
        return title, index

    def mark(self) -> str:
        """Return the mark of the folder, "" if it has none: another folder has another one."""
        try:
            return (self.root / _MARK).read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""

    def make_mark(self) -> None:
        """Give the folder a mark, if it has none."""
        with self.writing():
            make_private_folder(self.root)
            with suppress(FileExistsError), (self.root / _MARK).open("x") as file:
                file.write(new_mark())

    def stored_files(
        self, name: str, corpus: Corpus, indexing: Indexing | None = None
    ) -> tuple[StoredFile, ...]:
        """Return the files of a corpus, by their names; of a folder, those that were indexed."""
        reports = indexing.files if indexing else {}
        if corpus.folder is not None:
            return tuple(StoredFile(file, None, reports[file]) for file in sorted(reports))
        inside = self.place(name) / FILES
        found = []
        for path in sorted(one for one in inside.rglob("*") if one.is_file()):
            file = path.relative_to(inside).as_posix()
            try:
                found.append(StoredFile(file, path.stat().st_size, reports.get(file)))
            except OSError:  # removed meanwhile
                continue
        return tuple(found)

    def to_index(self) -> list[str]:
        """Return the names of the corpora whose files are not indexed as now, in their order."""
        waiting = []
        for name in self.names():
            try:
                if self.waits(name):
                    corpus = self.corpus(name)
                    waiting.append((corpus.wanted_at or corpus.made_at, name))
            except UnknownCorpus:  # removed meanwhile
                continue
        return [name for _, name in sorted(waiting)]

    def waits(self, name: str) -> bool:
        """Return whether the files of a corpus are not indexed as they are now."""
        corpus, indexing = self.corpus(name), self.indexing(name)
        if indexing is None and corpus.folder is None and not self.stored_files(name, corpus):
            return False  # nothing was uploaded yet
        ended = indexing is not None and indexing.step in ("done", "failed")
        return indexing is None or indexing.of != corpus.wanted or not ended

    @contextmanager
    def holding(self, name: str) -> Iterator[Corpus]:
        """Yield what a corpus is while no other process can change it.

        Raises:
            OSError: its folder cannot be written.
        """
        self.corpus(name)
        try:
            lock = (self.place(name) / _LOCK).open("a")
        except FileNotFoundError as error:
            raise UnknownCorpus(name) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.corpus(name)  # it may have been removed while this waited

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Raise an error of the disk as ``CorpusNotWritten``."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise CorpusNotWritten(
                    "disk_full",
                    "The disk of this service is full; nothing was changed.",
                    "Free some space, or upload fewer files.",
                ) from error
            raise CorpusNotWritten(
                "documents_not_written",
                f"The documents cannot be stored in {self.root} ({error.strerror or error}).",
                "Make the folder writable for the service.",
            ) from error


def new_mark() -> str:
    """Return a random text that names one state of a folder."""
    return secrets.token_hex(8)


def write(path: Path, record: BaseModel) -> None:
    """Write a record as JSON; a reader finds the old one or the new one."""
    write_whole(path, record.model_dump_json().encode())


def read(path: Path, kind: type[Record]) -> Record | None:
    """Return the record in a file; ``None`` if there is none, or it cannot be read."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


@contextmanager
def exclusively(path: Path) -> Iterator[bool]:
    """Yield whether this process holds the lock of a file; no other does meanwhile."""
    try:
        lock = path.open("a")
    except FileNotFoundError:  # its folder was removed
        yield False
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
