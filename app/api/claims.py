"""Claims by the API: submit, read, follow, cancel, export; and the recipes that check them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http import HTTPStatus

from flask import Blueprint, Response, request, url_for
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.api.models import (
    Claims,
    Error,
    Forget,
    Model,
    Recipes,
    Since,
    Submission,
    answer,
    download,
)
from app.api.openapi import describe
from app.claims.history import ClaimSearch, listed_claims
from app.claims.recipes import listed_recipes, recipe_to_run
from app.documents.corpus import corpora_to_search
from app.http.errors import RequestRefused, refusal
from app.http.query import asked_by_program, json_body
from app.http.streams import COMMENT, HEADERS
from app.people.asker import client
from app.people.visitor import refuse_others, visitor
from app.result.export import EXPORTS, FORMATS, ClaimFormat
from app.result.published import Published, confirmation
from app.services import Services, services
from retrieval.types import Whole
from worker.feedback_store import FeedbackStore
from worker.jobs import MOST_SAID, Event, Job, Links, Origin, SaidBy, State, UnknownJob
from worker.user_store import user_of

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")

_NO_CLAIM = (Error, "No such claim")
# What is wrong with the value of a key.
_WRONG = {
    "recipe": (
        *("bad_recipe", "The recipe is not a string."),
        "Send the name of a recipe, or leave it out.",
    ),
    "corpora": (
        *("bad_corpora", "The corpora are not a list of names."),
        'Send names such as ["vital"], or leave them out.',
    ),
    "anyway": (
        *("bad_anyway", 'The value of "anyway" is not true or false.'),
        "Send true, or leave it out.",
    ),
}
_WRONG |= dict.fromkeys(
    ("speaker", "appearance", "said_on"),
    (
        "bad_said_by",
        f"Who said the claim, where or when is not a text of at most {MOST_SAID} characters.",
        "Send a shorter text, or leave it out.",
    ),
)
# A stream of events looks for news this often, less often the longer there is none, in seconds.
_FASTEST, _SLOWEST = 0.1, 1.0
_SLOWER = 1.5
_COMMENT_EVERY = 5.0
# Then it ends, and the client connects again: one that is gone for good holds no thread.
_LONGEST = 60.0


class Accepted(Model):
    """A claim that was submitted."""

    id: str
    """Id of the claim."""
    state: State
    """Its state."""
    links: Links
    """Addresses of the claim."""


class Progress(Model):
    """The state of a claim and its events after `since`."""

    state: State
    """State of the claim."""
    events: tuple[Event, ...]
    """The events, in order."""
    next: Whole
    """The `since` for the next request."""


class Standing(Model):
    """Where a claim stands; the data of the event `state`."""

    state: State
    """State of the claim."""
    before: Whole
    """How many claims wait before it; 0 unless it waits itself."""


class ExportFormat(Model):
    """Which file to return."""

    format: ClaimFormat = "json"
    """Format of the file. `html` is one page that needs no other file. `claimreview` needs the
    agreement of a person with a name; where there is one, `html` has it too, and `pdf` the name."""


@blueprint.post("/claims")
@describe(
    json=Submission,
    HTTP_202=(Accepted, "Accepted; Location is its address"),
    HTTP_404=(Error, "No such corpus"),
    HTTP_422=(Error, "The claim cannot be checked, or by this recipe or in these corpora"),
    HTTP_429=(Error, "Too many; Retry-After is when to come back, in seconds"),
)
def submit() -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Submit a claim; the same claim, while it is pending, stays one job."""
    asked = _submission()
    services().limits.claim()
    recipe = recipe_to_run(asked.recipe)
    corpora = corpora_to_search(asked.corpora or ())
    submitted = services().queue.submit(
        *(asked.claim, recipe, asked.anyway, visitor()),
        origin=Origin(said=SaidBy.of(asked.speaker, asked.appearance, asked.said_on)),
        corpora=corpora,
        client=client(),
    )
    job = Accepted.model_validate(submitted)
    return answer(job), HTTPStatus.ACCEPTED, {"Location": job.links.self}


@blueprint.get("/claims")
@describe(
    query=ClaimSearch,
    HTTP_200=(Claims, "The page"),
    HTTP_400=(Error, "A number is out of range, or a filter has no such value"),
)
def claims() -> Response:
    """List the claims that pass all filters, newest first, page by page."""
    return answer(listed_claims(asked_by_program(ClaimSearch)))


@blueprint.get("/claims/<job_id>")
@describe(HTTP_200=(Job, "The claim"), HTTP_404=_NO_CLAIM)
def claim(job_id: str) -> Response:
    """Return the claim with its result or its error."""
    return answer(services().job(job_id))


@blueprint.get("/claims/<job_id>/progress")
@describe(
    query=Since,
    HTTP_200=(Progress, "State and events"),
    HTTP_400=(Error, "'since' is not a number"),
    HTTP_404=_NO_CLAIM,
)
def progress(job_id: str) -> Response:
    """Return the events after number ``since``."""
    since = asked_by_program(Since).since
    store = services().store
    # The state is read before the events, so that an answer with "done" has every event.
    state = store.get(job_id).state
    events = store.events(job_id, since)
    after = events[-1].n if events else since
    return answer(Progress(state=state, events=tuple(events), next=after))


