"""The corpora for workers: what is to be indexed, how far it is, and what is swept away."""

from __future__ import annotations

import fcntl
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from retrieval.errors import Problem
from worker.corpora.corpus_folders import INDEXING, CorpusFolders, write
from worker.corpora.errors import UnknownCorpus
from worker.corpora.records import Indexing

# Corpora that are indexed at once, so that a large one keeps nobody waiting alone.
AT_ONCE = 2
_INDEXED = "indexed"  # the lock of who indexes a corpus
_MOST_DEATHS = 3
_LEFT_FOR = 24 * 3600  # seconds that remains of an upload may be there


class IndexingStore(CorpusFolders):
    """The corpora, for the processes that index them."""

    def report(self, name: str, indexing: Indexing) -> None:
        """Write how far the indexing is, unless the corpus was removed."""
        with self.writing():
            try:
                write(self.place(name) / INDEXING, indexing)
            except FileNotFoundError:
                return

    def report_death(self, name: str) -> None:
        """Write that the process that indexes a corpus ended unexpectedly."""
        try:
            wanted = self.corpus(name).wanted
        except UnknownCorpus:
            return
        known = self.indexing(name)
        indexing = known if known and known.of == wanted else Indexing(of=wanted)
        changes: dict[str, object] = {"deaths": indexing.deaths + 1}
        if indexing.deaths + 1 >= _MOST_DEATHS:
            problem = Problem(
                "indexing_ended",
                "The process that indexes the files ended unexpectedly, several times.",
                "There may be too little memory; worker.log in ESOTERIC_HOME/logs says more. Then"
                " choose “Index again”.",
            )
            changes |= {"step": "failed", "problem": problem}
        self.report(name, indexing.model_copy(update=changes))

    def drop_index(self, name: str) -> None:
        """Remove the index of a corpus, because none of its files can be read any more."""
        index = self.index(name)
        if index.is_dir():
            gone = self.root / f".gone-{secrets.token_hex(4)}"
            index.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def sweep(self) -> None:
        """Remove the remains of what was removed, or not uploaded to the end."""
        for gone in self.root.glob(".gone-*"):
            shutil.rmtree(gone, ignore_errors=True)
        for incoming in self.root.glob(".incoming-*"):
            try:
                old = time.time() - incoming.stat().st_mtime > _LEFT_FOR
            except OSError:  # its upload has ended
                continue
            if old:
                shutil.rmtree(incoming, ignore_errors=True)

    @contextmanager
    def next_to_index(self) -> Iterator[str | None]:
        """Yield the corpus that has waited longest; nobody else indexes it meanwhile.

        ``None``: none waits, or as many as may be are indexed by all processes together.
        """
        with ExitStack() as held:
            slots = (self.root / f".indexing-{number}" for number in range(AT_ONCE))
            if self.to_index() and any(held.enter_context(_locked(slot)) for slot in slots):
                for name in self.to_index():
                    lock = self.place(name) / _INDEXED
                    # Another process may have indexed it until now.
                    if held.enter_context(_locked(lock)) and name in self.to_index():
                        yield name
                        return
            yield None


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Yield whether this process holds the lock; no other does meanwhile."""
    try:
        lock = path.open("a")
    except FileNotFoundError:  # the corpus was removed
        yield False
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
