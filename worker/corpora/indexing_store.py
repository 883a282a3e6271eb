"""The corpora for workers: what is to be indexed, how far it is, and what is swept away."""

from __future__ import annotations

import fcntl
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

from retrieval.errors import Problem
from worker.corpora.corpus_folders import INDEXING, CorpusFolders, write
from worker.corpora.errors import UnknownCorpus
from worker.corpora.records import Indexing

_MOST_DEATHS = 3
_LEFT_FOR = 24 * 3600  # seconds that remains of an upload may be there


class IndexingStore(CorpusFolders):
    """The corpora, for the processes that index them."""

    def to_index(self) -> list[str]:
        """Return the names of the corpora whose files are not indexed as they are now."""
        found = []
        for name in self.names():
            try:
                corpus = self.corpus(name)
            except UnknownCorpus:
                continue
            indexing = self.indexing(name)
            if indexing is None and corpus.folder is None and not self.stored_files(name, corpus):
                continue  # nothing was uploaded yet
            ended = indexing is not None and indexing.step in ("done", "failed")
            if indexing is None or indexing.of != corpus.wanted or not ended:
                found.append(name)
        return found

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
    def indexing_alone(self) -> Iterator[bool]:
        """Yield whether this process may index now: only one of all processes may."""
        if not self.root.is_dir():
            yield False
            return
        with (self.root / ".indexing").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
