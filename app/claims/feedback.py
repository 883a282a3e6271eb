"""Feedback on verdicts by pages: given on a claim's page, listed and deleted at ``/feedback``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import FeedbackSearch, Model
from app.api.openapi import describe
from app.claims.contexts import FeedbackPage
from app.claims.given_feedback import delete_feedback, feedback_store, given_opinion
from app.contexts import render
from app.http.query import asked_by_person, pages_of
from app.people.access import listed_owner
from app.people.visitor import viewer, visitor, visitor_with_cookie
from retrieval.types import Label, Whole

blueprint = Blueprint("feedback", __name__)

PER_PAGE = 20


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
    given = {
        "agrees": form.get("agrees") == "1",
        "label": form.get("label") or None,
        "wrong": form.getlist("wrong"),
        "note": form.get("note", ""),
        "name": form.get("name", ""),
    }
    opinion = given_opinion(job_id, given)
    feedback_store().give(job_id, opinion, visitor_with_cookie())
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
    return render(FeedbackPage(yours, tuple(found), total, number, pages))


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
