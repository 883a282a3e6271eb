"""Takes the entries of unchanged documents from the version that a build updates.

An entry is stored with a digest of its record and its vectors. The record of a page is made again
from the page and the stored sentences. If it and the stored vectors have the stored digest, the
page is unchanged and its entry is whole, so the page is neither split nor encoded again.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.batches import batched
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.entries import Hit, digest_of, entry_of, id_in, key_of, value_in
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.formats.records import record_of

_AT_ONCE = 1000  # pages whose entries are read in one request
_VECTORS = {"code": np.int8, "sentence_codes": np.uint8}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OldVersion:
    """The version that a build updates, and the length of its vectors, 0 without vectors."""

    location: ElasticLocation
    version: str
    dimension: int


class UnchangedEntries:
    """Reads the entries of a version, with connections of its own; each process has its own."""

    def __init__(self, before: OldVersion) -> None:
        """Store the version; no request is sent yet."""
        self._cluster = Cluster(before.location)
        self._version = before.version
        self._vectors = _VECTORS if before.dimension else {}
        self._readable = True

    def of(self, pages: Sequence[Page]) -> list[dict[str, Any] | None]:
        """Return the entry of each page without its plan; None if the page must be made again.

        That is so if the page is new, has changed, or its entry is damaged or cannot be read.
        """
        entries: list[dict[str, Any] | None] = []
        for some in batched(pages, _AT_ONCE):
            hits = self._hits(some)
            entries += [self._unchanged(page, hits.get(page.id)) for page in some]
        return entries

    def _hits(self, pages: Sequence[Page]) -> dict[str, Hit]:
        """Return the stored entries with the ids of the pages; none if they cannot be read.

        Of the record only the sentences are read: the texts may be longer than those of the pages.
        """
        body = {
            "query": {"ids": {"values": list({key_of(page.id) for page in pages})}},
            "size": len(pages),
            "docvalue_fields": ["id", "digest", *self._vectors],
            "_source": ["record.sentences"],
            "track_total_hits": False,
        }
        try:
            (hits,) = self._cluster.searches(self._version, [body], patient=True)
        except IndexUnavailable as error:
            if self._readable:
                logger.warning("Unchanged documents may be made again: %s", error)
            self._readable = False
            return {}
        return {id_in(hit): hit for hit in hits}

    def _unchanged(self, page: Page, hit: Hit | None) -> dict[str, Any] | None:
        if hit is None:
            return None
        sentences = hit.get("_source", {}).get("record", {}).get("sentences", ())
        stored = ((value_in(hit, field) or "", kind) for field, kind in self._vectors.items())
        vectors = [np.frombuffer(base64.b64decode(text), kind) for text, kind in stored]
        record = record_of(page, sentences)
        if digest_of(record, *vectors) != value_in(hit, "digest"):
            return None
        return entry_of(record, *vectors)
