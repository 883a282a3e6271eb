"""The corpora beside the default one, as pages and workers see them: list, make, change, remove."""

from __future__ import annotations

import errno
import fcntl
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from retrieval.errors import EsotericError, IndexUnavailable, Problem
from retrieval.index.open import description_of
from retrieval.normal_form import nfkd
from retrieval.system.files import write_whole
from retrieval.system.private_files import make_private_folder
from retrieval.types import DEFAULT_CORPUS
from worker.corpora.records import Corpus, FileReport, Indexing

Record = TypeVar("Record", bound=BaseModel)
State: TypeAlias = Literal["empty", "waiting", "indexing", "ready", "failed"]
LONGEST_TITLE = 80
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME = 40  # of its part that comes from the title
_LONGEST_PATH = 1000  # bytes of the name of a file with its folders; systems allow about 4,000
_MOST_DEATHS = 3
_LEFT_FOR = 24 * 3600  # seconds that remains of an upload may be there

# In the folder of a corpus.
CORPUS, INDEXING, FILES, INDEX = "corpus.json", "indexing.json", "files", "index"
_LOCK = "lock"
# In the folder of all corpora.
_MARK = ".mark"


class UnknownCorpus(EsotericError):
    """No corpus has this name, or it was removed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "unknown_corpus",
            f"There is no corpus named {name[:80]!r}; it may have been removed.",
            "Choose another one: the page /documents lists all.",
        )


class CorpusNotReady(EsotericError):
    """A corpus cannot be searched yet."""

    def __init__(self, title: str) -> None:
        super().__init__(
            "corpus_not_ready",
            f"“{title}” cannot be searched yet: none of its files is indexed.",
            "Wait until its page says that it is ready, or choose another corpus.",
        )


class CorpusRefused(EsotericError):
    """What was asked for cannot be done with a corpus; nothing was changed."""


class CorpusNotWritten(EsotericError):
    """The disk is full or cannot be written; nothing was changed."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a corpus; ``bytes`` and ``report`` are ``None`` where they are not known yet."""

    name: str
    bytes: int | None
    report: FileReport | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A corpus that can be searched; ``text_date``: the day of its newest text, "" if unknown."""

    name: str
    title: str
    documents: int
    text_date: str


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """A corpus with its files, in order of their names.

    ``indexing``: how far it is, ``None`` if it has not begun. ``documents``, ``built_at`` and
    ``text_date`` are those of its index; ``searchable``: whether there is one. It may be of the
    files before the last change.
    """

    name: str
    title: str
    made_at: datetime
    folder: str | None
    state: State
    files: tuple[StoredFile, ...]
    indexing: Indexing | None
    left_out: tuple[str, ...]
    searchable: bool
    documents: int
    built_at: str
    text_date: str

    @property
    def problem(self) -> Problem | None:
        """Why its indexing failed."""
        return self.indexing.problem if self.indexing and self.state == "failed" else None


class CorpusStore:
    """Every method that changes something may raise ``CorpusNotWritten``."""

    def __init__(self, root: Path, folders: Mapping[str, Path]) -> None:
        """``folders``: those that may become corpora, by their names."""
        self._root = root
        self._folders = folders

    # What there is

    def all(self) -> list[StoredCorpus]:
        """Return all corpora, in order of their titles."""
        found = []
        for name in self.names():
            try:
                found.append(self.get(name))
            except UnknownCorpus:  # removed meanwhile
                continue
        return sorted(found, key=lambda one: (one.title.casefold(), one.name))

    def choices(self) -> list[Choice]:
        """Return the corpora that can be searched, in order of their titles; reads no files."""
        found = []
        for name in self.names():
            try:
                title, index = self.searchable(name)
                described = description_of(index)
            except (UnknownCorpus, CorpusNotReady, IndexUnavailable):
                continue
            found.append(Choice(name, title, described.documents, described.date))
        return sorted(found, key=lambda one: (one.title.casefold(), one.name))

    def names(self) -> list[str]:
        """Return the names of all corpora."""
        if not self._root.is_dir():
            return []
        return sorted(one.parent.name for one in self._root.glob(f"[!.]*/{CORPUS}"))

    def get(self, name: str) -> StoredCorpus:
        """Return a corpus.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        corpus = self.corpus(name)
        indexing = self.indexing(name)
        of_now = indexing if indexing and indexing.of == corpus.wanted else None
        files = self._stored_files(name, corpus, indexing)
        try:
            index = description_of(self.index(name))
        except IndexUnavailable:
            index = None
        return StoredCorpus(
            name=name,
            title=corpus.title,
            made_at=corpus.made_at,
            folder=corpus.folder,
            state=_state(of_now, bool(files) or corpus.folder is not None),
            files=files,
            indexing=of_now,
            left_out=corpus.left_out,
            searchable=index is not None,
            documents=index.documents if index else 0,
            built_at=index.built_at if index else "",
            text_date=index.date if index else "",
        )

    def corpus(self, name: str) -> Corpus:
        """Return what a corpus is.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        found = _read(self.place(name) / CORPUS, Corpus) if NAME.fullmatch(name) else None
        if found is None:
            raise UnknownCorpus(name)
        return found

    def indexing(self, name: str) -> Indexing | None:
        """Return how far the last indexing of a corpus is; ``None``: there was none."""
        return _read(self.place(name) / INDEXING, Indexing)

    def place(self, name: str) -> Path:
        """Return the folder of a corpus, which may not exist."""
        return self._root / name

    def index(self, name: str) -> Path:
        """Return the folder of the index of a corpus, which may not exist."""
        return self.place(name) / INDEX

    def files(self, name: str) -> Path:
        """Return the folder with the files of a corpus.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: it is of a folder that is not allowed any more.
        """
        folder = self.corpus(name).folder
        if folder is None:
            return self.place(name) / FILES
        if folder not in self._folders:
            raise CorpusRefused(
                "folder_not_allowed",
                f"The folder “{folder}” is not among those that may be searched.",
                "Add it to ESOTERIC_FOLDERS and restart the service, or remove the corpus.",
            )
        return self._folders[folder]

    def searchable(self, name: str) -> tuple[str, Path]:
        """Return the title of a corpus and the folder of its index.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusNotReady: it has no index yet.
        """
        title, index = self.corpus(name).title, self.index(name)
        if not (index / "current").exists():
            raise CorpusNotReady(title)
        return title, index

    def to_index(self) -> list[str]:
        """Return the names of the corpora whose files are not indexed as they are now."""
        found = []
        for name in self.names():
            try:
                corpus = self.corpus(name)
            except UnknownCorpus:
                continue
            indexing = self.indexing(name)
            if indexing is None and corpus.folder is None and not self._stored_files(name, corpus):
                continue  # nothing was uploaded yet
            ended = indexing is not None and indexing.step in ("done", "failed")
            if indexing is None or indexing.of != corpus.wanted or not ended:
                found.append(name)
        return found

    # What pages change

    def make(self, title: str, folder: str | None = None) -> str:
        """Make a corpus and return its name; without ``folder`` it has no files yet.

        Raises:
            CorpusRefused: the title is empty, too long or taken, or the folder may not be searched.
        """
        title = self._fit(title)
        if folder is not None and folder not in self._folders:
            raise CorpusRefused(
                "folder_not_allowed",
                f"The folder “{folder[:80]}” is not among those that may be searched.",
                "Choose one of those that the operator named in ESOTERIC_FOLDERS.",
            )
        name = f"{_slug(title)}-{secrets.token_hex(3)}"
        corpus = Corpus(title=title, made_at=_now(), folder=folder, wanted=_mark())
        with self._writing():
            make_private_folder(self.place(name))
            _write(self.place(name) / CORPUS, corpus)
        return name

    def rename(self, name: str, title: str) -> None:
        """Give a corpus another title.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: the title is empty, too long or taken.
        """
        title = self._fit(title, besides=name)
        with self._changing(name) as corpus:
            _write(self.place(name) / CORPUS, corpus.model_copy(update={"title": title}))

    def add(self, name: str, files: Sequence[tuple[str, Path]], left_out: Sequence[str]) -> None:
        """Move files into a corpus, each under its name; one replaces another of its name.

        ``left_out``: what is said of those that were not taken.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: it is of a folder, a name is too long, or a file has the name of a folder
                of another.
        """
        with self._changing(name) as corpus:
            self._refuse_folder(corpus)
            inside = self.place(name) / FILES
            _refuse_names([PurePosixPath(file) for file, _ in files], inside)
            # All folders first: if the disk is full, no file was moved yet.
            for file, _ in files:
                (inside / file).parent.mkdir(parents=True, exist_ok=True)
            # Then the mark: if a file cannot be moved, the corpus is only indexed once more.
            self._want(name, corpus, left_out)
            for file, content in files:
                content.replace(inside / file)

    def remove_file(self, name: str, file: str) -> None:
        """Remove a file from a corpus.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: it has no such file, or is of a folder.
        """
        with self._changing(name) as corpus:
            self._refuse_folder(corpus)
            inside = (self.place(name) / FILES).resolve()
            target = (inside / file.replace("\0", "")).resolve()
            if not target.is_relative_to(inside) or not target.is_file():
                raise CorpusRefused(
                    "unknown_file",
                    f"“{corpus.title}” has no file named “{file[:120]}”.",
                    "It may have been removed. Look at the list of its files.",
                )
            self._want(name, corpus, ())
            target.unlink()

    def index_again(self, name: str) -> None:
        """Let a worker index all files of a corpus again.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        with self._changing(name) as corpus:
            self._want(name, corpus, ())

    def remove(self, name: str) -> None:
        """Remove a corpus with its files and its index; what has opened it may still read it.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        with self._changing(name):
            gone = self._root / f".gone-{name}-{secrets.token_hex(4)}"
            self.place(name).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    @contextmanager
    def receiving(self) -> Iterator[Path]:
        """Yield a new folder for files that are being uploaded; it is removed afterwards."""
        place = self._root / f".incoming-{secrets.token_hex(8)}"
        with self._writing():
            make_private_folder(place)
            try:
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)

    # Whether all processes have the same folder

    def mark(self) -> str:
        """Return the mark of the folder, "" if it has none: another folder has another one."""
        try:
            return (self._root / _MARK).read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""

    def make_mark(self) -> None:
        """Give the folder a mark, if it has none."""
        with self._writing():
            make_private_folder(self._root)
            with suppress(FileExistsError), (self._root / _MARK).open("x") as file:
                file.write(_mark())

    # What workers change

    def report(self, name: str, indexing: Indexing) -> None:
        """Write how far the indexing is, unless the corpus was removed."""
        with self._writing():
            try:
                _write(self.place(name) / INDEXING, indexing)
            except FileNotFoundError:
                return

    def report_death(self, name: str) -> None:
        """Write that the process that indexes a corpus ended unexpectedly."""
        try:
            wanted = self.corpus(name).wanted
        except UnknownCorpus:
            return
        known = self.indexing(name)
        indexing = known if known and known.of == wanted else Indexing(of=wanted)
        changes: dict[str, object] = {"deaths": indexing.deaths + 1}
        if indexing.deaths + 1 >= _MOST_DEATHS:
            problem = Problem(
                "indexing_ended",
                "The process that indexes the files ended unexpectedly, several times.",
                "There may be too little memory; worker.log in ESOTERIC_HOME/logs says more. Then"
                " choose “Index again”.",
            )
            changes |= {"step": "failed", "problem": problem}
        self.report(name, indexing.model_copy(update=changes))

    def drop_index(self, name: str) -> None:
        """Remove the index of a corpus, because none of its files can be read any more."""
        index = self.index(name)
        if index.is_dir():
            gone = self._root / f".gone-{secrets.token_hex(4)}"
            index.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def sweep(self) -> None:
        """Remove the remains of what was removed, or not uploaded to the end."""
        for gone in self._root.glob(".gone-*"):
            shutil.rmtree(gone, ignore_errors=True)
        for incoming in self._root.glob(".incoming-*"):
            try:
                old = time.time() - incoming.stat().st_mtime > _LEFT_FOR
            except OSError:  # its upload has ended
                continue
            if old:
                shutil.rmtree(incoming, ignore_errors=True)

    @contextmanager
    def indexing_alone(self) -> Iterator[bool]:
        """Yield whether this process may index now: only one of all processes may."""
        if not self._root.is_dir():
            yield False
            return
        with (self._root / ".indexing").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def _want(self, name: str, corpus: Corpus, left_out: Sequence[str]) -> None:
        changed = {"wanted": _mark(), "left_out": tuple(left_out)}
        _write(self.place(name) / CORPUS, corpus.model_copy(update=changed))

    def _fit(self, title: str, besides: str = "") -> str:
        """Return the title as it is stored; raises ``CorpusRefused`` if it cannot be."""
        plain = " ".join("".join(c for c in title if c.isprintable() or c.isspace()).split())
        if not plain or len(plain) > LONGEST_TITLE:
            raise CorpusRefused(
                "bad_title",
                "The corpus needs a title." if not plain else "The title is too long.",
                f"Write one of 1 to {LONGEST_TITLE} characters.",
            )
        names = [one for one in self.names() if one != besides]
        others = [_read(self.place(one) / CORPUS, Corpus) for one in names]
        taken = {DEFAULT_CORPUS, *names, *(one.title.casefold() for one in others if one)}
        if plain.casefold() in taken:
            raise CorpusRefused(
                "title_taken",
                f"There is a corpus with the name or title “{plain}” already.",
                "Choose another title, or add the files to that corpus.",
            )
        return plain

    def _refuse_folder(self, corpus: Corpus) -> None:
        if corpus.folder is not None:
            raise CorpusRefused(
                "corpus_of_folder",
                f"The files of “{corpus.title}” are those of a folder, which is not changed here.",
                "Change them there, and choose “Index again”.",
            )

    def _stored_files(
        self, name: str, corpus: Corpus, indexing: Indexing | None = None
    ) -> tuple[StoredFile, ...]:
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

    @contextmanager
    def holding(self, name: str) -> Iterator[Corpus]:
        """Yield what a corpus is while no other process can change it.

        Raises:
            UnknownCorpus: there is none of this name.
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
    def _changing(self, name: str) -> Iterator[Corpus]:
        with self._writing(), self.holding(name) as corpus:
            yield corpus

    @contextmanager
    def _writing(self) -> Iterator[None]:
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
                f"The documents cannot be stored in {self._root} ({error.strerror or error}).",
                "Make the folder writable for the service.",
            ) from error


