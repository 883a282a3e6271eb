"""Makes entries for Elasticsearch from pages, or from documents that are split already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from retrieval.corpora.corpus import Chunk, Page
from retrieval.index.building import pages_in, prepare_networks
from retrieval.index.elastic.entries import LONGEST_ID, LONGEST_TEXT, entry_of
from retrieval.index.elastic.unchanged import OldVersion, UnchangedEntries
from retrieval.index.formats.codes import as_bytes, codes, rotation
from retrieval.index.formats.records import Record, encodable, records_of
from retrieval.models.encoders import DocumentEncoder
from retrieval.text.sentence_splitter import shared_splitter


@dataclass(frozen=True, slots=True)
class SplitDocuments:
    """Documents that are split already."""

    records: list[Record]


Item: TypeAlias = Chunk | SplitDocuments


@dataclass(frozen=True, slots=True)
class MadeEntries:
    """The entries of an item.

    Attributes:
        entries: the documents to send to Elasticsearch.
        pages: how many pages could be read.
        bad: the errors of the others.
    """

    entries: list[dict[str, Any]]
    pages: int
    bad: list[str]


class EntryMaker:
    """Makes the entries of items; each process has its own."""

    def __init__(
        self,
        encoder: DocumentEncoder | None,
        plan: str,
        threads: int,
        networks: Path | None,
        before: OldVersion | None = None,
    ) -> None:
        """Make entries with vectors of ``encoder``, if there is one, that belong to ``plan``.

        ``threads``: how many the encoder may use if there is only one process. ``networks``: the
        folder of converted networks. ``before``: the version that unchanged documents are taken
        from.
        """
        prepare_networks(threads, networks)
        self._encoder = encoder
        self._plan = plan
        self._splitter = shared_splitter()
        self._turn = rotation(encoder.dimension) if encoder is not None else None
        self._unchanged = UnchangedEntries(before) if before is not None else None

    def __call__(self, item: Item) -> MadeEntries:
        """Return the entries of an item."""
        if isinstance(item, SplitDocuments):
            return MadeEntries(self._entries(item.records), len(item.records), [])
        read, unread = pages_in(item)
        pages = [page for page in read if not _too_long(page)]
        bad = [f"{page.message} {page.hint}" for page in unread]
        bad += [reason for page in read if (reason := _too_long(page))]
        unchanged = self._unchanged.of(pages) if self._unchanged else [None] * len(pages)
        changed = [page for page, entry in zip(pages, unchanged, strict=True) if entry is None]
        new = iter(self._entries(records_of(changed, self._splitter)))
        # In the order of the pages: of two with one id, the later one is used.
        entries = [next(new) if entry is None else self._planned(entry) for entry in unchanged]
        return MadeEntries(entries, len(pages), bad)

    def _entries(self, records: Sequence[Record]) -> list[dict[str, Any]]:
        if self._encoder is None or self._turn is None:
            return [self._planned(entry_of(record)) for record in records]
        if not records:
            return []
        whole, sentences = self._encoder.encode_documents([encodable(r) for r in records])
        return [
            self._planned(entry_of(record, code, codes(own @ self._turn)))
            for record, code, own in zip(records, as_bytes(whole), sentences, strict=True)
        ]

    def _planned(self, entry: dict[str, Any]) -> dict[str, Any]:
        return entry | {"plan": self._plan}


def _too_long(page: Page) -> str:
    """Return why Elasticsearch would refuse a page, "" if it would not."""
    if len(page.id) > LONGEST_ID:
        return f"A page has an id of {len(page.id)} characters. Give it one of {LONGEST_ID}."
    if len(page.text) + sum(map(len, page.sentences or ())) > LONGEST_TEXT:
        return f"The page {page.id!r} is longer than {LONGEST_TEXT} characters. Split it."
    return ""
