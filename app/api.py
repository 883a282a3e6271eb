"""The API, version 1."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, jsonify, request, url_for

from app.contexts import Problem
from app.errors import RequestRefused
from app.export import EXPORTS, export
from app.openapi import openapi_document
from app.services import services
from retrieval.recipes import DEFAULT_RECIPE
from worker.jobs import event_json, job_json

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")

# Larger than any number of an event, and small enough for every database.
_MOST_DIGITS = 9


@blueprint.post("/claims")
def submit() -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Take a claim; the same one, while pending, is one job."""
    body = _read_body()
    job = services().queue.submit(body["claim"], body.get("recipe", DEFAULT_RECIPE))
    document = job_json(job)
    answer = {key: document[key] for key in ("id", "state", "links")}
    return jsonify(answer), HTTPStatus.ACCEPTED, {"Location": document["links"]["self"]}


@blueprint.get("/claims/<job_id>")
def claim(job_id: str) -> Response:
    """Return the claim with its result or its error."""
    return jsonify(job_json(services().store.get(job_id)))


@blueprint.get("/claims/<job_id>/progress")
def progress(job_id: str) -> Response:
    """Return the events after number ``since``."""
    since = request.args.get("since", "0")
    if not (since.isascii() and since.isdigit() and len(since) <= _MOST_DIGITS):
        raise RequestRefused(
            HTTPStatus.BAD_REQUEST,
            Problem(
                "bad_since",
                "'since' is not the number of an event.",
                "Use the 'next' of the answer before, or 0.",
            ),
        )
    store = services().store
    # State before events: whoever reads "done" here has been given every event.
    state = store.get(job_id).state
    events = store.events(job_id, int(since))
    return jsonify(
        state=state,
        events=[event_json(event) for event in events],
        next=events[-1].n if events else int(since),
    )


@blueprint.delete("/claims/<job_id>")
def cancel(job_id: str) -> Response:
    """Cancel the claim if it is pending, and return it."""
    return jsonify(job_json(services().queue.cancel(job_id)))


@blueprint.get("/claims/<job_id>/export")
def export_claim(job_id: str) -> Response:
    """Return the result as a file."""
    name = request.args.get("format", "json")
    if name not in EXPORTS:
        raise RequestRefused(
            HTTPStatus.BAD_REQUEST,
            Problem(
                "unknown_format",
                "There is no such export format.",
                f"Use one of: {', '.join(EXPORTS)}.",
            ),
        )
    job = services().store.get(job_id)
    if job.result is None:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            Problem(
                "not_done",
                f"This claim has no result to export: it is {job.state}.",
                "Wait until its state is done, or submit it again.",
            ),
        )
    page = url_for("pages.claim", job_id=job.id, _external=True)
    return Response(
        export(name, job, page),
        mimetype=EXPORTS[name].media_type,
        headers={
            "Content-Disposition": f'attachment; filename="claim-{job.id}.{EXPORTS[name].suffix}"'
        },
    )


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """Return the description of all routes."""
    return jsonify(openapi_document())


def _read_body() -> dict[str, Any]:
    if request.mimetype != "application/json":
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            Problem(
                "unsupported_media_type",
                "The body is not declared as JSON.",
                "Send it with the header Content-Type: application/json.",
            ),
        )
    try:
        body = json.loads(request.get_data().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RequestRefused(
            HTTPStatus.BAD_REQUEST,
            Problem(
                "malformed_json",
                "The body is not JSON in UTF-8.",
                'Send an object like {"claim": "Water boils at 100 degrees."}.',
            ),
        ) from error
    if not isinstance(body, dict) or "claim" not in body:
        raise _unprocessable(
            "missing_claim",
            "There is no claim in the body.",
            'Send an object whose key "claim" holds a text.',
        )
    if not isinstance(body.get("recipe", ""), str):
        raise _unprocessable(
            "bad_recipe", "The recipe is not a text.", "Send a recipe's name, or leave it out."
        )
    unknown = sorted(body.keys() - {"claim", "recipe"})
    if unknown:
        raise _unprocessable(
            "unknown_key",
            f"The body has a key that means nothing here: {unknown[0][:80]!r}.",
            'Send "claim" and, if you like, "recipe".',
        )
    return body


def _unprocessable(code: str, message: str, hint: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, Problem(code, message, hint))
