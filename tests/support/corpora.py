"""The corpora of a test, as workers see them."""

from __future__ import annotations

from worker.corpora.corpus_store import CorpusStore
from worker.corpora.indexing_store import IndexingStore


def for_workers(store: CorpusStore) -> IndexingStore:
    """Return the store of the workers over the same folders."""
    return IndexingStore(store.root, store.folders)
