"""What the index builder asks of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Page:
    """A document before it is split and encoded.

    ``sentences`` is set where the source fixes the split (FEVER does: the
    position in the tuple is the sentence id, and an empty string is an id that
    holds no text); otherwise it is ``None`` and ``text`` is split. ``links``: for each
    of these sentences the titles of the pages that it links to; empty where the
    source has no links.
    """

    id: str
    title: str
    url: str | None
    text: str
    sentences: tuple[str, ...] | None = None
    links: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class BadPage:
    """A page that cannot be read: its file and line and what is wrong, and what to do."""

    message: str
    hint: str


class Chunk(Protocol):
    """Some pages that lie together, few enough for the memory; another process may read them."""

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield them in order."""
        ...


class Corpus(Protocol):
    """A named source of pages.

    Asking twice gives the same chunks of the same pages in the same order, which is
    what makes an interrupted build resumable. Of two pages with one id the later
    one counts.
    """

    name: str
    source: str

    def fingerprint(self) -> str:
        """Return a digest that changes when the source's content does.

        Raises:
            BadSource: a file cannot be read.
        """
        ...

    def size(self) -> int:
        """Return how much there is to read, in the unit of ``chunks``."""
        ...

    def chunks(self) -> Iterator[tuple[Chunk, int]]:
        """Yield the pages chunk by chunk, each with how much of ``size`` it is.

        Raises:
            BadSource: a file cannot be read.
        """
        ...


def readable_pages(corpus: Corpus) -> Iterator[Page]:
    """Yield the pages that can be read, two of one id both."""
    for chunk, _ in corpus.chunks():
        yield from (page for page in chunk if isinstance(page, Page))
