"""A store of corpora that may have the folder ``minutes``, filled as in the service."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

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


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May. It voted for the new pier.")
    return CorpusStore(tmp_path / "documents", {"minutes": minutes})
