"""Error handlers: every error has a code for programs, a message, and a hint how to fix it.

Programs get ``{"error": {"code", "message", "hint"}}``; people get the same three
on a page. Here exceptions become HTTP statuses.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal, TypeAlias, get_args

from flask import Flask, Response, g, render_template, request
from werkzeug.exceptions import HTTPException

from app.api.models import Error, answer
from app.services import services_of
from retrieval.checkable.reader import TextsBusy
from retrieval.errors import (
    BadSource,
    EsotericError,
    IndexUnavailable,
    InvalidClaim,
    InvalidText,
    ModelUnavailable,
    Problem,
    RecipeUnavailable,
    UnknownRecipe,
)
from worker.broker import BrokerUnavailable
from worker.corpora.errors import CorpusNotReady, CorpusNotWritten, CorpusRefused, UnknownCorpus
from worker.database import StoreUnavailable
from worker.feedback_store import UnknownFeedback
from worker.jobs import QueueFull, UnknownJob
from worker.lists import UnknownList

logger = logging.getLogger(__name__)

# The limits that refuse requests, by the names that /metrics counts them under.
Limit: TypeAlias = Literal[
    "claims",
    "rows",
    "logins",
    "pages",
    "streams",
    "all_streams",
    "queue",
    "texts",
    "request_bytes",
    "upload_bytes",
]
LIMITS: tuple[Limit, ...] = get_args(Limit)
# Which limit refuses with which code of a problem; "too_many" is that of several.
LIMIT_OF: Mapping[str, Limit] = {
    "too_many_streams": "all_streams",
    "too_many_rows": "rows",
    "queue_full": "queue",
    "texts_busy": "texts",
    "too_large": "request_bytes",
    "upload_too_large": "upload_bytes",
    "zip_too_large": "upload_bytes",
}

_PROGRAM_PATHS = ("/api/", "/healthz", "/readyz", "/metrics")
_STATUSES: Mapping[HTTPStatus, tuple[type[EsotericError], ...]] = {
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        *(InvalidClaim, InvalidText, UnknownRecipe, RecipeUnavailable, BadSource),
        *(CorpusRefused, CorpusNotReady),
    ),
    HTTPStatus.NOT_FOUND: (UnknownCorpus, UnknownJob, UnknownFeedback, UnknownList),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        *(StoreUnavailable, BrokerUnavailable, QueueFull, TextsBusy),
        *(IndexUnavailable, ModelUnavailable),
    ),
    HTTPStatus.INSUFFICIENT_STORAGE: (CorpusNotWritten,),
}
_COME_BACK = ((QueueFull, 60), (TextsBusy, 5))  # seconds
_HTTP_PROBLEMS = {
    400: Problem("bad_request", "The request cannot be read.", "Check what was sent."),
    404: Problem(
        "not_found",
        "There is nothing at this address.",
        "Check the address, or start at the first page.",
    ),
    405: Problem(
        "method_not_allowed",
        "This address does not accept this method.",
        "Use one of the methods in the Allow header.",
    ),
    413: Problem(
        "too_large",
        "The request is too large: 64 KiB at most, or 6 MiB for a list of claims.",
        "Send one claim of at most 500 characters, or divide the list.",
    ),
}
_FAULT = Problem(
    "internal",
    "Something went wrong on our side.",
    "Try again; the details are in web.log in ESOTERIC_HOME/logs.",
)


class RequestRefused(EsotericError):
    """A request that is refused with this status and this problem, and with more headers.

    ``limit``: what the client has too much of, if the code of the problem does not say it.
    """

    def __init__(
        self,
        status: HTTPStatus,
        problem: Problem,
        headers: Mapping[str, str] | None = None,
        limit: Limit | None = None,
    ) -> None:
        super().__init__(problem.code, problem.message, problem.hint)
        self.status, self.headers, self.limit = status, headers or {}, limit


def refusal(status: HTTPStatus, code: str, message: str, hint: str) -> RequestRefused:
    """Return the error of a request that is refused with this status."""
    return RequestRefused(status, Problem(code, message, hint))


def status_of(error: EsotericError) -> HTTPStatus:
    """Return the status that an error is answered with."""
    if isinstance(error, RequestRefused):
        return error.status
    found = (status for status, kinds in _STATUSES.items() if isinstance(error, kinds))
    return next(found, HTTPStatus.INTERNAL_SERVER_ERROR)


def refused_page(page: str, error: EsotericError) -> Response:
    """Return a page that says why something is refused, with the status of the error."""
    _note_limit(error)
    seconds = next((s for kind, s in _COME_BACK if isinstance(error, kind)), None)
    headers = {"Retry-After": str(seconds)} if seconds else {}
    if isinstance(error, RequestRefused):
        headers |= error.headers
    return Response(page, status_of(error), headers, mimetype="text/html")


def _note_limit(error: EsotericError) -> None:
    """Remember which limit refuses this request, if one does, so that it is counted."""
    given = error.limit if isinstance(error, RequestRefused) else None
    limit = given or LIMIT_OF.get(error.code)
    if limit is not None:
        g.refused_by = limit


def install_error_handlers(app: Flask) -> None:
    """Answer every exception with an error of this form."""

    @app.errorhandler(EsotericError)
    def on_known(error: EsotericError) -> Response:
        _note_limit(error)
        status = status_of(error)
        if isinstance(error, RequestRefused):
            response = error_response(error.problem, status)
            response.headers.extend(error.headers)
            return response
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # The answer has no paths of the server; the log has them.
            logger.error("%s %s: %s", request.method, request.path, error)
        return error_response(services_of(app).paths.hidden_in_problem(error.problem), status)

    @app.errorhandler(HTTPException)
    def on_http(error: HTTPException) -> Response:
        code = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
        if code >= 500:
            return error_response(_FAULT, HTTPStatus(code))
        if code < 400:
            return Response(status=code, headers=error.get_headers())
        if code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            g.refused_by = "request_bytes"
        status = HTTPStatus(code)
        fallback = Problem(
            status.phrase.lower().replace(" ", "_"), f"{status.phrase}.", "Check what was sent."
        )
        response = error_response(_HTTP_PROBLEMS.get(code, fallback), status)
        valid_methods = getattr(error, "valid_methods", None)
        if valid_methods:
            response.headers["Allow"] = ", ".join(sorted(valid_methods))
        return response

    @app.errorhandler(Exception)
    def on_fault(error: Exception) -> Response:
        logger.exception("A request failed: %s %s", request.method, request.path)
        return error_response(_FAULT, HTTPStatus.INTERNAL_SERVER_ERROR)


def error_response(problem: Problem, status: HTTPStatus) -> Response:
    """Return the error, as JSON to programs and as a page to people."""
    if wants_json():
        response = answer(Error(error=problem))
    else:
        page = render_template("error.html", status=int(status), problem=problem)
        response = Response(page, mimetype="text/html")
    response.status_code = status
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = "5"
    return response


def wants_json() -> bool:
    """Return whether a program sent this request."""
    if request.path.startswith(_PROGRAM_PATHS):
        return True
    kinds = ["text/html", "application/json"]
    return request.accept_mimetypes.best_match(kinds, "text/html") == "application/json"
