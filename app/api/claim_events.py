"""The progress of a claim by the API, as server-sent events."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http import HTTPStatus

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ValidationError

from app.api.models import Error, Model, Since
from app.api.openapi import describe
from app.http.errors import RequestRefused
from app.http.streams import COMMENT, HEADERS
from app.services import Services, services
from retrieval.errors import Problem
from retrieval.types import Whole
from worker.jobs import State, UnknownJob

blueprint = Blueprint("events", __name__, url_prefix="/api/v1")

# A stream looks for news this often, less often the longer there is none, in seconds.
_FASTEST, _SLOWEST = 0.1, 1.0
_SLOWER = 1.5
_COMMENT_EVERY = 5.0
# Then it ends, and the client connects again: one that is gone for good holds no thread.
_LONGEST = 60.0


class Standing(Model):
    """Where a claim stands; the data of the event `state`."""

    state: State
    """State of the claim."""
    before: Whole
    """How many claims wait before it; 0 unless it waits itself."""


@blueprint.get("/claims/<job_id>/events")
@describe(
    query=Since,
    HTTP_200=(None, "A stream of the events `progress` and `state`"),
    HTTP_404=(Error, "No such claim"),
    HTTP_429=(Error, "This client has too many streams open"),
)
def events(job_id: str) -> ResponseReturnValue:
    """Send the progress of a claim as it is made (text/event-stream).

    `progress` is an event as in `/progress`, `state` the state of the claim and how many wait
    before it; the stream ends with a `state` that is final. After a break it goes on behind the
    header `Last-Event-ID`, or behind `since`. Where too many streams are open it is refused with
    503: ask for `/progress` then.
    """
    services().job(job_id)  # raises where there is none, before the answer begins
    closed = services().limits.stream()
    stream = services().streams.hold(_messages(services(), job_id, _since()), closed)
    if stream is None:
        raise RequestRefused(
            HTTPStatus.SERVICE_UNAVAILABLE,
            Problem(
                "too_many_streams",
                "This server has as many open event streams as it can.",
                "Ask for the progress from time to time instead, or try again later.",
            ),
        )
    # Of a whole response ``describe`` would wait for the end.
    return stream, HTTPStatus.OK, HEADERS


def _since() -> int:
    last = request.headers.get("Last-Event-ID") or request.args.get("since", "0")
    try:
        return Since.model_validate({"since": last}).since
    except ValidationError:
        return 0  # an id that is not ours: everything is new


def _messages(given: Services, job_id: str, since: int) -> Iterator[str]:
    ends = time.monotonic() + _LONGEST
    sent: Standing | None = None
    pause, silent = _FASTEST, 0.0
    while time.monotonic() < ends:
        try:
            # The state is read before the events, so that every event comes before the last state.
            standing = _standing(given, job_id)
        except UnknownJob:
            return  # deleted; whoever connects again learns that
        found = given.store.events(job_id, since)
        for event in found:
            since = event.n
            yield _message("progress", event, event.n)
        if standing != sent:
            yield _message("state", standing)
        if standing.state not in ("queued", "running"):
            return
        news = bool(found) or standing != sent
        sent = standing
        pause = _FASTEST if news else min(_SLOWEST, pause * _SLOWER)
        silent = 0.0 if news else silent + pause
        if silent > _COMMENT_EVERY:
            silent = 0.0
            yield COMMENT
        if given.streams.wait(pause):
            return


def _standing(given: Services, job_id: str) -> Standing:
    state, before = given.store.standing(job_id)
    return Standing(state=state, before=before)


def _message(name: str, value: BaseModel, number: int | None = None) -> str:
    """Return a message; JSON has no line breaks, which would end it."""
    key = "" if number is None else f"id: {number}\n"
    return f"{key}event: {name}\ndata: {value.model_dump_json()}\n\n"
