"""Whether a claim that is submitted now would be checked, and if not, what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.documents.corpus import read_corpus
from app.monitoring.disk import disk_problem
from app.services import Services
from retrieval.errors import IndexUnavailable, Problem
from worker.broker import BrokerUnavailable
from worker.database import StoreUnavailable
from worker.health import WorkerHealth, worker_health
from worker.home_check import damage_in_use
from worker.reports import AskedModel


@dataclass(frozen=True, slots=True)
class Readiness:
    """``problems``: what is missing, the one to fix first at the front.

    ``worker``: the state of the workers, ``None`` where the database does not say it.
    """

    problems: tuple[Problem, ...]
    worker: WorkerHealth | None

    @property
    def language_model(self) -> AskedModel | None:
        """The model that a worker asks; its problem stops no claim from being checked."""
        return self.worker.language_model if self.worker else None


def readiness(given: Services) -> Readiness:
    """Ask for the index, the database, the disk, the queue and the workers.

    Problems with an index on a server are reported by the worker.
    """
    database, queue, settings = given.database, given.queue, given.settings
    folders = [folder for folder in (database.folder, queue.folder) if folder is not None]
    disk = disk_problem(folders)
    problems = [] if disk is None else [disk]
    try:
        if isinstance(settings.store, Path):
            read_corpus(settings.store, settings.model_folders, given.recipes)
    except IndexUnavailable as error:
        problems.append(error.problem)
    try:
        database.reach()
        worker = worker_health(given.workers)
    except StoreUnavailable as error:
        return Readiness((error.problem, *problems), None)
    try:
        queue.waiting()
    except BrokerUnavailable as error:
        problems.append(error.problem)
    if worker.problem is not None:
        problems.append(worker.problem)
    damage = damage_in_use(settings)
    if damage is not None:
        problems.append(damage)
    return Readiness(tuple(problems), worker)