def _refuse_names(files: Sequence[PurePosixPath], inside: Path) -> None:
    """Refuse files that cannot be stored in a folder, beside each other and those that are there.

    Raises:
        CorpusRefused: a name is too long, or a file has the name of a folder of another.
    """
    for file in files:
        if len(str(file).encode()) > _LONGEST_PATH:
            raise CorpusRefused(
                "path_too_long",
                f"“{str(file)[:80]}…” cannot be stored: its name with its folders is too long.",
                f"Give it a name of at most {_LONGEST_PATH:,} bytes, or fewer folders.",
            )
    folders = {parent for file in files for parent in file.parents}
    for file in files:
        below_file = any((inside / parent).is_file() for parent in file.parents)
        if file in folders or (inside / file).is_dir() or below_file:
            raise CorpusRefused(
                "name_taken",
                f"“{file}” cannot be stored: a file and a folder would have one name.",
                "Rename one of them.",
            )


def _state(indexing: Indexing | None, has_files: bool) -> State:
    if not has_files:
        return "empty"
    if indexing is None:
        return "waiting"
    if indexing.step == "done":
        return "ready"
    return "failed" if indexing.step == "failed" else "indexing"


def _slug(title: str) -> str:
    plain = nfkd(title).encode("ascii", "ignore").decode().casefold()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))
    return words[:_LONGEST_NAME].strip("-") or "corpus"


def _mark() -> str:
    return secrets.token_hex(8)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _write(path: Path, record: BaseModel) -> None:
    write_whole(path, record.model_dump_json().encode())


def _read(path: Path, kind: type[Record]) -> Record | None:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
