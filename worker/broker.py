"""The queue between the web and the worker: Celery over files or over Redis."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery import Celery
from kombu.entity import Queue as MessageQueue
from kombu.exceptions import KombuError
from kombu.utils.url import maybe_sanitize_url

from retrieval.claim import read_claim
from retrieval.errors import EsotericError
from retrieval.recipes.recipes import RECIPES, Recipe, recipe_named
from settings import EMBEDDED_BROKER, Settings
from worker.job_store import JobStore
from worker.jobs import Job, Origin, QueueFull
from worker.logs import about

CHECK_CLAIM = "check_claim"
QUEUE = "claims"
# How often the folder of the embedded queue is read.
POLLING_SECONDS = 0.05
# How long a request may wait for a Redis that does not answer.
REDIS_CONNECT_SECONDS = 1.0
REDIS_ANSWER_SECONDS = 1.5

_NEW = Origin()

logger = logging.getLogger(__name__)


class BrokerUnavailable(EsotericError):
    """The broker accepts no message, so no new claim either; accepted claims are kept."""


def make_celery(settings: Settings) -> Celery:
    """Return the Celery application; it connects when it first sends or receives."""
    celery = Celery("esoteric", set_as_current=False)
    celery.conf.update(
        # Jobs and their results are in the database.
        result_backend=None,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        enable_utc=True,
        timezone="UTC",
        task_default_queue=QUEUE,
        # A message only wakes a worker, which takes one at a time; none need be kept until it is
        # acknowledged, as the database says which claims are left.
        task_queues=[MessageQueue(QUEUE, no_ack=True)],  # type: ignore[no-untyped-call]
        worker_prefetch_multiplier=1,
        worker_enable_prefetch_count_reduction=False,
        worker_detect_quorum_queues=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        # Events and remote commands are not used: everything is in the database.
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        task_send_sent_event=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A Redis that is out of memory refuses what a worker sends, which must not end the worker.
        broker_channel_error_retry=True,
        **_transport(settings),
    )
    return celery


def _transport(settings: Settings) -> dict[str, Any]:
    if settings.broker_url == EMBEDDED_BROKER:
        folder = _folder(settings)
        return {
            "broker_url": "filesystem://localhost",
            "broker_transport": "worker.file_transport:Transport",
            "broker_transport_options": {
                "data_folder_in": str(folder / "messages"),
                "data_folder_out": str(folder / "messages"),
                "processed_folder": str(folder / "taken"),
                "control_folder": str(folder / "control"),
                "polling_interval": POLLING_SECONDS,
            },
        }
    return {
        "broker_url": settings.broker_url,
        "broker_connection_timeout": REDIS_CONNECT_SECONDS,
        "broker_transport_options": {
            "global_keyprefix": "esoteric.",
            "socket_connect_timeout": REDIS_CONNECT_SECONDS,
            "socket_timeout": REDIS_ANSWER_SECONDS,
            "socket_keepalive": True,
        },
    }


def _folder(settings: Settings) -> Path:
    return settings.home / "queue"


def reach_broker(settings: Settings) -> None:
    """Connect to the broker once.

    Raises:
        BrokerUnavailable: it does not answer.
    """
    with _channel(make_celery(settings), settings) as channel:
        channel.queue_declare(QUEUE)


@contextmanager
def _channel(celery: Celery, settings: Settings) -> Iterator[Any]:
    """Yield a channel of a new connection.

    Raises:
        BrokerUnavailable: the broker does not answer.
    """
    try:
        with celery.connection_for_write() as connection:
            # Opening a channel creates the embedded queue's folders, or sends a command to Redis.
            yield connection.default_channel
    except _broker_errors(celery) as error:
        raise _unavailable(settings, error) from error


class Queue:
    """The web process submits and cancels claims here; workers wake each other."""

    def __init__(
        self, settings: Settings, store: JobStore, recipes: Mapping[str, Recipe] = RECIPES
    ) -> None:
        """``recipes``: those that claims may be submitted with, by their names."""
        self._settings = settings
        self._recipes = recipes
        self._celery = make_celery(settings)
        self._store = store

    def submit(
        self,
        text: str,
        recipe: str,
        anyway: bool = False,
        owner: str | None = None,
        origin: Origin = _NEW,
        corpora: tuple[str, ...] | None = None,
        client: str | None = None,
        typed: bool = False,
    ) -> Job:
        """Return the job that checks this claim: a new one, or the one that is pending.

        ``anyway``: also a link, a text in another language or a question. Only here they are
        refused: the worker checks every claim that it gets. ``owner``: the visitor who submits it.
        ``origin``: the claim that it was made from. ``corpora``: names of those that it is
        checked against; ``None``: the default one.
        ``client``: whose turn it takes; ``typed``: a person waits for it (worker/turns.py).

        Raises:
            InvalidClaim: the text is not a claim that can be checked.
            UnknownRecipe: no recipe has this name.
            QueueFull: too many claims wait already.
            BrokerUnavailable: no worker can be woken; nothing is stored.
            StoreUnavailable: the database cannot be used.
        """
        claim = read_claim(text, anyway).original
        name = recipe_named(recipe, self._recipes).name
        if not self._store.is_pending(claim, name, owner, corpora):
            self.send("")  # what the broker refuses is not stored
        job, new = self._store.submit(
            *(claim, name, owner, origin, corpora),
            client=client,
            typed=typed,
            most_queued=self._settings.most_queued,
        )
        if new:
            try:
                self.send(job.id)
            except BrokerUnavailable as error:
                with about(claim=job.id):
                    logger.warning("Claim %s waits for the queue: %s", job.id, error)
        return job

    def refuse_without_room(self, claims: int) -> None:
        """Refuse several claims of which only some could be submitted.

        Raises:
            QueueFull: with these, too many would wait.
            StoreUnavailable: the database cannot be read.
        """
        most = self._settings.most_queued
        if self._store.counts()["queued"] + claims > most:
            raise QueueFull(most)

    def close(self) -> None:
        """Close the connections to the broker."""
        self._celery.pool.force_close_all()
        self._celery.close()

    def cancel(self, job_id: str) -> Job:
        """Cancel a pending job and return it; a finished job stays as it is.

        Raises:
            UnknownJob: there is no job with this id.
        """
        return self._store.cancel(job_id)

    def send(self, job_id: str) -> None:
        """Send a message that wakes a worker, with the id of the job that was queued, "" for none.

        Raises:
            BrokerUnavailable: the broker does not accept it.
        """
        try:
            # One more try, because a pooled connection may be broken.
            self._celery.send_task(
                CHECK_CLAIM,
                args=[job_id],
                retry=True,
                retry_policy={"max_retries": 1, "interval_start": 0, "interval_max": 0.1},
            )
        except Exception as error:
            # Not only the transport's errors: after one of these, kombu may use a connection that
            # another thread has closed. A message that was sent all the same does no harm.
            if not isinstance(error, _broker_errors(self._celery)):
                logger.warning("The queue failed in an unknown way", exc_info=True)
            raise _unavailable(self._settings, error) from error

    @property
    def folder(self) -> Path | None:
        """Folder of the embedded queue; ``None`` for a queue on a server."""
        return _folder(self._settings) if self._settings.broker_url == EMBEDDED_BROKER else None

    def waiting(self) -> int:
        """Return how many messages wait in the broker.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        with _channel(self._celery, self._settings) as channel:
            return int(channel.queue_declare(QUEUE).message_count)

    def empty(self) -> None:
        """Remove all messages from the broker.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        with _channel(self._celery, self._settings) as channel:
            channel.queue_purge(QUEUE)


def _broker_errors(celery: Celery) -> tuple[type[Exception], ...]:
    transport = celery.connection_for_write()
    return (KombuError, OSError, *transport.connection_errors, *transport.channel_errors)


def _unavailable(settings: Settings, error: Exception) -> BrokerUnavailable:
    kept = "New claims are refused; accepted ones are kept and checked later."
    if settings.broker_url == EMBEDDED_BROKER:
        return BrokerUnavailable(
            "broker_unavailable",
            f"The embedded queue in {_folder(settings)} cannot be written: {error}. {kept}",
            "Free some space and make the folder writable, or set ESOTERIC_HOME to another folder.",
        )
    if "maxmemory" in str(error):
        return BrokerUnavailable(
            "broker_unavailable",
            f"The queue at {maybe_sanitize_url(settings.broker_url)} is out of memory. {kept}",
            "Raise maxmemory of Redis, or remove what other programs store there.",
        )
    return BrokerUnavailable(
        "broker_unavailable",
        f"The queue at {maybe_sanitize_url(settings.broker_url)} does not answer. {kept}",
        "Start the queue's server, or unset ESOTERIC_BROKER_URL for the embedded queue.",
    )
