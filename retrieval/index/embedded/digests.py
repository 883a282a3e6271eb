"""Digests of all that a version consists of, and whether it still is as it was built."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from retrieval.index.embedded.database import connected
from retrieval.index.embedded.documents import digest_of_documents
from retrieval.index.embedded.layout import DATABASES, DOCUMENTS, VECTORS
from retrieval.index.embedded.meta import EmbeddedMeta, Stored
from retrieval.index.embedded.vectors import digest_of_vectors
from retrieval.index.errors import damaged
from retrieval.system.files import digest_of

DIGESTS = {DOCUMENTS: digest_of_documents, VECTORS: digest_of_vectors}


def verify(index: Path, version: Path, meta: EmbeddedMeta) -> None:
    """Read a version and compare it with its digests.

    Raises:
        IndexUnavailable: something is not what was built.
    """
    for name, (_, digest) in meta.files.items():
        if digest_of(version / name) != digest:
            raise damaged(meta.fix(), Path(name).name)
    for kind, stored in meta.stored.items():
        if stored.name and not _is_whole(index / DATABASES / stored.name, kind, stored):
            raise damaged(meta.fix(), stored.name)


def _is_whole(path: Path, kind: str, stored: Stored) -> bool:
    try:
        with closing(connected(path)) as connection:
            # What documents are found by, which the digests say nothing about.
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return False
        first = 0
        for count, digest in stored.parts:
            if DIGESTS[kind](path, first, first + count) != digest:
                return False
            first += count
    except (OSError, sqlite3.Error, ValueError):
        return False
    return True
