"""``cirrus:PATH``: a dump of Wikimedia's search index, which has the introductions as plain text.

One file (``enwiki-20251027-cirrussearch-content.json.gz``), or a folder of parts
(``enwiki_content-20251027-00000.json.bz2``). Before the line of a document comes a line with its
number.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from retrieval.corpora.cleaning import clean, without_pronunciations
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.json_lines import LineBlock, files_in, opened, unpacked
from retrieval.errors import BadSource

_SUFFIXES = (".json.gz", ".json.bz2", ".json")
_NAMED = re.compile(r"([a-z][a-z0-9_]*?)(?:_(?:content|general))?-(\d{4})(\d\d)(\d\d)-", re.ASCII)
_PROJECTS = {"wiki": "wikipedia"} | {
    name: name
    for name in (
        *("wikibooks", "wikinews", "wikiquote", "wikisource", "wikiversity", "wikivoyage"),
        "wiktionary",
    )
}
_WIKI = re.compile(rf"([a-z_]+?)({'|'.join(_PROJECTS)})")
# Their names begin with no language.
_NO_LANGUAGE = {"commons", "incubator", "mediawiki", "meta", "outreach", "sources", "species"} | {
    "wikidata",
    "wikimania",
}
_ACTIONS = {"index", "create"}
_PARAGRAPH = 2000  # most characters of the beginning of a text without an introduction
_ENDS = 1 << 20  # bytes at each end of a file that its fingerprint contains


@dataclass(frozen=True, slots=True)
class Wiki:
    """A wiki of Wikimedia: its language, and the address of its articles; "" if not known."""

    language: str
    address: str

    @classmethod
    def named(cls, name: str) -> Wiki:
        """Return the one of a name like ``enwiki``."""
        found = _WIKI.fullmatch(name)
        if not found or found[1] in _NO_LANGUAGE:
            return cls("", "")
        code = found[1].replace("_", "-")
        address = f"https://{code}.{_PROJECTS[found[2]]}.org/wiki/"
        return cls("en" if code == "simple" else code, address)


class CirrusCorpus:
    """The articles of a dump; an article's title is its id."""

    def __init__(self, place: Path) -> None:
        """Find the files.

        Raises:
            BadSource: there are none.
        """
        self._files = files_in(place, _SUFFIXES)
        if not self._files:
            raise BadSource(
                "source_missing",
                f"{place} contains no .json.gz or .json.bz2 files.",
                "Give a dump of Wikimedia's search index, or the folder of its parts: cirrus:PATH.",
            )
        name = place.resolve().name
        self.name = next((name.removesuffix(s) for s in _SUFFIXES if name.endswith(s)), name)
        self.source = f"cirrus:{place.resolve()}"
        found = _NAMED.match(self._files[0].name)
        self.date = "-".join(found.groups()[1:]) if found else ""
        self._wiki = Wiki.named(found[1] if found else "")
        self.language = self._wiki.language

    def fingerprint(self) -> str:
        """Return a digest of the files' names, sizes, and first and last bytes.

        Reading 50 GB would take minutes. A compressed file ends with a checksum of its content.
        """
        digest = hashlib.sha256()
        for path in self._files:
            with opened(path) as stream:
                size = os.fstat(stream.fileno()).st_size
                digest.update(f"{path.name}\n{size}\n".encode("utf-8", "surrogateescape"))
                digest.update(stream.read(_ENDS))
                stream.seek(max(size - _ENDS, 0))
                digest.update(stream.read(_ENDS))
        return digest.hexdigest()

    def size(self) -> int:
        """Return the bytes of the files, as they are compressed."""
        return sum(path.stat().st_size for path in self._files)

    def chunks(self) -> Iterator[tuple[CirrusChunk, int]]:
        """Yield the lines in order of the files' names."""
        for path in self._files:
            with unpacked(path) as content:
                for block, size in content.line_blocks(str(path)):
                    yield CirrusChunk(block, self._wiki), size


@dataclass(frozen=True, slots=True)
class CirrusChunk:
    """Some lines of a file."""

    block: LineBlock
    wiki: Wiki

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the articles; pages of other namespaces, and those without text, are skipped."""
        for where, record in self.block.records(()):
            if isinstance(record, BadPage):
                yield record
            elif not (len(record) == 1 and _ACTIONS & record.keys()) and _is_article(record):
                page = _page(record, where, self.wiki)
                if page is not None:
                    yield page


def _is_article(record: dict[str, Any]) -> bool:
    return bool(record.get("namespace", 0) == 0)


def _page(record: dict[str, Any], where: str, wiki: Wiki) -> Page | BadPage | None:
    if not isinstance(record.get("title"), str):
        return BadPage(f"{where}: no text under 'title'.", "Correct or remove that line.")
    title = clean(record["title"])
    text = _introduction(record)
    if not text:
        return None
    return bad_id(title, where) or Page(
        id=title,
        title=title,
        url=wiki.address + quote(title.replace(" ", "_")) if wiki.address else None,
        text=text,
        other_titles=tuple(other for other in _redirects(record) if other and other != title),
    )


def _introduction(record: dict[str, Any]) -> str:
    for key in ("opening_text", "text"):
        value = record.get(key)
        text = value.strip() if isinstance(value, str) else ""
        if key == "text":
            text = _first_paragraph(text)
        if text := clean(without_pronunciations(text)):
            return text
    return ""


def _first_paragraph(text: str) -> str:
    paragraph = text.partition("\n")[0]
    if len(paragraph) <= _PARAGRAPH:
        return paragraph
    # Some dumps have the paragraphs of a text on one line.
    end = paragraph.rfind(". ", 0, _PARAGRAPH)
    return paragraph[: end + 1] if end >= 0 else paragraph[:_PARAGRAPH]


def _redirects(record: dict[str, Any]) -> dict[str, None]:
    redirects = record.get("redirect")
    return {
        clean(redirect["title"]): None
        for redirect in (redirects if isinstance(redirects, list) else ())
        if isinstance(redirect, dict)
        and isinstance(redirect.get("title"), str)
        and _is_article(redirect)
    }
