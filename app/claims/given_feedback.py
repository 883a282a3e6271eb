"""What people say about a verdict: read, shown and deleted in one way for pages and the API."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from app.api.models import FeedbackGiven, FeedbackItem
from app.http.errors import RequestRefused
from app.people.visitor import refuse_others
from app.services import services
from retrieval.errors import Problem
from retrieval.types import Label
from worker.feedback_store import Feedback, FeedbackStore, Said

_LONGEST_NOTE, _LONGEST_NAME = 2000, 100
_FIELDS = 'Send an object with "agrees" and, optionally, "label", "wrong", "note" and "name".'
_WRONG = {
    "agrees": "Say true or false.",
    "label": "Without agreement, say what the verdict should be: SUPPORTS, REFUTES or NOT ENOUGH"
    " INFO.",
    "wrong": "Name evidence of this claim by its numbers, from 1.",
    "note": f"A note has at most {_LONGEST_NOTE} characters.",
    "name": f"A name has at most {_LONGEST_NAME} characters.",
}


def given_opinion(job_id: str, given: object) -> Said:
    """Return what somebody says about a verdict, checked against the claim that it is about.

    Raises:
        RequestRefused: it is not as described, or the claim has no verdict.
        UnknownJob: there is no such claim.
    """
    said = _valid(given)
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
    label: Label | None = result.verdict.label if said.agrees else said.label
    if label is None:
        raise _refused("label", _WRONG["label"])
    if any(not 1 <= number <= len(result.evidence) for number in said.wrong):
        raise _refused("wrong", _WRONG["wrong"])
    note, name = _plain(said.note), " ".join(_plain(said.name).split())
    if len(note) > _LONGEST_NOTE:
        raise _refused("note", _WRONG["note"])
    if len(name) > _LONGEST_NAME:
        raise _refused("name", _WRONG["name"])
    return Said(said.agrees, label, tuple(sorted(set(said.wrong))), note, name)


def delete_feedback(feedback_id: str) -> None:
    """Delete feedback.

    Raises:
        RequestRefused: it is somebody else's.
        UnknownFeedback: there is none with this id.
    """
    refuse_others(feedback_store().get(feedback_id).owner)
    feedback_store().delete(feedback_id)


def feedback_of(owner: str) -> list[dict[str, Any]]:
    """Return all feedback of a visitor, as the API shows it, newest first."""
    _, total = feedback_store().listed(owner, 0)
    found, _ = feedback_store().listed(owner, total)
    return [feedback_item(one).model_dump(mode="json") for one in found]


def feedback_item(feedback: Feedback) -> FeedbackItem:
    """Return feedback as the API shows it."""
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


def feedback_store() -> FeedbackStore:
    """Return the store of what people say."""
    return FeedbackStore(services().database)


def _valid(given: object) -> FeedbackGiven:
    try:
        return FeedbackGiven.model_validate(given)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        name = str(where[0])[:80] if where else ""
        raise _refused(name, _WRONG.get(name, _FIELDS)) from error


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
