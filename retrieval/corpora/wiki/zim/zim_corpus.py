"""``zim:FILE``: the introductions of a Wikipedia, or another wiki, as Kiwix offers it for reading.

``mini``, ``nopic`` and ``maxi`` files of a wiki have the same introductions; ``mini`` is smallest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, urlsplit

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.page_ids import bad_id
from retrieval.corpora.wiki.zim.child import (
    Article,
    ArticleRequest,
    Damaged,
    Facts,
    ZimReader,
    shared_reader,
)
from retrieval.corpora.wiki.zim.directory import Directory, ZimFile
from retrieval.errors import BadSource
from retrieval.system.fixes import install_zim_command

_CHUNK = 256  # articles
_LIBRARIES = ("libzim", "lxml")
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


class ZimCorpus:
    """The articles of one file; an article's path is its id."""

    def __init__(self, place: Path) -> None:
        """Open the file.

        Raises:
            BadSource: there is none, it is damaged, or libzim is not installed.
        """
        for library in _LIBRARIES:
            if find_spec(library) is None:
                raise BadSource(
                    "library_missing",
                    f"ZIM files are read with {library}, which is not installed.",
                    f"Run: {install_zim_command()}",
                )
        self._file = ZimFile(place)
        reader = ZimReader(self._file.path)
        try:
            facts = reader.facts()
        finally:
            reader.end()
        metadata = facts.metadata
        stem = self._file.path.stem
        self.name = clean(metadata.get("Name", "")) or clean(metadata.get("Title", "")) or stem
        self.source = f"zim:{place.resolve()}"
        date = metadata.get("Date", "")[:10]
        self.date = date if re.fullmatch(r"\d{4}-\d\d-\d\d", date, re.ASCII) else ""
        self.language = clean(metadata.get("Language", ""))
        self._paths = Paths(
            self._file.old_layout or facts.main_path.startswith(_NAMESPACE),
            _address_of(facts, stem),
        )

    def fingerprint(self) -> str:
        """Return a digest of the file's UUID, its size and the MD5 that it has of its content.

        Reading 100 GB would take minutes. Each file that is written gets another UUID, and the MD5
        is of all its content, so a file of another content has another fingerprint. Damage to a
        file does not change it.
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
            yield ZimChunk(self._file.path, self._paths, wanted), len(wanted)

    @cached_property
    def _directory(self) -> Directory:
        return self._file.directory()


@dataclass(frozen=True, slots=True)
class Paths:
    """What the paths of a file are.

    Attributes:
        namespace: whether those of articles begin with ``A/``.
        address: the address of articles without their name, "" if it is not known.
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
class ZimChunk:
    """Some articles of the file."""

    path: Path
    paths: Paths
    wanted: tuple[ArticleRequest, ...]

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the articles that have an introduction."""
        answers = shared_reader(self.path).articles(self.wanted)
        for wanted, answer in zip(self.wanted, answers, strict=True):
            where = f"{self.path}, entry {wanted.entry}"
            if isinstance(answer, Damaged):
                path = f" ({clean(answer.path)})" if answer.path else ""
                yield BadPage(
                    f"{where}{path}: damaged ({clean(answer.reason)}).", "Fetch the file again."
                )
            elif answer.text and not _OWN_PAGE.match(answer.title):
                page = self._page(answer, where)
                if page is not None:
                    yield page

    def _page(self, article: Article, where: str) -> Page | BadPage | None:
        name = self.paths.name_of(article.path)
        if name is None:
            return None
        named = clean(article.title)
        title = named if article.title != article.path else clean(name.replace("_", " "))
        others = dict.fromkeys(map(clean, article.other_titles))
        return bad_id(name, where) or Page(
            id=name,
            title=title or name,
            url=self.paths.url_of(name, title),
            text=article.text,
            other_titles=tuple(other for other in others if other and other != title),
        )


def _address_of(facts: Facts, stem: str) -> str:
    """Return the address of a wiki's articles without their names, "" if it is not known."""
    metadata = facts.metadata
    source = metadata.get("Source", "")
    parts = urlsplit(source if "://" in source else f"https://{source}")
    by_mwoffliner = "mwoffliner" in metadata.get("Scraper", "mwoffliner").lower()
    if by_mwoffliner and parts.scheme in {"http", "https"} and _HOST.fullmatch(parts.netloc):
        return f"{parts.scheme}://{parts.netloc}/wiki/"
    for name in (metadata.get("Name", ""), stem):
        if found := _OF_WIKIMEDIA.search(name.lower()):
            return f"https://{found[3] or found[2]}.{found[1]}.org/wiki/"
    return ""
