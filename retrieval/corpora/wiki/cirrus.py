"""``cirrus:PATH``: a dump of Wikimedia's search index, which has articles as plain text.

Their introductions are read, and with ``cirrus-whole:PATH`` (``--whole``) all of them. The text has
no headings, and of a table only its words. Where a section begins is found by its first words in
the wikitext, which most dumps have too.

One file (``enwiki-20251027-cirrussearch-content.json.gz``), or a folder of parts
(``enwiki_content-20251027-00000.json.bz2``). Before the line of a document comes a line with its
number.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from retrieval.corpora.cleaning import clean, without_pronunciations
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.folder.document import Headings
from retrieval.corpora.json_lines import FilesCorpus, Records, opened
from retrieval.corpora.passages import APPENDICES, Block
from retrieval.corpora.wiki.article import whole_article

_NAMED = re.compile(r"([a-z][a-z0-9_]*?)(?:_(?:content|general))?-(\d{4})(\d\d)(\d\d)-", re.ASCII)
_WIKI = re.compile(
    r"([a-z_]+?)(wiki(?:books|news|quote|source|versity|voyage)?|wiktionary)", re.ASCII
)
# Their names begin with no language.
_NO_LANGUAGE = {
    *("commons", "incubator", "mediawiki", "meta", "outreach", "sources", "species"),
    *("wikidata", "wikimania"),
}
_ACTIONS = {"index", "create"}
_PARAGRAPH = 2000  # most characters of the beginning of a text without an introduction
_NAVIGATION = "v t e "  # the links to view, discuss and change a box, with which it begins
_HEADING = re.compile(r"^(={2,6})[ \t]*(\S.*?)[ \t]*\1[ \t]*$", re.MULTILINE)
# A line of wikitext that is a template, a table, a picture or a comment.
_NO_TEXT = re.compile(r"\s*(?:[{}|!<]|\[\[(?:File|Image):)", re.IGNORECASE)
_MARKUP = re.compile(
    r"<ref[^<>]*/>|<ref.*?</ref>|<[^<>]*>|\{\{[^{}]*\}\}|'{2,}"
    r"|\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"
)
_WORD = re.compile(r"\w+")
_FEWEST, _MOST = 3, 8  # words that a section is found by
_ENDS = 1 << 20  # bytes at each end of a file that its fingerprint contains


def wiki_named(name: str) -> tuple[str, str]:
    """Return the language of a wiki like ``enwiki``, and the address of its articles; or "", ""."""
    found = _WIKI.fullmatch(name)
    if not found or found[1] in _NO_LANGUAGE:
        return "", ""
    code = found[1].replace("_", "-")
    project = "wikipedia" if found[2] == "wiki" else found[2]
    return "en" if code == "simple" else code, f"https://{code}.{project}.org/wiki/"


class CirrusCorpus(FilesCorpus):
    """The articles of a dump; an article's title is its id."""

    def __init__(self, place: Path, *, whole: bool = False) -> None:
        """Find the files; ``whole``: the articles are read to their end.

        Raises:
            BadSource: there are none.
        """
        kind = "cirrus-whole" if whole else "cirrus"
        super().__init__(kind, place, (".json.gz", ".json.bz2", ".json"))
        self._whole = whole
        found = _NAMED.match(self.files[0].name)
        self.date = "-".join(found.groups()[1:]) if found else ""
        self.language, self._address = wiki_named(found[1] if found else "")

    def fingerprint(self) -> str:
        """Return a digest of the files' names, sizes, and first and last bytes.

        Reading 50 GB would take minutes. A compressed file ends with a checksum of its content.
        """
        digest = hashlib.sha256()
        for path in self.files:
            with opened(path) as stream:
                size = os.fstat(stream.fileno()).st_size
                digest.update(f"{path.name}\n{size}\n".encode("utf-8", "surrogateescape"))
                digest.update(stream.read(_ENDS))
                stream.seek(max(size - _ENDS, 0))
                digest.update(stream.read(_ENDS))
        return digest.hexdigest()

    def chunks(self) -> Iterator[tuple[Records, int]]:
        """Yield the lines in order of the files' names."""
        pages = partial(_pages, address=self._address, whole=self._whole)
        return self.in_chunks(Records(pages))


