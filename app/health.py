"""What a supervisor asks: is the process alive, can claims be checked, how much goes on."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, jsonify
from prometheus_client import CONTENT_TYPE_LATEST

from app.contexts import Problem
from app.corpus import read_corpus
from app.errors import error_body, problem_of
from app.services import services
from retrieval.errors import IndexUnavailable
from worker.health import WorkerHealth, worker_health
from worker.jobs import StoreUnavailable

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """Say that this process answers; nothing else is asked."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
def readyz() -> tuple[Response, HTTPStatus]:
    """Say whether a claim submitted now would be checked, or all that is missing.

    ``home`` tells which of several services this is (``Settings.home_id``). ``language_model`` is
    where claims and evidence are sent (``host`` is null where it runs in the worker), and
    ``degraded`` lists what claims are checked without: they
    get the verifier's verdict where a language model fails.
    """
    problems, worker = _looked_at()
    if not problems:
        ready = {"status": "ready", "home": services().settings.home_id}
        return jsonify(ready | _language_model(worker)), HTTPStatus.OK
    body = {
        **error_body(problems[0]),
        "problems": [error_body(problem)["error"] for problem in problems],
    }
    return jsonify(body), HTTPStatus.SERVICE_UNAVAILABLE


@blueprint.get("/metrics")
def metrics() -> Response:
    """Return the figures for Prometheus."""
    return Response(services().metrics.exposition(), content_type=CONTENT_TYPE_LATEST)


def _language_model(worker: WorkerHealth | None) -> dict[str, Any]:
    """Return which language model is asked, and what is wrong with it; nothing where none is."""
    if worker is None or worker.language_model is None:
        return {}
    model = worker.language_model
    asked = {"language_model": {"model": model.model, "host": model.host or None}}
    return asked | ({"degraded": [model.problem]} if model.problem else {})


def _looked_at() -> tuple[list[Problem], WorkerHealth | None]:
    """Return what is missing, what stands in the way of the rest first, and how the workers are.

    What is wrong with an index on a server is reported by the worker.
    """
    problems = []
    index = services().settings.store
    try:
        if isinstance(index, Path):
            read_corpus(index)
    except IndexUnavailable as error:
        problems.append(problem_of(error))
    try:
        worker = worker_health(services().store)
    except StoreUnavailable as error:
        return [problem_of(error), *problems], None
    if worker.problem is not None:
        problems.append(Problem(**worker.problem))
    return problems, worker
