"""Reads a ZIM file in a process of its own: a damaged file may crash libzim, or take all memory.

Only that process is lost; it starts anew with the next article.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval.errors import BadSource
from retrieval.on_all_cores import end_with_parent

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

_SECONDS = 60  # that opening a file or reading an article may take
_MEMORY = 2 << 30  # bytes that the process may take
_CLUSTERS = 16 << 20  # bytes of unpacked clusters that libzim keeps; one is read after another
_LARGEST = 32 << 20  # bytes of an article
_MOST_ENDS = 50  # of the process while it reads one chunk
_FACTS = ("Name", "Title", "Date", "Language", "Source", "Creator", "Scraper")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says of itself; ``main_path`` is the path of its main page, "" if it has none."""

    metadata: dict[str, str]
    main_path: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """An article's entry, and those that redirect to it."""

    entry: int
    redirects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """An article; ``text`` is its introduction."""

    path: str
    title: str
    text: str
    other_titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Damaged:
    """An article that cannot be read, and why; ``path`` is "" if it is not known."""

    path: str
    reason: str


class _Ended(Exception):
    """The process ended, or took too long and was ended."""


class ChildReader:
    """The process for one file; it starts when it is needed."""

    def __init__(self, path: Path) -> None:
        """Start nothing yet."""
        self._path = path
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        return self._process.pid if self._process is not None else None

    def facts(self) -> Facts:
        """Return what the file says of itself.

        Raises:
            BadSource: libzim cannot open it.
        """
        try:
            self._send(None)
            facts = self._received()
        except _Ended as error:
            raise _damaged(self._path, "the process that read it was ended") from error
        assert isinstance(facts, Facts)
        return facts

    def articles(self, wanted: Sequence[Wanted]) -> Iterator[Article | Damaged]:
        """Yield an answer for each of ``wanted``, in order.

        Raises:
            BadSource: libzim cannot open the file, or it is damaged in very many places.
        """
        done = ends = 0
        try:
            while done < len(wanted):
                try:
                    self._send(wanted[done:])
                    while done < len(wanted):
                        answer = self._received()
                        done += 1
                        yield answer
                except _Ended:
                    ends += 1
                    if ends > _MOST_ENDS:
                        raise _damaged(self._path, "very many articles cannot be read") from None
                    done += 1
                    yield Damaged("", "the process that read it was ended")
        finally:
            if done < len(wanted):  # answers that nobody takes would be taken for later ones
                self.end()

    def end(self) -> None:
        """End the process, if there is one."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._connection = self._process = None

    def _send(self, wanted: Sequence[Wanted] | None) -> None:
        if self._connection is None:
            self._start()
            refusal = self._received()
            if refusal:
                self.end()
                raise _damaged(self._path, refusal)
        assert self._connection is not None
        try:
            self._connection.send(wanted)
        except OSError as error:
            self.end()
            raise _Ended from error

    def _received(self) -> Any:
        assert self._connection is not None
        try:
            if self._connection.poll(_SECONDS):
                return self._connection.recv()
        except (EOFError, OSError):
            pass
        self.end()
        raise _Ended

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._path), daemon=True)
        self._process.start()
        other.close()


_reader: tuple[Path, ChildReader] | None = None


def shared_reader(path: Path) -> ChildReader:
    """Return this process's reader of a file; that of another file is ended."""
    global _reader
    if _reader is None or _reader[0] != path:
        if _reader is None:
            atexit.register(end_shared_reader)
        end_shared_reader()
        _reader = path, ChildReader(path)
    return _reader[1]


def end_shared_reader() -> None:
    """End the process of ``shared_reader``."""
    if _reader is not None:
        _reader[1].end()


def _damaged(path: Path, reason: str) -> BadSource:
    return BadSource(
        "source_damaged",
        f"{path} is damaged or cut off, or is not a ZIM file ({reason}).",
        "Fetch it again.",
    )


def _serve(connection: Connection, path: Path) -> None:
    """Answer requests: first whether the file can be opened, then ``Facts`` and articles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    end_with_parent()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # a library's remarks on a file are not for the user
        os.dup2(nowhere, stream)
    with suppress(ValueError, OSError):  # some systems do not know these limits
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    from libzim.reader import Archive, set_cluster_cache_max_size

    set_cluster_cache_max_size(_CLUSTERS)
    try:
        archive = Archive(path)
    except Exception as error:  # libzim's own, of several kinds
        connection.send(_reason(error))
        return
    connection.send("")
    with suppress(EOFError, OSError):  # the parent needs no more
        while True:
            wanted = connection.recv()
            if wanted is None:
                connection.send(_facts(archive))
            else:
                for one in wanted:
                    connection.send(_article(archive, one))


def _facts(archive: Archive) -> Facts:
    metadata = {}
    for name in _FACTS:
        with suppress(Exception):  # it has none of that name, or it is damaged
            metadata[name] = archive.get_metadata(name)[:1000].decode("utf-8", "replace").strip()
    main = ""
    with suppress(Exception):
        if archive.has_main_entry:
            main = archive.main_entry.get_item().path
    return Facts(metadata, main)


def _article(archive: Archive, wanted: Wanted) -> Article | Damaged:
    from retrieval.corpora.zim.introduction import introduction

    path = ""
    try:
        entry = archive._get_entry_by_id(wanted.entry)
        path, title = entry.path, entry.title
        item = entry.get_item()
        if item.size > _LARGEST:
            return Damaged(path, f"longer than {_LARGEST >> 20} MiB")
        text = introduction(bytes(item.content))
    except Exception as error:  # libzim's own, of several kinds
        return Damaged(path, _reason(error))
    return Article(path, title, text, tuple(_titles(archive, wanted.redirects)))


def _titles(archive: Archive, redirects: Sequence[int]) -> Iterator[str]:
    for number in redirects:
        with suppress(Exception):  # the article can be read without it
            entry: Entry = archive._get_entry_by_id(number)
            yield entry.title


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
