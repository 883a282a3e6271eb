"""``zim:FILE``: a Wikipedia, or another wiki, as Kiwix offers it for reading: its introductions.

``mini``, ``nopic`` and ``maxi`` files of a wiki have the same introductions; ``mini`` is smallest.
``zim-whole:FILE`` (``--whole``) reads the articles to their end, which ``mini`` files do not have.
A process of its own reads the file (``child_process``), since a damaged one may crash libzim. After
an article that ends the process, another process continues with the next article.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from retrieval.corpora.child_process import ChildEnded, ChildProcess
from retrieval.corpora.cleaning import clean, reason_of
from retrieval.corpora.corpus import BadPage, Page, bad_id, check_library
from retrieval.corpora.wiki.article import (
    LARGEST,
    ArticleText,
    introduction,
    read_article,
    whole_article,
)
from retrieval.corpora.wiki.zim_directory import Directory, ZimFile
from retrieval.errors import BadSource

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

_SECONDS = 60  # that opening a file or reading an article may take
_CLUSTERS = 16 << 20  # bytes of unpacked clusters that libzim keeps; one is read after another
_LARGEST = 32 << 20  # bytes of an article
_MOST_ENDS = 50  # of the process while it reads one chunk
_FACTS = ("Name", "Title", "Date", "Language", "Source", "Creator", "Scraper")
_CHUNK = 256  # articles
# Wikimedia's wikis, as Kiwix names their files: wikipedia_en_all_maxi_2025-10.
_OF_WIKIMEDIA = re.compile(
    r"(?:^|\.)(wikipedia|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage|wiktionary)"
    r"_([a-z]{2,}(?:-[a-z]+)*)(?:_(simple))?(?:_|$)"
)
_HOST = re.compile(r"(?:[\w-]+\.)+[\w-]+(?::\d+)?", re.ASCII)
# A wiki's own pages; an article's title never begins with one of these names.
_OWN_PAGE = re.compile(
    r"(?:(?:user|project|wikipedia|file|image|mediawiki|template|help|category|portal|draft|module)"
    r"(?:[ _]talk)?|talk|media|special):",
    re.IGNORECASE,
)
_NAMESPACE = "A/"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says of itself; ``main_path`` is the path of its main page, "" if it has none."""

    metadata: dict[str, str]
    main_path: str

    @property
    def date(self) -> str:
        """The day of its texts, ISO 8601, "" if it does not say it."""
        with suppress(ValueError):
            return date.fromisoformat(self.metadata.get("Date", "")[:10]).isoformat()
        return ""

    def named(self, *kinds: str) -> str:
        """Return the first name that it has of these kinds of metadata, "" if it has none."""
        return next(filter(None, (clean(self.metadata.get(kind, "")) for kind in kinds)), "")

    def paths(self, stem: str, *, old_layout: bool) -> Paths:
        """Return what the paths are in a file of this name."""
        namespace = old_layout or self.main_path.startswith(_NAMESPACE)
        source = self.metadata.get("Source", "")
        parts = urlsplit(source if "://" in source else f"https://{source}")
        by_mwoffliner = "mwoffliner" in self.metadata.get("Scraper", "mwoffliner").lower()
        if by_mwoffliner and parts.scheme in {"http", "https"} and _HOST.fullmatch(parts.netloc):
            return Paths(namespace, f"{parts.scheme}://{parts.netloc}/wiki/")
        for name in (self.metadata.get("Name", ""), stem):
            if found := _OF_WIKIMEDIA.search(name.lower()):
                return Paths(namespace, f"https://{found[3] or found[2]}.{found[1]}.org/wiki/")
        return Paths(namespace, "")


