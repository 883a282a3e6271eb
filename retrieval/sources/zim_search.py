"""``zim-search:FILE``: a file of Kiwix, searched by the indexes that it has in it (libzim).

A process of its own opens the file (``child_process``), since a damaged one may crash libzim.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from retrieval.corpora.child_process import ChildEnded, ChildProcess
from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import check_library
from retrieval.corpora.wiki.article import LARGEST, ArticleText, read_article
from retrieval.corpora.wiki.zim import Facts, facts_in
from retrieval.errors import BadSource
from retrieval.sources.address import SourceAddress
from retrieval.sources.interface import About, Article, Found, Source, SourceAway

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

_SECONDS = 60  # that opening a file, a search or an article may take
_NO_TEXT_INDEX = (
    "{} has no full-text index, so its articles are found by their titles alone; a file with one"
    " finds more."
)


@dataclass(frozen=True, slots=True)
class _Opened:
    """What a file has."""

    facts: Facts
    articles: int
    has_text_index: bool
    old_layout: bool


@dataclass(frozen=True, slots=True)
class _Read:
    """An article as the file has it: its path, its title and its text."""

    path: str
    title: str
    text: ArticleText


class ZimSearch(Source):
    """One file; an article's path is its id."""

    def __init__(self, address: SourceAddress) -> None:
        """Open the file.

        Raises:
            BadSource: it cannot be opened, or libzim is not installed.
        """
        check_library("libzim", "ZIM", "zim")
        self._path = Path(address.place)
        self._title = address.title
        self._child = ChildProcess(__name__)
        weakref.finalize(self, self._child.end)
        self._lock = Lock()
        opened: _Opened | str = self._asked("opened")
        if isinstance(opened, str):
            raise BadSource(
                "source_damaged",
                f"{self._path} is damaged or cut off, or is not a ZIM file ({opened}).",
                "Fetch it again.",
            )
        self._opened = opened
        self._date = opened.facts.date
        self._name = opened.facts.named("Title", "Name") or self._title
        self._paths = opened.facts.paths(self._path.stem, old_layout=opened.old_layout)

    def about(self) -> About:
        notice = "" if self._opened.has_text_index else _NO_TEXT_INDEX.format(self._title)
        return About(self._name, self._opened.articles, self._date, notice)

    def search(self, names: Sequence[str], words: str, limit: int) -> Found:
        named, by_words = self._asked("search", tuple(names), words, limit)
        return Found(named, by_words)

    def articles(self, ids: Sequence[str]) -> list[Article]:
        found = (self._asked("article", one) for one in ids)
        return [self._made(one) for one in found if one is not None]

    def _made(self, read: _Read) -> Article:
        credit = self._name
        if self._date:
            day = date.fromisoformat(self._date)
            credit += f", file of {day.day} {day:%B %Y}"
        name = self._paths.name_of(read.path)
        return Article(
            id=read.path,
            revision="",
            title=read.title,
            url=None if name is None else self._paths.url_of(name, read.title),
            credit=credit,
            date=self._date,
            blocks=read.text.blocks,
            links=read.text.links,
            leads_to=read.text.leads_to,
        )

    def _asked(self, what: str, *values: object) -> Any:
        """Return the answer of the process, which is started anew after it has ended."""
        with self._lock:
            try:
                if self._child.pid is None:
                    self._child.send(self._path)
                self._child.send((what, values))
                return self._child.receive(_SECONDS)
            except ChildEnded as error:
                raise SourceAway(
                    "source_away",
                    f"{self._title} could not be searched: the process that read it was ended.",
                    "Check the file; if it is damaged, fetch it again.",
                ) from error


class _Archive:
    """Answers questions about an open file."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def opened(self) -> _Opened:
        archive = self._archive
        new = archive.has_new_namespace_scheme
        return _Opened(
            facts_in(archive), archive.article_count, archive.has_fulltext_index, not new
        )

    def search(
        self, names: Sequence[str], words: str, limit: int
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the paths of the articles with these names, and of those with the words."""
        named = {name: path for name in names if (path := self._path_of(name))}
        return named, tuple(self._with_words(words, limit)) if words else ()

    def article(self, path: str) -> _Read | None:
        """Return an article, ``None`` if there is none that can be read."""
        try:
            entry = self._archive.get_entry_by_path(path)
            item = entry.get_item()
            if item.size > LARGEST or "html" not in item.mimetype:
                return None
            title = clean(entry.title) or path
            return _Read(path, title, read_article(title, bytes(item.content)))
        except Exception:  # libzim's own, of several kinds, or HTML that cannot be read
            return None

    def _path_of(self, name: str) -> str:
        title = name[:1].upper() + name[1:]
        for one in dict.fromkeys((name, title)):
            with suppress(Exception):  # there is no such title
                return str(_target(self._archive.get_entry_by_title(one)).path)
            for path in (one.replace(" ", "_"), f"A/{one.replace(' ', '_')}"):
                with suppress(Exception):
                    return str(_target(self._archive.get_entry_by_path(path)).path)
        return ""

    def _with_words(self, words: str, limit: int) -> list[str]:
        from libzim.search import Query, Searcher
        from libzim.suggestion import SuggestionSearcher

        with suppress(Exception):  # the index in it is damaged
            if self._archive.has_fulltext_index:
                found = Searcher(self._archive).search(Query().set_query(words))
            else:
                found = SuggestionSearcher(self._archive).suggest(words)
            paths = found.getResults(0, limit)
            return [_target(self._archive.get_entry_by_path(path)).path for path in paths]
        return []


def _target(entry: Entry) -> Entry:
    return entry.get_redirect_entry() if entry.is_redirect else entry


def serve(connection: Connection) -> None:
    """Answer questions for the file that comes first: by ``_Archive``, or why it is not open."""
    from libzim.reader import Archive

    archive, reason = None, ""
    try:
        archive = _Archive(Archive(connection.recv()))
    except Exception as error:  # libzim's own, of several kinds
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    while True:
        what, values = connection.recv()
        connection.send(reason if archive is None else getattr(archive, what)(*values))
