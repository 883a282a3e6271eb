"""The corpora of a test: files that are uploaded and indexed, and stores as workers see them."""

import io

from tests.support.encoders import WordEncoder
from worker.corpora.builder import IndexingStore
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.indexing import index_corpus
from worker.corpora.uploads import Upload, receive

# Most bytes of an upload.
MOST = 1_000_000


def for_workers(store: CorpusStore) -> IndexingStore:
    """Return the store of the workers over the same folders."""
    return IndexingStore(store.root, store.folders)


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
    """Index a corpus as a worker does, with an encoder that counts words."""
    index_corpus(for_workers(store), name, WordEncoder)
