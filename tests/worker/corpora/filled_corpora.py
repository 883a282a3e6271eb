"""Uploads files to a corpus and indexes it, as the pages and a worker do."""

from __future__ import annotations

import io

from tests.support.corpora import for_workers
from tests.support.encoders import WordEncoder
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.indexing import index_corpus
from worker.corpora.uploads import Upload, receive

# Most bytes of an upload.
MOST = 1_000_000


def upload(store: CorpusStore, name: str, **files: str | bytes) -> None:
    """Upload files; of their names the last underscore stands for a dot."""
    uploads = [
        Upload(".".join(file.rsplit("_", 1)), io.BytesIO(c.encode() if isinstance(c, str) else c))
        for file, c in files.items()
    ]
    with store.receiving() as place:
        received = receive(uploads, place, MOST)
        store.add(name, received.files, received.left_out)


def index(store: CorpusStore, name: str) -> None:
    index_corpus(for_workers(store), name, WordEncoder)
