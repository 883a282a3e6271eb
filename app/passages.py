"""Which documents of a claim document are passages of the same long document, by their ids."""

from __future__ import annotations

import re
from typing import NamedTuple

from retrieval.result import Document

_NUMBER = re.compile(r"#(\d{1,9})\Z", re.ASCII)


class WholeDocument(NamedTuple):
    """What the passages of a long document have in common."""

    id: str
    title: str


def whole_document(read: Document) -> WholeDocument:
    """Return the long document that a passage belongs to; of any other document, itself.

    A document that is no passage may have an id that ends like that of a passage ("Album #1").
    Such documents differ in their titles.
    """
    return WholeDocument(_NUMBER.sub("", read.id), read.title)


def passage_number(read: Document) -> int | None:
    """Return the number of a passage, from 1, or ``None`` if the id has none."""
    found = _NUMBER.search(read.id)
    return int(found[1]) if found else None
