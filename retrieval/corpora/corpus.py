"""The interface of a corpus that an index is built from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Protocol

from retrieval.errors import BadSource
from retrieval.system.fixes import install_extra_command

TICKED_BOX = "\N{BALLOT BOX WITH X}"
EMPTY_BOX = "\N{BALLOT BOX}"  # at the beginning of a sentence: it is shown, and states nothing


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a page stands in a long document, which is read in passages.

    ``document``: the id of the whole document. ``number``: 1 for its first passage, which alone is
    found by the title. ``section``: the headings above the passage, the outermost first.
    ``page``: the number of the page in the file, from 1; ``None`` if the file has no pages.
    """

    document: str
    number: int
    section: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A document before it is split and encoded, or a passage of a long one.

    ``sentences`` is set if the source has split the text (FEVER: the position in the tuple is the
    sentence id, and an empty string is an id without text); otherwise it is ``None`` and ``text``
    is split. ``links``: for each of these sentences the titles of the pages that it links to; empty
    if the source has no links. ``other_titles``: titles of redirects, which find it too.
    ``passage`` is ``None`` unless the source knows pages or sections. ``source``: what it is
    credited to, "" where its address or the name of the corpus says that. ``date``: the day of the
    text, ISO 8601, "" if it has none of its own.
    """

    id: str
    title: str
    url: str | None
    text: str
    sentences: tuple[str, ...] | None = None
    links: tuple[tuple[str, ...], ...] = ()
    other_titles: tuple[str, ...] = ()
    passage: Passage | None = None
    # Not in ``repr``, whose digest tells unchanged pages; they are added to that where they are.
    source: str = field(default="", repr=False)
    date: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class BadPage:
    """A page that cannot be read: its file and line, what is wrong, and how to fix it."""

    message: str
    hint: str


class Chunk(Protocol):
    """Consecutive pages of a source that fit into memory; another process may read them."""

    def __iter__(self) -> Iterator[Page | BadPage]: ...


class Corpus(Protocol):
    """A named source of pages.

    Every call gives the same chunks of the same pages in the same order, so that an interrupted
    build can be resumed. Of two pages with the same id the later one is used.

    ``date``: the day of the newest text, ISO 8601, "" if unknown. ``language``: its code in ISO 639
    ("en", "eng"), "" if unknown.
    """

    name: str
    source: str
    date: str
    language: str

    def fingerprint(self) -> str:
        """Return a digest that changes when the source's content does; may raise ``BadSource``."""
        ...

    def size(self) -> int:
        """Return the amount to read, in the unit of ``chunks``."""
        ...

    def chunks(self) -> Iterator[tuple[Chunk, int]]:
        """Yield the pages in chunks, each with its part of ``size``; may raise ``BadSource``."""
        ...


def check_library(name: str, kind: str, extra: str) -> None:
    """Check that what reads a kind of files is installed; ``BadSource`` says how to install it."""
    if find_spec(name) is None:
        message = f"{kind} files are read with {name}, which is not installed."
        raise BadSource("library_missing", message, f"Run: {install_extra_command(extra)}")


def kind_of(source: str) -> str:
    """Return ``jsonl`` of ``jsonl:FILE``."""
    return source.partition(":")[0]


def readable_pages(corpus: Corpus) -> Iterator[Page]:
    """Yield the pages that can be read; if two have the same id, both."""
    for chunk, _ in corpus.chunks():
        yield from (page for page in chunk if isinstance(page, Page))


def bad_id(page_id: str, where: str) -> BadPage | None:
    """Return the error of an id that is empty or cannot be written as UTF-8."""
    if not page_id:
        return BadPage(f"{where}: the id is empty.", "Give it one.")
    if any("\ud800" <= c <= "\udfff" for c in page_id):
        return BadPage(f"{where}: the id contains half a character.", "Correct that line.")
    return None
