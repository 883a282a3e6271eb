"""The threads of a worker that let the corpora be indexed, in the order in which they came."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from threading import Event, Thread

from worker.corpora.errors import CorpusNotWritten, UnknownCorpus
from worker.corpora.indexing_store import IndexingStore
from worker.corpora.records import FileReport
from worker.database import Database
from worker.logs import about
from worker.tallies import INDEXED_FILES, INDEXING_SECONDS, INDEXINGS, Tally, count

LOOK_SECONDS = 1.0
_AFTER_FAILURE_SECONDS = 15.0  # a full disk has room again soon, or it takes an hour
_POLL_SECONDS = 0.2
# Not ``-m``, so that the process finds the same modules as this one.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from worker.corpora.indexing import main; main(sys.argv[2])"
)

logger = logging.getLogger(__name__)


class Builder(Thread):
    """Starts a process for one corpus after another whose files are not indexed as they are now."""

    def __init__(self, store: IndexingStore, database: Database, stop: Event) -> None:
        """``database``: where it is counted what was indexed."""
        super().__init__(name="builder", daemon=True)
        self._store = store
        self._database = database
        self._halt = stop

    def run(self) -> None:
        """Look for corpora to index until ``stop`` is set."""
        while not self._halt.wait(LOOK_SECONDS):
            try:
                self.look()
            except (OSError, CorpusNotWritten) as error:
                logger.error("Documents could not be indexed: %s", error)
                self._halt.wait(_AFTER_FAILURE_SECONDS)

    def look(self) -> None:
        """Sweep, and index the corpus that has waited longest, unless enough others do."""
        self._store.sweep()
        with self._store.next_to_index() as name:
            if name is not None:
                with about(corpus=name):
                    self._index(name)

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
