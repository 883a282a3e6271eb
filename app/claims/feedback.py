"""What people say about verdicts: given, shown and deleted by pages and the API, and as data sets.

A line of a data set needs sentences that show the label. They are those that the program has found
and labelled so; those that the person calls labelled wrongly are left out. Where a decided label
has no sentence, there is no line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, Literal

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import FeedbackGiven, FeedbackItem, FeedbackSearch, Model
from app.api.openapi import describe
from app.http.errors import RequestRefused, refusal
from app.http.query import asked_by_person, pages_of
from app.people.access import listed_owner
from app.people.visitor import may_change, refuse_others, viewer, visitor, visitor_with_cookie
from app.services import services
from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO, Label, SentenceKey, Whole
from worker.feedback_store import Feedback, FeedbackStore, Said
from worker.jobs import Job, SaidBy

blueprint = Blueprint("feedback", __name__)

PER_PAGE = 20
_KIND = "feedback"
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


class FeedbackForm(Model):
    """What somebody says about a verdict."""

    agrees: Literal["0", "1"] = "0"
    """1: the verdict is right."""
    label: Label | None = None
    """What it should be, where it is not right."""
    wrong: tuple[Whole, ...] = ()
    """The evidence that is labelled wrongly, as numbers from 1."""
    note: str = ""
    """A note."""
    name: str = ""
    """Name of the person, which is shown with the feedback."""
    speaker: str = ""
    """Who said the claim; kept, with the next two, if the claim is the visitor's."""
    appearance: str = ""
    """Where it was said, or the address of that."""
    said_on: str = ""
    """When it was said."""


@blueprint.post("/claims/<job_id>/feedback")
@describe(
    form=FeedbackForm,
    HTTP_303=(None, "The claim's page"),
    HTTP_404=(None, "No such claim"),
    HTTP_409=(None, "There is no verdict yet"),
    HTTP_422=(None, "Without what the verdict should be, or otherwise not as described"),
)
def give(job_id: str) -> BaseResponse:
    """Store what the visitor says about the verdict; it replaces what the same one said before."""
    form = request.form
    given = {
        "agrees": form.get("agrees") == "1",
        "label": form.get("label") or None,
        "wrong": form.getlist("wrong"),
        "note": form.get("note", ""),
        "name": form.get("name", ""),
    }
    opinion = given_opinion(job_id, given)
    feedback_store().give(job_id, opinion, visitor_with_cookie())
    if "speaker" in form and may_change(services().store.owner(job_id)):
        said = SaidBy.of(*map(form.get, ("speaker", "appearance", "said_on")))
        services().store.say(job_id, said)
    page = url_for("pages.claim", job_id=job_id, _anchor="actions")
    return redirect(page, HTTPStatus.SEE_OTHER)


@blueprint.get("/feedback")
@describe(query=FeedbackSearch, HTTP_200=(None, "The page"))
def page() -> str:
    """Show the feedback, newest first."""
    asked = asked_by_person(FeedbackSearch)
    yours = asked.whose == "yours"
    owner = listed_owner() or ((visitor() or "") if yours else None)
    _, total = feedback_store().listed(owner, 0, 0, viewer())
    pages = pages_of(total, PER_PAGE)
    number = min(asked.page, pages)
    found, _ = feedback_store().listed(owner, PER_PAGE, (number - 1) * PER_PAGE, viewer())
    return render_template(
        "feedback.html", yours=yours, given=found, total=total, number=number, pages=pages
    )


@blueprint.post("/feedback/<feedback_id>/delete")
@describe(
    HTTP_303=(None, "The list of feedback"),
    HTTP_403=(None, "From another site, or somebody else's"),
    HTTP_404=(None, "No such feedback"),
)
def delete(feedback_id: str) -> BaseResponse:
    """Delete feedback and redirect to the list."""
    delete_feedback(feedback_id)
    return redirect(url_for(".page"), HTTPStatus.SEE_OTHER)


def given_opinion(job_id: str, given: object) -> Said:
    """Return what somebody says about a verdict, checked against the claim that it is about.

    Raises:
        RequestRefused: it is not as described, or the claim has no verdict.
        UnknownJob: there is no such claim.
    """
    said = _valid(given)
    result = services().store.get(job_id).result
    if result is None:
        raise refusal(
            HTTPStatus.CONFLICT,
            "not_done",
            "This claim has no verdict that one could agree or disagree with.",
            "Wait until its state is done, or submit it again.",
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
    known = {name: getattr(feedback, name) for name in ("id", "claim_id", "claim", "verdict")}
    return FeedbackItem(**known, **asdict(feedback.opinion), created_at=feedback.created_at)


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
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "bad_feedback", wrong, hint)


def lines(name: str, given: Iterable[tuple[Feedback, Job]]) -> Iterator[str]:
    """Yield the lines of a format.

    Raises:
        KeyError: there is no such format.
    """
    records = FORMATS[name]
    for feedback, job in given:
        if job.result is not None:
            for record in records(job.result, feedback.opinion):
                yield json.dumps(record, ensure_ascii=False) + "\n"


def _claims(result: ClaimResult, opinion: Said) -> Iterator[dict[str, Any]]:
    """Yield the line ``{"claim", "label", "kind", "evidence", "texts"}``."""
    record: dict[str, Any] = {"claim": result.claim, "label": opinion.label, "kind": _KIND}
    if opinion.label == NOT_ENOUGH_INFO:
        tempting = [_key(result.evidence[number - 1]) for number in opinion.wrong[:1]]
        yield record | {"evidence": []} | ({"tempting": tempting[0]} if tempting else {})
        return
    sets = _sets(result, opinion)
    if sets:
        known = {_key(item): item.sentence for item in result.evidence}
        record |= {"evidence": sets}
        if all(key in known for group in sets for key in group):
            record |= {"texts": [[known[key] for key in group] for group in sets]}
        yield record


def _pairs(result: ClaimResult, opinion: Said) -> Iterator[dict[str, Any]]:
    """Yield lines ``{"claim", "label", "evidence", "source", "kind"}``, one for each set."""
    known = {_key(item): item for item in result.evidence}
    sets = [[_key(item) for item in result.selected]]
    if opinion.label != NOT_ENOUGH_INFO:
        sets = _sets(result, opinion)
    for group in sets:
        sentences = [
            {"title": known[key].title, "sentence": known[key].sentence}
            for key in group
            if key in known
        ]
        if sentences and len(sentences) == len(group):
            yield {
                "claim": result.claim,
                "label": opinion.label,
                "evidence": sentences,
                "source": _KIND,
                "kind": _KIND,
            }


def _sets(result: ClaimResult, opinion: Said) -> list[list[SentenceKey]]:
    """Return the sets of sentences with the label, selected ones if there are any."""
    right = [
        item
        for rank, item in enumerate(result.evidence, 1)
        if item.stance == opinion.label and rank not in opinion.wrong
    ]
    best = [item for item in right if item.selected] or right
    return [[*item.path, _key(item)] for item in best]


def _key(item: Evidence) -> SentenceKey:
    return SentenceKey(item.document, item.sentence_id)


FORMATS: dict[str, Callable[[ClaimResult, Said], Iterator[dict[str, Any]]]] = {
    "claims": _claims,
    "pairs": _pairs,
}
