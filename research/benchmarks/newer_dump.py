"""Two versions of the same pages, of which 95 % are unchanged: what an update of an index reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

# Of 100 pages one is gone, one is new, and three have another sentence.
_GONE, _NEW, _CHANGED = {20}, {50}, {10, 40, 70}
Page = TypeVar("Page")


def older(pages: Iterable[Page]) -> Iterator[Page]:
    """Yield the pages of the older dump."""
    return (page for number, page in enumerate(pages) if number % 100 not in _NEW)


def newer(pages: Iterable[Page], change: Callable[[Page], Page]) -> Iterator[Page]:
    """Yield the pages of the newer dump; ``change`` returns a page with another sentence."""
    for number, page in enumerate(pages):
        if number % 100 not in _GONE:
            yield change(page) if number % 100 in _CHANGED else page
