"""What people say about verdicts: given on a claim's page or by the API, listed at ``/feedback``.

``esoteric evaluate`` and the trainings read the export (``app/claims/feedback_export.py``).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, redirect, request, stream_with_context, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import (
    Error,
    FeedbackForm,
    FeedbackFormat,
    FeedbackGiven,
    FeedbackItem,
    FeedbackList,
    FeedbackSearch,
    answer,
)
from app.api.openapi import describe
from app.claims.contexts import FeedbackPage
from app.claims.feedback_export import lines
from app.contexts import render
from app.http.errors import RequestRefused
from app.http.json_body import json_body
from app.http.query import asked_by_person, asked_by_program, pages_of
from app.people.access import listed_owner
from app.people.visitor import refuse_others, visitor, visitor_with_cookie
from app.services import services
from retrieval.errors import Problem
from retrieval.types import Label
from worker.feedback_store import Feedback, FeedbackStore, Said

blueprint = Blueprint("feedback", __name__)

PER_PAGE = 20
_LONGEST_NOTE, _LONGEST_NAME = 2000, 100
_NO_FEEDBACK = (Error, "No such feedback")
_YOURS_ONLY = (Error, "From another site, or somebody else's")
_FIELDS = 'Send an object with "agrees" and, optionally, "label", "wrong", "note" and "name".'
_WRONG = {
    "agrees": "Say true or false.",
    "label": "Without agreement, say what the verdict should be: SUPPORTS, REFUTES or NOT ENOUGH"
    " INFO.",
    "wrong": "Name evidence of this claim by its numbers, from 1.",
    "note": f"A note has at most {_LONGEST_NOTE} characters.",
    "name": f"A name has at most {_LONGEST_NAME} characters.",
}


@blueprint.post("/claims/<job_id>/feedback")
@describe(
    form=FeedbackForm,
    HTTP_303=(None, "The claim's page"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "No such claim"),
    HTTP_409=(None, "There is no verdict yet"),
    HTTP_422=(None, "Without what the verdict should be, or otherwise not as described"),
)
def give(job_id: str) -> BaseResponse:
    """Store what the visitor says about the verdict; it replaces what the same one said before."""
    form = request.form
    given = _valid(
        {
            "agrees": form.get("agrees") == "1",
            "label": form.get("label") or None,
            "wrong": form.getlist("wrong"),
            "note": form.get("note", ""),
            "name": form.get("name", ""),
        }
    )
    _store().give(job_id, _opinion(job_id, given), visitor_with_cookie())
    page = url_for("pages.claim", job_id=job_id, _anchor="actions")
    return redirect(page, HTTPStatus.SEE_OTHER)


@blueprint.post("/api/v1/claims/<job_id>/feedback")
@describe(
    json=FeedbackGiven,
    HTTP_201=(FeedbackItem, "Stored; Location is its address"),
    HTTP_400=(Error, "Malformed JSON"),
    HTTP_403=(Error, "From another site"),
    HTTP_404=(Error, "No such claim"),
    HTTP_409=(Error, "There is no verdict yet"),
    HTTP_413=(Error, "More than 64 KiB"),
    HTTP_415=(Error, "Not JSON"),
    HTTP_422=(Error, "Without what the verdict should be, or otherwise not as described"),
)
def give_by_api(job_id: str) -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Say what the verdict should be; with a cookie it replaces what that visitor said before."""
    given = _valid(json_body('{"agrees": true}'))
    kept = _store().give(job_id, _opinion(job_id, given), visitor())
    return answer(_item(kept)), HTTPStatus.CREATED, {"Location": f"/api/v1/feedback/{kept.id}"}


@blueprint.get("/api/v1/feedback")
@describe(
    query=FeedbackSearch,
    HTTP_200=(FeedbackList, "The page"),
    HTTP_400=(Error, "'page', 'limit' or 'whose' is out of range"),
)
def listed() -> Response:
    """List the feedback, newest first, page by page."""
    asked = asked_by_program(FeedbackSearch)
    owner = listed_owner() or ((visitor() or "") if asked.whose == "yours" else None)
    found, total = _store().listed(owner, asked.limit, (asked.page - 1) * asked.limit)
    return answer(
        FeedbackList(
            feedback=tuple(map(_item, found)),
            total=total,
            page=asked.page,
            pages=pages_of(total, asked.limit),
        )
    )


