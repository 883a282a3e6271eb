"""The heartbeat of a worker, and the lease of the claim that it checks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event, Lock

from worker.database import Database
from worker.reports import CheckHangs
from worker.retriever import RetrieverSlot
from worker.run_store import Run, RunStore
from worker.threads import Regular
from worker.worker_store import WorkerStore

BEAT_SECONDS = 2.0
# Share of the time after which a check is ended; then the service says that it is not ready.
SAID_AFTER_SHARE = 0.5


class Heartbeat(Regular):
    """Writes the worker's heartbeat and renews the lease of its claim, in one thread."""

    def __init__(
        self,
        worker: str,
        database: Database,
        slot: RetrieverSlot,
        stop: Event,
        stall_seconds: float = math.inf,
        documents: Callable[[], str] | None = None,
    ) -> None:
        """``stall_seconds``: after how long without progress the check of a claim is ended.

        ``documents``: returns the mark of the folder of documents.
        """
        super().__init__("heartbeat", stop, lambda _: BEAT_SECONDS)
        self._stall_seconds = stall_seconds
        self.worker = worker
        self._runs = RunStore(database)
        self._workers = WorkerStore(database)
        self._slot = slot
        self._documents = documents
        self._started_at = datetime.now(UTC)
        self._lock = Lock()
        self._run: Run | None = None
        self._lost = False
        self._progress_at = time.monotonic()

    @contextmanager
    def keeping(self, run: Run) -> Iterator[None]:
        """Renew the lease of this run while the block runs."""
        with self._lock:
            self._run, self._lost = run, False
            self._progress_at = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._run = None

    def progressed(self) -> None:
        """Note that the check of the claim goes on."""
        self._progress_at = time.monotonic()

    def lost(self) -> bool:
        """Return whether the current claim was cancelled or given to another worker."""
        return self._lost

    def idle(self) -> bool:
        """Return whether there is no claim."""
        return self._run is None

    def look(self) -> None:
        """Write one heartbeat.

        Raises:
            StoreUnavailable: the database cannot be written.
        """
        with self._lock:
            run = self._run
        if run is not None and not self._runs.renew(run):
            with self._lock:
                # The claim may have ended between the two lines above.
                self._lost = self._run is run
        slot = self._slot
        self._workers.beat(
            self.worker,
            self._started_at,
            slot.state,
            slot.problem or (self._hanging() if run is not None else None),
            slot.corpus,
            slot.language_model(),
            self._documents() if self._documents is not None else None,
        )

    def _hanging(self) -> CheckHangs | None:
        """Return what to say of a check whose end may be near."""
        still = time.monotonic() - self._progress_at
        if self._slot.state != "ready" or still < self._stall_seconds * SAID_AFTER_SHARE:
            return None
        return CheckHangs(still, self._stall_seconds)