@dataclass(frozen=True, slots=True)
class Paths:
    """What the paths of a file are.

    ``namespace``: whether those of articles begin with ``A/``. ``address``: that of articles
    without their name, "" if it is not known.
    """

    namespace: bool
    address: str

    def name_of(self, path: str) -> str | None:
        """Return the path without its namespace, ``None`` if it is not an article's."""
        if not self.namespace:
            return path
        return path.removeprefix(_NAMESPACE) if path.startswith(_NAMESPACE) else None

    def url_of(self, name: str, title: str) -> str | None:
        """Return the address of an article on its wiki."""
        if not self.address:
            return None
        if name.endswith(".html") and not title.endswith(".html"):
            name = title.replace(" ", "_")  # older files change the names: A_B.html for A/B
        return self.address + quote(name)


@dataclass(frozen=True, slots=True)
class ArticleRequest:
    """An article's entry, and those that redirect to it."""

    entry: int
    redirects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """An article; ``text`` is its introduction, or all that it says."""

    path: str
    title: str
    text: str | ArticleText
    other_titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Damaged:
    """An article that cannot be read, and why; ``path`` is "" if it is not known."""

    path: str
    reason: str


class ZimReader:
    """Reads one file, in a process that starts when it is needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._child = ChildProcess(__name__)
        self.end = weakref.finalize(self, self._child.end)

    def facts(self) -> Facts:
        """Return what the file says of itself.

        Raises:
            BadSource: libzim cannot open it, or the process does not start.
        """
        try:
            self._child.send((self._path, False, None))
            facts: Facts = self._child.receive(_SECONDS)
        except ChildEnded as error:
            raise _damaged(self._path, "the process that read it was ended") from error
        return facts

    def articles(
        self, wanted: Sequence[ArticleRequest], *, whole: bool = False
    ) -> Iterator[Article | Damaged]:
        """Yield an answer for each of ``wanted``, in order; ``whole``: not only introductions.

        Raises:
            BadSource: libzim cannot open the file, it is damaged in very many places, or the
                process does not start.
        """
        done = ends = 0
        try:
            while done < len(wanted):
                try:
                    self._child.send((self._path, whole, wanted[done:]))
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
                self._child.end()


@lru_cache(maxsize=1)
def shared_reader(path: Path) -> ZimReader:
    """Return this process's reader of a file; that of another file is ended."""
    return ZimReader(path)


def _damaged(path: Path, reason: str) -> BadSource:
    message = f"{path} is damaged or cut off, or is not a ZIM file ({reason})."
    return BadSource("source_damaged", message, "Fetch it again.")


def serve(connection: Connection) -> None:
    """Answer for the file that comes first with ``Facts`` and articles, or that it is damaged."""
    from libzim.reader import Archive, set_cluster_cache_max_size

    set_cluster_cache_max_size(_CLUSTERS)
    archive: Archive | None = None
    while True:
        path, whole, wanted = connection.recv()
        try:
            archive = archive or Archive(path)
        except Exception as error:  # libzim's own, of several kinds
            connection.send(_damaged(path, reason_of(error)))
            continue
        if wanted is None:
            connection.send(facts_in(archive))
        for one in wanted or ():
            connection.send(_article(archive, one, whole))


def facts_in(archive: Archive) -> Facts:
    """Return what a file says of itself."""
    metadata = {}
    for name in _FACTS:
        with suppress(Exception):  # it has none of that name, or it is damaged
            metadata[name] = archive.get_metadata(name)[:1000].decode("utf-8", "replace").strip()
    main = ""
    with suppress(Exception):
        if archive.has_main_entry:
            main = archive.main_entry.get_item().path
    return Facts(metadata, main)


def _article(archive: Archive, wanted: ArticleRequest, whole: bool) -> Article | Damaged:
    path, most = "", LARGEST if whole else _LARGEST
    try:
        entry = archive._get_entry_by_id(wanted.entry)
        path, title = entry.path, entry.title
        item = entry.get_item()
        if item.size > most:
            return Damaged(path, f"longer than {most:,} bytes")
        content = bytes(item.content)
        text = _whole(clean(title), content) if whole else introduction(content)
    except Exception as error:  # libzim's own, of several kinds
        return Damaged(path, reason_of(error))
    return Article(path, title, text, tuple(_titles(archive, wanted.redirects)))


