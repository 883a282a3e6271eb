"""The corpora of a test, as workers see them."""

from __future__ import annotations

from worker.corpora.builder import IndexingStore
from worker.corpora.corpus_store import CorpusStore


def for_workers(store: CorpusStore) -> IndexingStore:
    """Return the store of the workers over the same folders."""
    return IndexingStore(store.root, store.folders)
