"""The worker process: a Celery consumer with its heartbeat, its reaper and its retriever.

Celery's solo pool runs the claims in the main thread, one at a time. The models use
every core for a single claim, so two claims at once would slow each other down. A process
pool would load the models again, and a thread pool would use the main thread, where
signals arrive.
"""

from __future__ import annotations

import logging
import signal
import time
from datetime import timedelta
from threading import Event, Thread
from types import FrameType

from celery.worker import WorkController
from celery.worker import state as celery_state

from retrieval.errors import BadRecipe
from settings import BadSetting, Settings
from worker.broker import QUEUE, Queue, make_celery
from worker.corpora.builder import AT_ONCE, Builder, IndexingStore
from worker.database import Database, StoreUnavailable
from worker.feeder import Feeder
from worker.file_upkeep import FileUpkeep
from worker.heartbeat import Heartbeat
from worker.home_check import HomeCheck
from worker.job_store import JobStore
from worker.keeper import Keeper
from worker.logs import log_as_json, start_logging
from worker.reaper import Reaper
from worker.retriever import OpenRetriever, RetrieverSlot
from worker.tasks import RETRY_SECONDS, ClaimChecker
from worker.worker_store import WorkerStore

FORGET_WORKERS_AFTER = timedelta(days=1)
_SAY_AGAIN_SECONDS = 60

logger = logging.getLogger(__name__)


class WorkerApp:
    """The parts of a worker, connected."""

    def __init__(self, settings: Settings, open_retriever: OpenRetriever, name: str) -> None:
        self._stopping = Event()
        self._database = Database(settings.database_url)
        self._workers = WorkerStore(self._database)
        self._slot = RetrieverSlot(open_retriever, settings)
        documents = IndexingStore(settings.documents, settings.folders)
        self._heartbeat = Heartbeat(
            *(name, self._database, self._slot, self._stopping),
            stall_seconds=settings.stall_seconds,
            documents=documents.mark,
        )
        queue = Queue(settings, JobStore(self._database))
        # They are waited for at the end: each ends a process of its own, or uses the file.
        self._ended = [
            *(Builder(documents, self._database, self._stopping) for _ in range(AT_ONCE)),
            FileUpkeep(self._database, self._stopping),
            HomeCheck(settings, self._stopping),
        ]
        self._threads = [
            Reaper(self._database, self._stopping, settings.keep_for),
            Feeder(self._database, queue, self._stopping, self._heartbeat.idle),
            *self._ended,
            Thread(target=self._slot.watch, args=[self._stopping], name="retriever", daemon=True),
        ]
        self._celery = make_celery(settings)
        checker = ClaimChecker(
            *(self._database, self._slot, self._heartbeat, self._stopping), settings.log_claims
        )
        checker.register(self._celery)

    def run(self) -> int:
        """Work until SIGTERM or SIGINT; return the exit status.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        self._reach_database()
        self._heartbeat.start()
        self._slot.load()
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        for thread in self._threads:
            thread.start()
        self._celery.set_default()
        self._celery.finalize()
        consumer = WorkController(
            app=self._celery,
            hostname=self._heartbeat.worker,
            pool="solo",
            concurrency=1,
            queues=[QUEUE],
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        consumer.start()
        self._stopping.set()
        self._sign_off()
        return int(consumer.exitcode or 0)

    def _reach_database(self) -> None:
        """Use the database once; wait for its server, which may start later than this worker.

        Raises:
            StoreUnavailable: it is of another version, or a file, which no waiting repairs.
        """
        in_file, said, again = self._database.folder is not None, "", 0.0
        while True:
            try:
                self._workers.forget_silent(FORGET_WORKERS_AFTER)
                return
            except StoreUnavailable as error:
                if in_file or error.code != "store_unavailable":
                    raise
                # A wrong password or name stays wrong, so what is said must not scroll away.
                if error.message != said or time.monotonic() >= again:
                    said, again = error.message, time.monotonic() + _SAY_AGAIN_SECONDS
                    logger.error("The worker waits for its database: %s", error)
            time.sleep(RETRY_SECONDS)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        # The keeper passes on what its whole process group gets. A second signal within ``set``
        # would call it again, and wait for ever for its lock.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        self._stopping.set()
        celery_state.should_stop = 0

    def _sign_off(self) -> None:
        for thread in (self._heartbeat, *self._ended):
            thread.join()
        try:
            self._workers.forget(self._heartbeat.worker)
            self._database.settle()
        except StoreUnavailable as error:
            logger.error("The worker could not sign off: %s", error)
        self._database.close()


def main(open_retriever: OpenRetriever) -> int:
    """Run a worker with the settings of the environment, and replace it if it hangs.

    Returns the exit status.
    """
    start_logging()
    for chatty in ("celery", "kombu", "httpx2"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Its client warns at every try; the slot logs once that a server does not answer.
    logging.getLogger("elastic_transport").setLevel(logging.ERROR)
    try:
        settings = Settings.from_environment()
        if settings.log_json:
            log_as_json()
        return Keeper(
            Database(settings.database_url),
            settings.stall_seconds,
            lambda name: WorkerApp(settings, open_retriever, name).run(),
        ).run()
    except (BadSetting, BadRecipe, StoreUnavailable) as error:
        logger.critical("%s", error)
        return 1
