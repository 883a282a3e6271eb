"""The task of the worker: check the claims whose turn it is."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from typing import TypeVar

from celery import Celery

from retrieval.errors import Cancelled, EsotericError, IndexAway
from retrieval.result import claim_result
from retrieval.types import Progress, ProgressListener, Report
from worker.broker import CHECK_CLAIM
from worker.database import DAMAGED, Database, StoreUnavailable
from worker.heartbeat import Heartbeat
from worker.logs import about
from worker.reports import InternalError
from worker.retriever import RetrieverSlot
from worker.run_store import Run, RunStore

T = TypeVar("T")

# How long to wait before the database is tried again.
RETRY_SECONDS = 1.0
# How long a claim waits for the server of the index: a node starts in less.
LONGEST_WAIT_SECONDS = 120.0
_PAUSE_SECONDS = 2.0  # between two tries

logger = logging.getLogger(__name__)


class ClaimChecker:
    """Checks queued claims, one at a time."""

    def __init__(
        self,
        database: Database,
        slot: RetrieverSlot,
        heartbeat: Heartbeat,
        stopping: Event,
        log_claims: bool = False,
    ) -> None:
        """``log_claims``: whether the text of a claim is logged too."""
        self._runs = RunStore(database)
        self._slot = slot
        self._heartbeat = heartbeat
        self._stopping = stopping
        self._log_claims = log_claims

    def register(self, celery: Celery) -> None:
        """Register this as the task for the messages of the queue."""
        celery.task(self.check, name=CHECK_CLAIM)

    def check(self, sent_for: str) -> None:
        """Check one queued claim after the other, until none is left or this worker stops.

        The message was sent when a claim was queued, ``sent_for``, or is to be. It only wakes the
        worker: the database says which claim is next.
        """
        started = False
        while not self._stopping.is_set():
            run = self._patiently(lambda: self._runs.start_next(self._heartbeat.worker))
            if run is None:
                if not started:
                    self._log_unknown(sent_for)
                return
            started = True
            with about(claim=run.job_id, list=run.list_id):
                self._check(run)

    def _check(self, run: Run) -> None:
        job_id, began = run.job_id, datetime.now(UTC)
        text = f": {run.claim}" if self._log_claims else ""
        logger.info("Claim %s starts, attempt %d%s", job_id, run.attempt, text)
        with self._heartbeat.keeping(run):
            try:
                kept = self._work(run)
            except Cancelled:
                kept = self._stop(run)
            except StoreUnavailable:
                raise  # this worker stops, or nothing more can be stored
            except EsotericError as error:
                logger.warning("Claim %s failed: %s", job_id, error)
                kept = self._fail(run, error)
            except Exception:
                logger.exception("Claim %s failed", job_id)
                kept = self._fail(run, InternalError("The claim could not be checked."))
        if not kept:
            deleted = self._runs.was_deleted(run, began)
            how = "deleted" if deleted else "cancelled or taken over"
            logger.info("Claim %s was %s", job_id, how)

    def _patiently(self, use: Callable[[], T]) -> T:
        """Return what this returns as soon as the database can be used.

        So a claim that has begun goes on, and its result is not lost, when a server of databases
        is started again. If it is away for long, ``worker.keeper`` waits too. A damaged database is
        not waited for.

        Raises:
            StoreUnavailable: it cannot, and this worker stops; or it is damaged.
        """
        while True:
            try:
                return use()
            except StoreUnavailable as error:
                if error.code == DAMAGED:
                    raise
                logger.error("The claim waits for the database: %s", error)
                if self._stopping.wait(RETRY_SECONDS):
                    raise

    def _fail(self, run: Run, error: EsotericError) -> bool:
        return self._patiently(lambda: self._runs.fail(run, error))

    def _log_unknown(self, job_id: str) -> None:
        """Say so if the message names a claim of another database, which is not served here."""
        if job_id and self._runs.state(job_id) is None:
            with about(claim=job_id):
                logger.warning(
                    "The queue names claim %s, which is not in this database, and no claim is"
                    " queued here. If it was not deleted,"
                    " set the same ESOTERIC_DATABASE_URL for every web server and worker that share"
                    " a queue.",
                    job_id,
                )

    def _work(self, run: Run) -> bool:
        """Check the claim and store its result. False: it no longer belongs to this run."""

        def listen(progress: Progress) -> None:
            self._heartbeat.progressed()
            stopped = self._stopping.is_set() or self._heartbeat.lost()
            if stopped or not self._patiently(lambda: self._runs.record(run, progress)):
                raise Cancelled

        result = claim_result(self._checked(run, listen))
        done = self._patiently(lambda: self._runs.finish(run, result))
        if done:
            logger.info("Claim %s is done", run.job_id)
        return done

    def _checked(self, run: Run, listen: ProgressListener) -> Report:
        """Check the claim; while the server of the index is away, wait and begin again.

        Raises:
            IndexAway: it is still away after ``LONGEST_WAIT_SECONDS``.
        """
        give_up = time.monotonic() + LONGEST_WAIT_SECONDS
        while True:
            try:
                if self._slot.needs_loading():
                    listen(Progress("start", "The models and the index are being loaded.", 0, 1))
                with self._slot.use() as retriever:
                    return retriever.check(run.claim, run.recipe, listen, run.corpora)
            except IndexAway:
                if time.monotonic() >= give_up:
                    raise
                waiting = "The server of the index does not answer; the claim waits for it."
                listen(Progress("start", waiting, 0, 1))
                self._stopping.wait(_PAUSE_SECONDS)

    def _stop(self, run: Run) -> bool:
        """Give the claim back to the queue. False: it no longer belongs to this run."""
        given_back = self._runs.give_back(run)
        if given_back:
            logger.info("Claim %s goes back to the queue: this worker stops", run.job_id)
        return given_back