@blueprint.get("/api/v1/feedback/export")
@describe(
    query=FeedbackFormat,
    HTTP_200=(None, "The file: JSON lines"),
    HTTP_400=(Error, "No such format"),
)
def export() -> Response:
    """Return all feedback as claims, or as pairs of claim and evidence, one a line."""
    name = asked_by_program(FeedbackFormat).format
    owner = listed_owner()
    given = (one for one in _store().with_jobs() if owner is None or one[0].owner == owner)
    return Response(
        stream_with_context(lines(name, given)),
        mimetype="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="feedback-{name}.jsonl"'},
    )


@blueprint.get("/api/v1/feedback/<feedback_id>")
@describe(HTTP_200=(FeedbackItem, "The feedback"), HTTP_404=_NO_FEEDBACK)
def one(feedback_id: str) -> Response:
    """Return one piece of feedback."""
    return answer(_item(_store().get(feedback_id)))


@blueprint.delete("/api/v1/feedback/<feedback_id>")
@describe(HTTP_204=(None, "Deleted"), HTTP_403=_YOURS_ONLY, HTTP_404=_NO_FEEDBACK)
def delete_by_api(feedback_id: str) -> Response:
    """Delete feedback."""
    _delete(feedback_id)
    return Response(status=HTTPStatus.NO_CONTENT)


@blueprint.get("/feedback")
@describe(query=FeedbackSearch, HTTP_200=(None, "The page"))
def page() -> str:
    """Show the feedback, newest first."""
    asked = asked_by_person(FeedbackSearch)
    yours = asked.whose == "yours"
    owner = listed_owner() or ((visitor() or "") if yours else None)
    _, total = _store().listed(owner, 0)
    pages = pages_of(total, PER_PAGE)
    number = min(asked.page, pages)
    found, _ = _store().listed(owner, PER_PAGE, (number - 1) * PER_PAGE)
    return render(FeedbackPage(yours, tuple(found), total, number, pages))


@blueprint.post("/feedback/<feedback_id>/delete")
@describe(
    HTTP_303=(None, "The list of feedback"),
    HTTP_403=(None, "From another site, or somebody else's"),
    HTTP_404=(None, "No such feedback"),
)
def delete(feedback_id: str) -> BaseResponse:
    """Delete feedback and redirect to the list."""
    _delete(feedback_id)
    return redirect(url_for(".page"), HTTPStatus.SEE_OTHER)


def feedback_of(owner: str) -> list[dict[str, Any]]:
    """Return all feedback of a visitor, as the API shows it, newest first."""
    _, total = _store().listed(owner, 0)
    found, _ = _store().listed(owner, total)
    return [_item(one).model_dump(mode="json") for one in found]


def _delete(feedback_id: str) -> None:
    refuse_others(_store().get(feedback_id).owner)
    _store().delete(feedback_id)


def _store() -> FeedbackStore:
    return FeedbackStore(services().database)


def _valid(given: object) -> FeedbackGiven:
    try:
        return FeedbackGiven.model_validate(given)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        name = str(where[0])[:80] if where else ""
        raise _refused(name, _WRONG.get(name, _FIELDS)) from error


def _opinion(job_id: str, given: FeedbackGiven) -> Said:
    """Return the opinion, checked against the claim that it is about."""
    result = services().store.get(job_id).result
    if result is None:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            Problem(
                "not_done",
                "This claim has no verdict that one could agree or disagree with.",
                "Wait until its state is done, or submit it again.",
            ),
        )
    label: Label | None = result.verdict.label if given.agrees else given.label
    if label is None:
        raise _refused("label", _WRONG["label"])
    if any(not 1 <= number <= len(result.evidence) for number in given.wrong):
        raise _refused("wrong", _WRONG["wrong"])
    note, name = _plain(given.note), " ".join(_plain(given.name).split())
    if len(note) > _LONGEST_NOTE:
        raise _refused("note", _WRONG["note"])
    if len(name) > _LONGEST_NAME:
        raise _refused("name", _WRONG["name"])
    return Said(given.agrees, label, tuple(sorted(set(given.wrong))), note, name)


def _plain(text: str) -> str:
    """Return the text without control characters, which no database needs to keep."""
    return "".join(one for one in text if one.isprintable() or one == "\n").strip()


def _refused(name: str, hint: str) -> RequestRefused:
    wrong = (
        f"The field {name!r} of the feedback is missing or wrong."
        if name
        else "The feedback is not a JSON object."
    )
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, Problem("bad_feedback", wrong, hint))


def _item(feedback: Feedback) -> FeedbackItem:
    opinion = feedback.opinion
    return FeedbackItem(
        id=feedback.id,
        claim_id=feedback.claim_id,
        claim=feedback.claim,
        verdict=feedback.verdict,
        agrees=opinion.agrees,
        label=opinion.label,
        wrong=opinion.wrong,
        note=opinion.note,
        name=opinion.name,
        created_at=feedback.created_at,
    )