def _whole(title: str, content: bytes) -> str | ArticleText:
    """Return what an article says, "" if it is none or only leads to others."""
    read = read_article(title, content)
    return read if read.blocks and not read.leads_to else ""


def _titles(archive: Archive, redirects: Sequence[int]) -> Iterator[str]:
    for number in redirects:
        with suppress(Exception):  # the article can be read without it
            entry: Entry = archive._get_entry_by_id(number)
            yield entry.title


class ZimCorpus:
    """The articles of one file; an article's path is its id."""

    def __init__(self, place: Path, *, whole: bool = False) -> None:
        """Open the file; ``whole``: its articles are read to their end.

        Raises:
            BadSource: there is none, it is damaged, or libzim is not installed.
        """
        check_library("libzim", "ZIM", "zim")
        self._file, self._whole = ZimFile(place), whole
        reader = ZimReader(self._file.path)
        try:
            facts = reader.facts()
        finally:
            reader.end()
        stem = self._file.path.stem
        self.name = facts.named("Name", "Title") or stem
        self.source = f"{'zim-whole' if whole else 'zim'}:{place.resolve()}"
        self.date = facts.date
        self.language = facts.named("Language")
        self._paths = facts.paths(stem, old_layout=self._file.old_layout)

    def fingerprint(self) -> str:
        """Return a digest of the file's UUID, its size and the MD5 that it has of its content.

        Reading 100 GB would take minutes. Each file that is written gets another UUID, and the MD5
        is of all its content. Damage to a file does not change it.
        """
        written = (self._file.uuid, str(self._file.bytes).encode(), self._file.checksum())
        return hashlib.sha256(b" ".join(written)).hexdigest()

    def size(self) -> int:
        """Return how many articles there are."""
        return len(self._directory.articles)

    def chunks(self) -> Iterator[tuple[ZimChunk, int]]:
        """Yield the articles in the order of their content, the fastest to read."""
        articles = self._directory.articles
        for start in range(0, len(articles), _CHUNK):
            wanted = tuple(
                ArticleRequest(entry, self._directory.leading_to(entry))
                for entry in articles[start : start + _CHUNK].tolist()
            )
            yield ZimChunk(self._file.path, self._paths, wanted, self._whole), len(wanted)

    @cached_property
    def _directory(self) -> Directory:
        return self._file.directory()


@dataclass(frozen=True, slots=True)
class ZimChunk:
    """Some articles of the file."""

    path: Path
    paths: Paths
    wanted: tuple[ArticleRequest, ...]
    whole: bool

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the articles that have an introduction, or the passages of those with any text."""
        answers = shared_reader(self.path).articles(self.wanted, whole=self.whole)
        for wanted, answer in zip(self.wanted, answers, strict=True):
            where = f"{self.path}, entry {wanted.entry}"
            if isinstance(answer, Damaged):
                path = f" ({clean(answer.path)})" if answer.path else ""
                message = f"{where}{path}: damaged ({answer.reason})."
                yield BadPage(message, "Fetch the file again.")
            elif answer.text and not _OWN_PAGE.match(answer.title):
                yield from self._pages(answer, where)

    def _pages(self, article: Article, where: str) -> Iterator[Page | BadPage]:
        name, text = self.paths.name_of(article.path), article.text
        if name is None:
            return
        if (bad := bad_id(name, where)) is not None:
            yield bad
            return
        named = article.title if article.title != article.path else name.replace("_", " ")
        title = clean(named)
        others = dict.fromkeys(map(clean, article.other_titles))
        page = Page(
            id=name,
            title=title or name,
            url=self.paths.url_of(name, title),
            text=text if isinstance(text, str) else "",
            other_titles=tuple(other for other in others if other and other != title),
        )
        if isinstance(text, str):
            yield page
        else:
            yield from whole_article(page, text.blocks, text.links)
