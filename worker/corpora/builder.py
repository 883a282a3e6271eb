"""Lets the corpora be indexed, in the order in which they came, each in a process of its own."""

from __future__ import annotations

import json
import logging
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Event

from retrieval.errors import Problem
from worker.corpora.corpus_folders import (
    INDEXING,
    CorpusFolders,
    FileReport,
    Indexing,
    exclusively,
    write,
)
from worker.corpora.errors import UnknownCorpus
from worker.database import Database
from worker.logs import about
from worker.tallies import INDEXED_FILES, INDEXING_SECONDS, INDEXINGS, Tally, count
from worker.threads import Regular

# Corpora that are indexed at once, so that a large one keeps nobody waiting alone.
AT_ONCE = 2
_INDEXED = "indexed"  # the lock of who indexes a corpus
_MOST_DEATHS = 3
_LEFT_FOR = 24 * 3600  # seconds that remains of an upload may be there
LOOK_SECONDS = 1.0
_AFTER_FAILURE_SECONDS = 15.0  # a full disk has room again soon, or it takes an hour
_POLL_SECONDS = 0.2
# Not ``-m``, so that the process finds the same modules as this one.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from worker.corpora.indexing import main; main(sys.argv[2])"
)

logger = logging.getLogger(__name__)


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
            if self.to_index() and any(held.enter_context(exclusively(slot)) for slot in slots):
                for name in self.to_index():
                    lock = self.place(name) / _INDEXED
                    # Another process may have indexed it until now.
                    if held.enter_context(exclusively(lock)) and name in self.to_index():
                        yield name
                        return
            yield None


class Builder(Regular):
    """Starts a process for one corpus after another whose files are not indexed as they are now."""

    def __init__(self, store: IndexingStore, database: Database, stop: Event) -> None:
        """``database``: where it is counted what was indexed."""
        super().__init__(
            "indexing of documents",
            stop,
            lambda looked: LOOK_SECONDS if looked else _AFTER_FAILURE_SECONDS,
        )
        self._store = store
        self._database = database

    def look(self) -> bool:
        """Sweep, and index the corpus that has waited longest, unless enough others do."""
        self._store.sweep()
        with self._store.next_to_index() as name:
            if name is not None:
                with about(corpus=name):
                    self._index(name)
        return True

    def _index(self, name: str) -> None:
        logger.info("The corpus %s is indexed", name)
        began = time.monotonic()
        arguments = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), name]
        # The end of its input tells the process that this one has ended.
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, start_new_session=True) as process:
            while process.poll() is None:
                if self._halt.wait(_POLL_SECONDS) or not self._is_there(name):
                    process.kill()
                    return
        if process.returncode:
            logger.error("The indexing of %s ended with status %d", name, process.returncode)
            self._store.report_death(name)
        self._count(name, time.monotonic() - began, died=bool(process.returncode))

    def _count(self, name: str, seconds: float, died: bool) -> None:
        report = self._store.indexing(name)
        if report is None:
            return  # it was removed
        end = "died" if died else report.step
        files = report.files.values() if end == "done" else ()
        count(
            self._database,
            [
                Tally(INDEXINGS, (end,)),
                Tally(INDEXING_SECONDS, (), seconds),
                *(Tally(INDEXED_FILES, (_end(file),)) for file in files),
            ],
        )

    def _is_there(self, name: str) -> bool:
        try:
            self._store.corpus(name)
        except UnknownCorpus:
            return False
        return True


def _end(file: FileReport) -> str:
    if not file.problems:
        return "read"
    return "partly" if file.passages else "unreadable"