def _pages(
    where: str, record: dict[str, Any], address: str, whole: bool
) -> Iterator[Page | BadPage]:
    """Yield an article; pages of other namespaces, and those without text, are skipped."""
    if not (len(record) == 1 and _ACTIONS & record.keys()) and _is_article(record):
        page = _page(record, where, address)
        if isinstance(page, Page) and whole:
            yield from _whole(page, record)
        elif page is not None:
            yield page


def _is_article(record: dict[str, Any]) -> bool:
    return bool(record.get("namespace", 0) == 0)


def _page(record: dict[str, Any], where: str, address: str) -> Page | BadPage | None:
    if not isinstance(record.get("title"), str):
        return BadPage(f"{where}: no text under 'title'.", "Correct or remove that line.")
    title = clean(record["title"])
    texts = (_text(record, "opening_text"), _first_paragraph(_text(record, "text")))
    text = next(filter(None, map(clean, map(without_pronunciations, texts))), "")
    if not text:
        return None
    return bad_id(title, where) or Page(
        id=title,
        title=title,
        url=address + quote(title.replace(" ", "_")) if address else None,
        text=text,
        other_titles=tuple(other for other in _redirects(record) if other and other != title),
    )


def _whole(page: Page, record: dict[str, Any]) -> Iterator[Page]:
    """Yield an article in passages: its introduction, its tables, then its sections."""
    opening, text = _text(record, "opening_text"), _text(record, "text")
    lead = []
    if opening and text.startswith(opening):
        lead, text = [Block(page.text)], text[len(opening) :]
    blocks = [*lead, *_tables(record), *_sections(text, _text(record, "source_text"))]
    yield from whole_article(replace(page, text=""), blocks, {})


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value.strip() if isinstance(value, str) else ""


def _tables(record: dict[str, Any]) -> Iterator[Block]:
    """Yield the words of each table, without those that lead to other articles."""
    tables = record.get("auxiliary_text")
    for text in tables if isinstance(tables, list) else ():
        if isinstance(text, str) and not text.startswith(_NAVIGATION):
            yield Block(text, kind="row")


def _sections(text: str, source: str) -> Iterator[Block]:
    """Yield the paragraphs of a text, with their headings where the wikitext shows their bounds."""
    headings = Headings("")
    begins: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    found = [*_HEADING.finditer(source)]
    for heading, following in zip_longest(found, found[1:]):
        headings.add(len(heading[1]), _without_markup(heading[2]))
        end = following.start() if following else len(source)
        words = _first_words(source[heading.end() : end])
        if not words:
            continue
        begin, _ = begins[-1]
        place = re.compile(r"\b" + r"\W+".join(words) + r"\b").search(text, begin)
        if place is None:  # and where the section before it ends is not known
            begins[-1] = begin, ()
        else:
            begins.append((place.start(), headings.section))
    for (begin, section), (stop, _) in pairwise([*begins, (len(text), ())]):
        if APPENDICES.isdisjoint(section):
            anchor = section[-1].replace(" ", "_") if section else None
            for paragraph in text[begin:stop].split("\n"):
                yield Block(paragraph, section, anchor=anchor)


def _first_words(section: str) -> list[str]:
    """Return the first words of a section that its plain text begins with, too."""
    for line in section.split("\n"):
        if not _NO_TEXT.match(line):
            words = _WORD.findall(_without_markup(line))
            if len(words) >= _FEWEST:
                return words[:_MOST]
    return []


def _without_markup(line: str) -> str:
    return _MARKUP.sub(lambda found: found[1] or "", line)


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
