"""Takes items a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of ``size``, the last one of fewer."""
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some
