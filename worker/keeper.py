"""Keeps a worker at work: one whose check hangs is killed, the claim fails, and another one starts.

A check can hang so that no thread of its process runs, for example in a regular expression. So
the watch is kept by the parent process, which has no models and needs little memory.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

from retrieval.system.processes import end_this_process_when_closed
from worker.clock import Unchanged
from worker.database import Database, StoreUnavailable, is_locked
from worker.logs import about
from worker.reports import CheckStalled
from worker.run_store import Run, RunStore
from worker.worker_store import WorkerStore

LOOK_SECONDS = 2.0
# Loading models and a large index may take long, and reports nothing meanwhile.
LOADING_SECONDS = 900.0
_POLL_SECONDS = 0.1
# How long a process may take to log where it hangs before it is killed.
_LOGGING_SECONDS = 5.0
_STOP = (signal.SIGTERM, signal.SIGINT)

logger = logging.getLogger(__name__)


class Keeper:
    """Runs the worker in a child process, and watches the progress of its claim."""

    def __init__(
        self, database: Database, limit_seconds: float, work: Callable[[str], int]
    ) -> None:
        """``work``: the worker, called with its name in the child; returns its exit status.

        ``limit_seconds``: how long a check may take without a progress event, unless the worker
        is loading.
        """
        self._database = database
        self._runs = RunStore(database)
        self._workers = WorkerStore(database)
        self._limit = limit_seconds
        self._work = work
        self._child = 0
        self._stopping = False

    def run(self) -> int:
        """Work until SIGTERM or SIGINT, or until the worker ends; return the exit status.

        If a signal ended the worker, the same signal ends this process.
        """
        while True:
            name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
            reading, writing = os.pipe()
            self._child = os.fork()
            if self._child == 0:
                os.close(writing)
                end_this_process_when_closed(reading)
                # Logs the traceback of the main thread, where the check runs, then ends the process
                # (the default action). Other threads run on meanwhile: to read theirs can crash.
                faulthandler.register(signal.SIGUSR1, all_threads=False, chain=True)
                return self._work(name)
            os.close(reading)
            for number in _STOP:
                signal.signal(number, self._stop)
            status = self._watched(name)
            os.close(writing)
            for number in _STOP:
                signal.signal(number, signal.SIG_DFL)
            self._database.close()  # the last connection brings SQLite's log into the file
            if status is None and not self._stopping:
                continue
            if status is not None and status < 0:
                os.kill(os.getpid(), -status)
            return status or 0

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._stopping = True
        if self._child:
            os.kill(self._child, number)

    def _watched(self, worker: str) -> int | None:
        """Return the status with which the worker ended, ``None`` if it hung and was killed."""
        unchanged, next_look = Unchanged(), time.monotonic()
        while True:
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                self._child = 0
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LOOK_SECONDS
                hung = self._hung(worker, unchanged)
                if hung is not None:
                    with about(claim=hung[0].job_id):
                        self._kill(worker, *hung)
                    return None
            time.sleep(_POLL_SECONDS)

    def _hung(self, worker: str, unchanged: Unchanged) -> tuple[Run, float] | None:
        """Return the run that hangs, and the seconds that it was allowed to."""
        try:
            running = {one.run.token: one for one in self._runs.running(worker)}
            state = self._workers.state(worker)
        except StoreUnavailable:
            return None  # the worker logs it too
        limit = self._limit if state == "ready" else max(self._limit, LOADING_SECONDS)
        still = unchanged.seconds({token: (one.events, state) for token, one in running.items()})
        hung = next((token for token in still if still[token] >= limit), None)
        if hung is None or self._waits_for_database(still[hung] >= 2 * limit):
            return None
        return running[hung].run, limit

    def _waits_for_database(self, long: bool) -> bool:
        """Return whether the check may wait for the database, because that cannot be used.

        A worker that hangs amid a write has locked the file itself; others lock it for moments. So
        after a ``long`` time a lock is no reason to wait.
        """
        try:
            self._database.check()
            self._database.reach()
        except StoreUnavailable as error:
            return not (long and is_locked(error))
        return False

    def _kill(self, worker: str, run: Run, limit: float) -> None:
        error = CheckStalled(limit)
        logger.error("Claim %s hangs, so its worker is replaced. It is here:", run.job_id)
        child, self._child = self._child, 0
        os.kill(child, signal.SIGUSR1)
        deadline = time.monotonic() + _LOGGING_SECONDS
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)
        try:
            self._runs.fail(run, error)
            self._workers.forget(worker)
        except StoreUnavailable as problem:
            logger.error("Claim %s is checked again: %s", run.job_id, problem)
