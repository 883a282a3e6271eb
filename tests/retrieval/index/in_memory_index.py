"""An index of plain Python values, which builds and changes by starting over: the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from retrieval.corpora.corpus import Corpus, Page, readable_pages
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.errors import other_encoder, unknown_document
from retrieval.index.interface import (
    BadPages,
    BuildProgress,
    Index,
    IndexInfo,
    ProgressListener,
    ignore_progress,
)
from retrieval.models.encoders.encoder import DocumentEncoder
from tests.retrieval.index.in_memory_store import InMemoryStore


class InMemoryIndex(Index):
    """All pages in a list, and what makes their vectors."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._pages: list[Page] | None = None
        self._encoder: DocumentEncoder | None = None
        self._changes = 0

    def open(self, query_encoder: str | None) -> InMemoryStore:
        if self._pages is None:
            raise IndexUnavailable("index_missing", "There is no index yet.", "Build one.")
        if (
            query_encoder is not None
            and self._encoder is not None
            and self._encoder.query_encoder != query_encoder
        ):
            raise other_encoder(self._encoder.name, query_encoder)
        return InMemoryStore(self._pages, self._encoder)

    def version(self) -> str:
        return str(self._changes)

    def needs_build(self, source: str) -> Literal["missing", "outdated"] | None:
        return "missing" if self._pages is None else None

    def verify(self) -> None:
        self.open(None)

    def diagnose(self) -> None:
        """Nothing of it can be damaged."""
        self.verify()

    def bad_pages(self) -> BadPages:
        self.open(None)
        return BadPages("", "")

    def unfinished(self) -> list[str]:
        return []

    def prune(self) -> list[str]:
        return []

    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        return self._changed([], list(readable_pages(corpus)), encoder, on_progress)

    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        before = self.open(None).info()
        name = encoder.name if encoder is not None else ""
        if before.encoder != name:
            raise other_encoder(before.encoder, name)
        assert self._pages is not None
        return self._changed(self._pages, list(readable_pages(corpus)), encoder, on_progress)

    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = ignore_progress
    ) -> IndexInfo:
        self.open(None)
        assert self._pages is not None
        count = len(self._pages)
        on_progress(BuildProgress("encoding", count, count, count))
        return self._now(self._pages, encoder)

    def remove(self, ids: Sequence[str]) -> IndexInfo:
        self.open(None)
        assert self._pages is not None
        known = {one for page in self._pages for one in (page.id, _whole(page))}
        for document_id in ids:
            if document_id not in known:
                raise unknown_document(document_id)
        return self._now(
            [page for page in self._pages if page.id not in ids and _whole(page) not in ids],
            self._encoder,
        )

    def _changed(
        self,
        before: Sequence[Page],
        new: Sequence[Page],
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener,
    ) -> IndexInfo:
        if not new:
            raise BadSource("source_empty", "memory holds no page.", "Name one that holds some.")
        on_progress(BuildProgress("reading", len(new), len(new), len(new)))
        if encoder is not None:
            on_progress(BuildProgress("encoding", len(new), len(new), len(new)))
        read = {_whole(page) for page in new}
        pages = {p.id: p for p in [*(p for p in before if _whole(p) not in read), *new]}
        info = self._now(list(pages.values()), encoder)
        return replace(info, superseded=len(new) - len({page.id for page in new}))

    def _now(self, pages: list[Page], encoder: DocumentEncoder | None) -> IndexInfo:
        self._pages, self._encoder = pages, encoder
        self._changes += 1
        return self.open(None).info()


def _whole(page: Page) -> str:
    return page.passage.document if page.passage else page.id
