"""Health checks and metrics: is the process alive, can claims be checked, how busy is it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.api.models import Error, Model, answer
from app.api.openapi import describe
from app.monitoring.readiness import readiness
from app.services import services
from retrieval.errors import Problem
from worker.reports import AskedModel

blueprint = Blueprint("health", __name__)


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
