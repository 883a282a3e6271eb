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


class Corpus(Protocol):
    """A named source of pages.

    Iterating twice gives the same pages in the same order, which is what makes
    an interrupted build resumable.
    """

    name: str
    source: str

    def fingerprint(self) -> str:
        """Return a digest that changes when the source's content does."""
        ...

    def __len__(self) -> int:
        """Return how many pages there are."""
        ...

    def __iter__(self) -> Iterator[Page]:
        """Yield the pages.

        Raises:
            BadSource: a page cannot be read; the message names file and line.
        """
        ...