@blueprint.get("/claims/<job_id>/events")
@describe(
    query=Since,
    HTTP_200=(None, "A stream of the events `progress` and `state`"),
    HTTP_404=_NO_CLAIM,
    HTTP_429=(Error, "This client has too many streams open"),
)
def events(job_id: str) -> ResponseReturnValue:
    """Send the progress of a claim as it is made (text/event-stream).

    `progress` is an event as in `/progress`, `state` the state of the claim and how many wait
    before it; the stream ends with a `state` that is final. After a break it goes on with the
    event after that which the header `Last-Event-ID` or `since` names. Where too many streams are
    open it is refused with 503: ask for `/progress` then.
    """
    services().job(job_id)  # raises where there is none, before the answer begins
    closed = services().limits.stream()
    stream = services().streams.hold(_messages(services(), job_id, _since()), closed)
    if stream is None:
        raise refusal(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "too_many_streams",
            "This server has as many open event streams as it can.",
            "Ask for the progress from time to time instead, or try again later.",
        )
    # Of a whole response ``describe`` would wait for the end.
    return stream, HTTPStatus.OK, HEADERS


@blueprint.delete("/claims/<job_id>")
@describe(
    query=Forget,
    HTTP_200=(Job, "The claim as it is now; a finished one stays as it is"),
    HTTP_204=(None, "Deleted"),
    HTTP_400=(Error, "'forget' is not 0 or 1"),
    HTTP_403=(Error, "From another site, or somebody else's"),
    HTTP_404=_NO_CLAIM,
)
def cancel(job_id: str) -> Response:
    """Cancel the claim if it is pending, and return it; with ``forget`` delete it."""
    forget = asked_by_program(Forget).forget == "1"
    refuse_others(services().store.owner(job_id))
    if forget:
        services().store.delete(job_id)
        return Response(status=HTTPStatus.NO_CONTENT)
    return answer(services().paths.hidden_in_job(services().queue.cancel(job_id)))


@blueprint.get("/claims/<job_id>/export")
@describe(
    query=ExportFormat,
    HTTP_200=(None, "The file"),
    HTTP_400=(Error, "No such format"),
    HTTP_404=_NO_CLAIM,
    HTTP_409=(Error, "There is no result, or no person has confirmed it for a ClaimReview"),
)
def export_claim(job_id: str) -> Response:
    """Return the result as a file."""
    name = asked_by_program(ExportFormat).format
    job = services().job(job_id)
    if job.result is None:
        raise refusal(
            HTTPStatus.CONFLICT,
            "not_done",
            f"This claim has no result to export: it is {job.state}.",
            "Wait until its state is done, or submit it again.",
        )
    confirmed = None
    if name in ("claimreview", "html", "pdf"):
        confirmed = confirmation(FeedbackStore(services().database).about(job.id), visitor())
        if confirmed is None and name == "claimreview":
            raise refusal(
                HTTPStatus.CONFLICT,
                "not_confirmed",
                "No person has confirmed this verdict, and a ClaimReview is a person's.",
                "Read the evidence, and agree with the verdict under your name.",
            )
    page = url_for("pages.claim", job_id=job.id, _external=True)
    assert job.finished_at is not None
    published = Published(
        *(job.result, page, job.finished_at, job.said),
        text_sentence=services().lists.text_sentence_of(job.id, visitor()),
        submitted_by=user_of(services().store.owner(job.id)),
        by=confirmed,
    )
    file = FORMATS[name]
    content = EXPORTS[name](job, published)
    return download(content, file.media_type, f"claim-{job.id}.{file.suffix}")


@blueprint.get("/recipes")
@describe(HTTP_200=(Recipes, "All recipes"))
def recipes() -> Response:
    """List the recipes: which of them can run here, and why others cannot."""
    return answer(listed_recipes())


def _submission() -> Submission:
    body = json_body('{"claim": "Water boils at 100 degrees."}')
    try:
        return Submission.model_validate(body)
    except ValidationError as error:
        raise _refused(error.errors()[0]) from error


def _refused(error: ErrorDetails) -> RequestRefused:
    key = str(error["loc"][0]) if error["loc"] else ""
    said = _WRONG.get(
        key,
        (
            *("missing_claim", "There is no claim in the body."),
            'Send an object with the key "claim" and the claim as a string.',
        ),
    )
    if error["type"] == "extra_forbidden":
        said = (
            *("unknown_key", f"The body has an unknown key: {key[:80]!r}."),
            'Send only "claim" and, optionally, "recipe", "corpora" and "anyway".',
        )
    elif error["type"] == "string_type" and key == "claim":
        said = ("claim_not_text", "The claim is not text.", "Send one sentence as a string.")
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, *said)


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
            state, before = given.store.standing(job_id)
        except UnknownJob:
            return  # deleted; whoever connects again learns that
        standing = Standing(state=state, before=before)
        found = given.store.events(job_id, since)
        for event in found:
            since = event.n
            yield _message("progress", event, event.n)
        if standing != sent:
            yield _message("state", standing)
        if state not in ("queued", "running"):
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


def _message(name: str, value: BaseModel, number: int | None = None) -> str:
    """Return a message; JSON has no line breaks, which would end it."""
    key = "" if number is None else f"id: {number}\n"
    return f"{key}event: {name}\ndata: {value.model_dump_json()}\n\n"
