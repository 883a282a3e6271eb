"""The objects that all views of one application share."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from flask import Flask, current_app

from app.http.server_paths import ServerPaths
from app.http.streams import Streams
from retrieval.checkable.reader import ReaderOnDemand
from retrieval.recipes.recipes import Recipe
from settings import Settings
from worker.broker import Queue
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database, StoreUnavailable
from worker.job_store import JobStore
from worker.jobs import Job
from worker.list_store import ListStore
from worker.user_store import UserStore
from worker.worker_store import WorkerStore

if TYPE_CHECKING:  # it answers with errors, which need the services
    from app.http.limits import Limits
    from app.monitoring.metrics import Metrics
    from retrieval.web.page_reader import PageReader

_EXTENSION = "esoteric"


@dataclass(frozen=True)
class Services:
    """The settings and the objects that are made once per process.

    ``recipes``: those that are shipped and those of ESOTERIC_RECIPES, by their names. ``pages``:
    ``None`` where no page is opened.
    """

    settings: Settings
    database: Database
    store: JobStore
    lists: ListStore
    texts: ReaderOnDemand
    pages: PageReader | None
    workers: WorkerStore
    queue: Queue
    metrics: Metrics
    recipes: Mapping[str, Recipe]
    paths: ServerPaths
    corpora: CorpusStore
    streams: Streams
    users: UserStore
    limits: Limits

    def job(self, job_id: str) -> Job:
        """Return the job as it is shown.

        Raises:
            UnknownJob: there is no job with this id.
        """
        return self.paths.hidden_in_job(self.store.get(job_id))

    def close(self) -> None:
        """Close every connection; a database in a file is whole without others beside it."""
        self.queue.close()
        with suppress(StoreUnavailable):  # said in the log before
            self.database.settle()
        self.database.close()


def install_services(app: Flask, services: Services) -> None:
    """Give the application its services."""
    app.extensions[_EXTENSION] = services


def services_of(app: Flask) -> Services:
    """Return the services of an application."""
    return cast(Services, app.extensions[_EXTENSION])


def services() -> Services:
    """Return the services of the current application."""
    return services_of(current_app)
