"""Feedback by the API: give, list, read, export and delete what people say about verdicts."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response, stream_with_context

from app.api.models import (
    Error,
    FeedbackGiven,
    FeedbackItem,
    FeedbackSearch,
    Model,
    OnePage,
    answer,
    download,
)
from app.api.openapi import describe
from app.claims.feedback import (
    delete_feedback,
    feedback_item,
    feedback_store,
    given_opinion,
    lines,
)
from app.http.query import asked_by_program, json_body, numbers_of
from app.people.access import listed_owner
from app.people.visitor import viewer, visitor

blueprint = Blueprint("api_feedback", __name__, url_prefix="/api/v1")

_NO_FEEDBACK = (Error, "No such feedback")
_YOURS_ONLY = (Error, "From another site, or somebody else's")


class FeedbackList(OnePage):
    """One page of the feedback, newest first."""

    feedback: tuple[FeedbackItem, ...]
    """The feedback of the page."""


class FeedbackFormat(Model):
    """Which file to return."""

    format: Literal["claims", "pairs"] = "claims"
    """`claims`: lines that `esoteric evaluate --claims` and the trainings read; `pairs`: lines for
    `esoteric evaluate --pairs`."""


@blueprint.post("/claims/<job_id>/feedback")
@describe(
    json=FeedbackGiven,
    HTTP_201=(FeedbackItem, "Stored; Location is its address"),
    HTTP_404=(Error, "No such claim"),
    HTTP_409=(Error, "There is no verdict yet"),
    HTTP_422=(Error, "Without what the verdict should be, or otherwise not as described"),
)
def give(job_id: str) -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Say what the verdict should be; with a cookie it replaces what that visitor said before."""
    opinion = given_opinion(job_id, json_body('{"agrees": true}'))
    kept = feedback_store().give(job_id, opinion, visitor())
    headers = {"Location": f"/api/v1/feedback/{kept.id}"}
    return answer(feedback_item(kept)), HTTPStatus.CREATED, headers


@blueprint.get("/feedback")
@describe(
    query=FeedbackSearch,
    HTTP_200=(FeedbackList, "The page"),
    HTTP_400=(Error, "'page', 'limit' or 'whose' is out of range"),
)
def listed() -> Response:
    """List the feedback, newest first, page by page."""
    asked = asked_by_program(FeedbackSearch)
    owner = listed_owner() or ((visitor() or "") if asked.whose == "yours" else None)
    offset = (asked.page - 1) * asked.limit
    found, total = feedback_store().listed(*(owner, asked.limit, offset), viewer())
    numbers = numbers_of(total, asked.page, asked.limit)
    return answer(FeedbackList(feedback=tuple(map(feedback_item, found)), **numbers))


@blueprint.get("/feedback/export")
@describe(
    query=FeedbackFormat,
    HTTP_200=(None, "The file: JSON lines"),
    HTTP_400=(Error, "No such format"),
)
def export() -> Response:
    """Return all feedback as claims, or as pairs of claim and evidence, one a line."""
    name = asked_by_program(FeedbackFormat).format
    owner, seen_by = listed_owner(), viewer()
    found = feedback_store().with_jobs(seen_by)
    given = (one for one in found if owner is None or one[0].owner == owner)
    content = stream_with_context(lines(name, given))
    return download(content, "application/jsonl", f"feedback-{name}.jsonl")


@blueprint.get("/feedback/<feedback_id>")
@describe(HTTP_200=(FeedbackItem, "The feedback"), HTTP_404=_NO_FEEDBACK)
def one(feedback_id: str) -> Response:
    """Return one piece of feedback."""
    return answer(feedback_item(feedback_store().get(feedback_id)))


@blueprint.delete("/feedback/<feedback_id>")
@describe(HTTP_204=(None, "Deleted"), HTTP_403=_YOURS_ONLY, HTTP_404=_NO_FEEDBACK)
def delete(feedback_id: str) -> Response:
    """Delete feedback."""
    delete_feedback(feedback_id)
    return Response(status=HTTPStatus.NO_CONTENT)
