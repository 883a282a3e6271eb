"""A build in a process of its own, which a test may end where it likes.

``python -m tests.retrieval.index.elastic.building URL FOLDER [END]``: END is ``chunk`` to end like
a crash when the third chunk is asked for, or ``swap`` before the alias changes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch

from retrieval.corpora.corpus import Page
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from tests.retrieval.index.pages import ListCorpus
from tests.support.encoders import WordEncoder

MANY = tuple(Page(f"p{n}", f"Page {n}", None, f"It is number {n} of many.") for n in range(1500))


class EndingCorpus(ListCorpus):
    """Ends the process when the third chunk is asked for."""

    def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
        """Yield two, then end."""
        for number, chunk in enumerate(super().chunks()):
            if number == 4:
                os._exit(9)
            yield chunk


def _end(*_: Any, **__: Any) -> None:
    os._exit(9)


if __name__ == "__main__":
    url, folder, *end = sys.argv[1:]
    if end == ["swap"]:
        kind = type(Elasticsearch("http://127.0.0.1:1").indices)
        kind.update_aliases = _end  # type: ignore[method-assign, assignment]
    corpus = EndingCorpus(MANY) if end == ["chunk"] else ListCorpus(MANY)
    ElasticIndex(ElasticLocation.read(url), Path(folder)).build(corpus, WordEncoder())
