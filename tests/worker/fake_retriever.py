"""A retriever without models, for tests of everything around the retriever.

It goes through the real stages, and its answer follows from the claim alone. A
file ``hold`` beside the index that holds "STAGE CLAIM" makes it stay in that
stage of that claim, reporting as a slow stage does, until the file is gone; so
a test decides in which stage a worker is when something happens to it. A file
``hang`` that holds the same makes it hang there and report nothing; with "no thread runs" in the
claim, also no other thread of the process runs, with "amid a write" it holds the database locked.
While there is a file ``cut-off``, it cannot ask for its index, and while there is a file
``no-model``, its language model gives no answer.

``python -m tests.worker.fake_retriever`` is the real worker process around it. It looks around
more often than the real one, so that tests wait less. LEASE_SECONDS: after how many seconds it
takes a claim of a silent worker.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.interface import IndexInfo
from retrieval.types import SUPPORTS, CorpusInfo, Hop, Progress, ProgressListener, Report, Verdict
from settings import Settings
from worker import feeder, heartbeat, keeper, reaper, retriever
from worker.main import main

BUILT_AT = "2025-01-01T00:00:00Z"
STAGES = (
    *("start", "spans", "titles", "texts", "questions", "ranking", "sentences", "relevance"),
    *("semantic", "verdict", "done"),
)


class FakeRetriever:
    """Answers every claim with SUPPORTS, with a rationale that names the corpus and the claim."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._corpus = ""
        self.before: dict[str, Callable[[], None]] = {}
        """What happens before a stage begins."""

    @property
    def language_model_problem(self) -> EsotericError | None:
        """Why the language model gives no answer."""
        if (self._index.parent / "no-model").exists():
            return EsotericError("language_model_unavailable", "It is away.", "Start it.")
        return None

    def warm_up(self) -> None:
        """Read the name of the corpus.

        Raises:
            IndexUnavailable: there is no index.
        """
        self._corpus = self._read()

    def info(self) -> IndexInfo:
        """Return a description of the index with the name of the corpus."""
        return IndexInfo(self._corpus, "vital", "", 1, 1, 1, 1, BUILT_AT, "", "", 0, 0)

    def stale(self) -> bool:
        """Return whether the index has another name now.

        Raises:
            IndexUnavailable: it is cut off.
            OSError: its files cannot be read.
        """
        if (self._index.parent / "unreadable").exists():
            raise OSError("The disk does not answer.")
        if (self._index.parent / "cut-off").exists():
            raise IndexUnavailable("index_unreachable", "The index is cut off.", "Wait.")
        try:
            return self._read() != self._corpus
        except IndexUnavailable:
            return True

    def check(
        self,
        claim: str,
        recipe: str,
        on_progress: ProgressListener,
        corpora: tuple[str, ...] | None,
    ) -> Report:
        """Go through the stages. Raises ZeroDivisionError for a claim with "zero" in it."""
        for number, stage in enumerate(STAGES):
            self.before.get(stage, lambda: None)()
            on_progress(Progress(stage, f"{stage} of {claim}", number, len(STAGES)))
            if self._named_in("hang") == f"{stage} {claim}":
                if "no thread runs" in claim:
                    re.match(r"(a+)+$", "a" * 60 + "b")  # takes years and keeps the interpreter
                if "amid a write" in claim:
                    held = sqlite3.connect(self._index.parent / "esoteric.db")
                    held.execute("BEGIN IMMEDIATE")
                time.sleep(3600)
            while self._named_in("hold") == f"{stage} {claim}":
                time.sleep(0.1)
                on_progress(Progress(stage, "still here", number, len(STAGES)))
            if stage == "verdict" and "zero" in claim:
                raise ZeroDivisionError(f"{claim} cannot be divided.")
        corpus = CorpusInfo(name=self._corpus, documents=1, built_at=BUILT_AT, text_date=None)
        verdict = Verdict(SUPPORTS, 0.75, "fake", f"{self._corpus} says: {claim}")
        hop = Hop(
            hop=1,
            sufficient=True,
            missing=(),
            documents=0,
            sentences=0,
            label=SUPPORTS,
            best=(),
            stopped="decided",
        )
        return Report(claim, recipe, (), corpus, verdict, (), (), (), None, (hop,), {"total": 0.5})

    def _named_in(self, file: str) -> str:
        try:
            return (self._index.parent / file).read_text()
        except FileNotFoundError:
            return ""

    def _read(self) -> str:
        try:
            return (self._index / "name").read_text()
        except FileNotFoundError as error:
            raise IndexUnavailable(
                "no_index", "There is no index.", "Build one: esoteric index build --source vital"
            ) from error


def open_retriever(settings: Settings) -> FakeRetriever:
    """Open the fake as the worker opens the real one."""
    return FakeRetriever(settings.store)


if __name__ == "__main__":
    heartbeat.BEAT_SECONDS = keeper.LOOK_SECONDS = reaper.LOOK_SECONDS = 0.5
    feeder.IDLE_SECONDS = retriever.WATCH_SECONDS = 0.5
    reaper.LEASE_SECONDS = float(os.environ.get("LEASE_SECONDS", reaper.LEASE_SECONDS))
    sys.exit(main(open_retriever))
