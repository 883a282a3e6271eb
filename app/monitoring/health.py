"""Health checks and metrics: is the process alive, can claims be checked, how busy is it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Literal

from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.api.models import Error, Model, answer
from app.api.openapi import describe
from app.documents.corpus import read_corpus
from app.services import Services, services
from retrieval.errors import IndexUnavailable, Problem
from worker.broker import BrokerUnavailable
from worker.database import StoreUnavailable
from worker.health import WorkerHealth, worker_health
from worker.home_check import damage_in_use
from worker.reports import AskedModel

blueprint = Blueprint("health", __name__)

# SQLite's log of writes may grow by some megabytes before they go into the database.
LEAST_FREE_BYTES = 20_000_000
_A_BLOCK = bytes(4096)


class Status(Model):
    """The process answers."""

    status: Literal["ok"]


class LanguageModel(Model):
    """A language model that is asked for a verdict."""

    model: str
    """Its name."""
    host: str | None
    """Host of its server; null where it runs in the worker."""


class Ready(Model):
    """Claims can be checked."""

    status: Literal["ready"]
    home: str
    """Identifies this service: a digest of the path of its ESOTERIC_HOME."""
    language_model: LanguageModel | None = None
    """The language model that reads claims and evidence; left out where there is none."""
    degraded: tuple[Problem, ...] = ()
    """Problems that do not stop claims from being checked; left out where there are none."""


class NotReady(Error):
    """Claims cannot be checked."""

    problems: tuple[Problem, ...]
    """Everything that is missing; `error` is what to fix first."""


@blueprint.get("/healthz")
@describe(HTTP_200=(Status, "Yes"))
def healthz() -> Response:
    """Answer, which shows that this process is alive; nothing else is checked."""
    return answer(Status(status="ok"))


@blueprint.get("/readyz")
@describe(HTTP_200=(Ready, "Yes"), HTTP_503=(NotReady, "No: what is missing, and how to fix it"))
def readyz() -> tuple[Response, HTTPStatus]:
    """Say whether a claim submitted now would be checked, and if not, what is missing.

    Asks for the index, the database, the disk, the queue and the workers.

    ``degraded`` lists problems that do not stop claims from being checked: if a language model
    fails, the verdict is the verifier's.
    """
    found = readiness(services())
    if not found.problems:
        return answer(_ready(found.language_model)), HTTPStatus.OK
    shown = tuple(map(_shown, found.problems))
    body = NotReady(error=shown[0], problems=shown)
    return answer(body), HTTPStatus.SERVICE_UNAVAILABLE


@blueprint.get("/metrics")
@describe(HTTP_200=(None, "Metrics in Prometheus's text format"))
def metrics() -> Response:
    """Return the metrics for Prometheus."""
    return Response(services().metrics.exposition(), content_type=CONTENT_TYPE_LATEST)


def _ready(model: AskedModel | None) -> Ready:
    ready = Ready(status="ready", home=services().settings.home_id)
    if model is None:
        return ready
    asked = {"language_model": LanguageModel(model=model.model, host=model.host or None)}
    degraded = {"degraded": (_shown(model.problem),)} if model.problem else {}
    return ready.model_copy(update=asked | degraded)


def _shown(problem: Problem) -> Problem:
    return services().paths.hidden_in_problem(problem)


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
            read_corpus(settings.store, settings, given.recipes)
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


def disk_problem(folders: Iterable[Path]) -> Problem | None:
    """Return what is wrong with the first of these folders that cannot be written.

    A folder that does not exist is left to what makes it.
    """
    for folder in folders:
        try:
            if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_A_BLOCK)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            reason = error.strerror or type(error).__name__
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                return Problem(
                    "disk_full",
                    f"There is too little space left in {folder}: {reason}.",
                    f"Free at least {LEAST_FREE_BYTES // 1_000_000} MB.",
                )
            return Problem(
                "not_writable",
                f"The folder {folder} cannot be written: {reason}.",
                "Make it writable, or set ESOTERIC_HOME to another folder.",
            )
    return None
