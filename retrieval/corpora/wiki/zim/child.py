"""Reads a ZIM file in a process of its own (``child_process``): a damaged one may crash libzim.

After an article that ends the process, another process continues with the next article.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.corpora.child_process import ChildEnded, ChildProcess
from retrieval.errors import BadSource

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

_SECONDS = 60  # that opening a file or reading an article may take
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
class ArticleRequest:
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


class ZimReader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        """Start nothing yet."""
        self._path = path
        self._child = ChildProcess(__name__)

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        return self._child.pid

    def facts(self) -> Facts:
        """Return what the file says of itself.

        Raises:
            BadSource: libzim cannot open it, or the process does not start.
        """
        try:
            self._send(None)
            facts = self._child.receive(_SECONDS)
        except ChildEnded as error:
            raise _damaged(self._path, "the process that read it was ended") from error
        assert isinstance(facts, Facts)
        return facts

    def articles(self, wanted: Sequence[ArticleRequest]) -> Iterator[Article | Damaged]:
        """Yield an answer for each of ``wanted``, in order.

        Raises:
            BadSource: libzim cannot open the file, it is damaged in very many places, or the
                process does not start.
        """
        done = ends = 0
        try:
            while done < len(wanted):
                try:
                    self._send(wanted[done:])
                    while done < len(wanted):
                        answer = self._child.receive(_SECONDS)
                        done += 1
                        yield answer
                except ChildEnded:
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
        self._child.end()

    def _send(self, wanted: Sequence[ArticleRequest] | None) -> None:
        if self._child.pid is None:
            self._child.send(self._path)
            refusal = self._child.receive(_SECONDS)
            if refusal:
                self.end()
                raise _damaged(self._path, refusal)
        self._child.send(wanted)


_reader: tuple[Path, ZimReader] | None = None


def shared_reader(path: Path) -> ZimReader:
    """Return this process's reader of a file; that of another file is ended."""
    global _reader
    if _reader is None or _reader[0] != path:
        if _reader is None:
            atexit.register(end_shared_reader)
        end_shared_reader()
        _reader = path, ZimReader(path)
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


def serve(connection: Connection) -> None:
    """Answer for the file that comes first: whether it can be opened, ``Facts``, and articles."""
    from libzim.reader import Archive, set_cluster_cache_max_size

    set_cluster_cache_max_size(_CLUSTERS)
    try:
        archive = Archive(connection.recv())
    except Exception as error:  # libzim's own, of several kinds
        connection.send(_reason(error))
        return
    connection.send("")
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


def _article(archive: Archive, wanted: ArticleRequest) -> Article | Damaged:
    from retrieval.corpora.wiki.zim.introduction import introduction

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
