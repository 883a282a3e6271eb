"""The pages of lists: submit many claims, follow them, pause them, and go on."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import BaseModel, ConfigDict, Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Paged
from app.api.openapi import describe
from app.claims.forms import REFUSED, Refusal, choices_of_form
from app.claims.recipes import recipe_to_run
from app.documents.corpus import corpora_to_search
from app.filters import Badge
from app.http.errors import RequestRefused, refused_page
from app.http.forms import refuse_unless_form
from app.http.query import asked_by_person
from app.lists.input import (
    continue_list,
    list_input,
    pasted,
    room_for_rows,
    stored_list,
    uploaded_file,
)
from app.lists.rows import list_page, opened_entry
from app.people.access import lists_all
from app.people.asker import is_operator
from app.people.visitor import refuse_others, viewer, visitor, visitor_with_cookie
from app.services import services
from retrieval.claim import LONGEST
from retrieval.claim_lists.files import ListFile
from retrieval.errors import Problem
from worker.lists import MOST_CLAIMS, Shown

blueprint = Blueprint("lists", __name__)

LISTS_SHOWN = 50
_STATES = {
    "running": Badge("pending", "Being checked"),
    "paused": Badge("stopped", "Paused"),
    "cancelled": Badge("stopped", "Cancelled"),
    "done": None,
}


class ListForm(BaseModel):
    """A list of claims, pasted or as a file."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    claims: str = ""
    """The claims, one a line; used if there is no file."""
    file: Annotated[str, Field(json_schema_extra={"format": "binary"})] = ""
    """A .csv, .tsv, .xlsx, .jsonl, .json or .txt file."""
    column: str = ""
    """The column with the claims; without it the one named claim, statement or text."""
    name: str = ""
    """Name of the list; without it that of the file, or the first claim and how many follow."""
    recipe: str | None = None
    """Name of a recipe that can run here; without it the default one."""


class ShownPage(Paged):
    """Which rows to show."""

    show: Shown = "all"


@blueprint.get("/lists")
@describe(HTTP_200=(None, "The form for a list, and the visitor's lists"))
def lists() -> str:
    """Show the form for a list and the lists so far."""
    return _lists_page()


@blueprint.post("/lists")
@describe(
    form=ListForm,
    HTTP_303=(None, "The list's page"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "The form again: no such corpus"),
    HTTP_413=(None, "Too large"),
    HTTP_415=(None, "Not a form"),
    HTTP_422=(None, "The form again, with what is wrong with the list"),
    HTTP_429=(None, "The form again: too many claims or rows; Retry-After is when to come back"),
)
def submit() -> BaseResponse:
    """Submit a list and redirect to its page."""
    refuse_unless_form("From a program, send JSON or a file to /api/v1/lists.")
    try:
        file = uploaded_file()
        text = request.form.get("claims", "")
        return submitted_list(file or pasted(text), uploaded=file is not None)
    except REFUSED as error:
        return refused_page(_lists_page(error), error)


def submitted_list(file: ListFile, *, uploaded: bool = False) -> BaseResponse:
    """Submit the claims of a file, with the other fields of this form; redirect to their page.

    ``uploaded``: the file was, so it has a name that the user knows.

    Raises:
        BadSource: this is no list of claims.
        UnknownRecipe, RecipeUnavailable: the recipe cannot run here.
        UnknownCorpus, CorpusNotReady, CorpusRefused: the corpora cannot be searched.
        RequestRefused: the client has submitted too many claims, or too many of its rows wait.
        StoreUnavailable: the database cannot be used.
    """
    form = request.form
    recipe = recipe_to_run(form.get("recipe"))
    column, name = form.get("column", ""), form.get("name", "")
    given = list_input(file, column, name, uploaded=uploaded)
    corpora = corpora_to_search(form.getlist("corpora"))
    list_id = stored_list(
        *(given.name, recipe, given.entries, visitor_with_cookie(), corpora),
        came_in=given.came_in,
    )
    return _see(list_id)


@blueprint.get("/lists/<list_id>")
@describe(query=ShownPage, HTTP_200=(None, "The page"), HTTP_404=(None, "No such list"))
def claims(list_id: str) -> str:
    """Show a list: how far it is, and its rows with their verdicts."""
    found = services().lists.get(list_id)
    asked = asked_by_person(ShownPage)
    return list_page(found, asked.show, asked.page)


@blueprint.get("/lists/<list_id>/rows/<int:number>")
@describe(
    HTTP_200=(None, "The piece of the page"),
    HTTP_404=(None, "No such list, no such row, or no verdict yet"),
)
def row(list_id: str, number: int) -> str:
    """Show the verdict on a row of a list in short, as its page unfolds it."""
    opened = opened_entry(list_id, number)
    if opened is None:
        raise RequestRefused(
            HTTPStatus.NOT_FOUND,
            Problem(
                "no_verdict",
                "This row has no verdict to show.",
                "Reload the list; the row says what it waits for.",
            ),
        )
    return opened


_CHANGES: dict[str, Any] = {
    "HTTP_303": (None, "The list's page"),
    "HTTP_403": (None, "From another site, or somebody else's"),
    "HTTP_404": (None, "No such list"),
}


@blueprint.post("/lists/<list_id>/pause")
@describe(**_CHANGES)
def pause(list_id: str) -> BaseResponse:
    """Pause a list and redirect to its page."""
    return _changed(list_id, services().lists.pause)


@blueprint.post("/lists/<list_id>/go-on")
@describe(
    **_CHANGES, HTTP_429=(None, "Too many rows wait, so it stays paused; Retry-After says when")
)
def go_on(list_id: str) -> BaseResponse:
    """Continue a paused list and redirect to its page."""
    return _changed(list_id, continue_list)


@blueprint.post("/lists/<list_id>/cancel")
@describe(**_CHANGES)
def cancel(list_id: str) -> BaseResponse:
    """Cancel what is left of a list and redirect to its page."""
    return _changed(list_id, services().lists.cancel)


@blueprint.post("/lists/<list_id>/delete")
@describe(**_CHANGES | {"HTTP_303": (None, "The lists")})
def delete(list_id: str) -> BaseResponse:
    """Delete a list, but not its claims, and redirect to the lists."""
    refuse_others(services().lists.get(list_id).owner)
    services().lists.delete(list_id)
    return redirect(url_for(".lists"), HTTPStatus.SEE_OTHER)


def _owners_listed() -> tuple[str | None, ...] | None:
    """Return whose lists are shown, ``None`` for all; nobody's where nobody logs in."""
    if is_operator():
        return None
    return (visitor(), None) if lists_all() else (visitor(),)


def _lists_page(error: Refusal | None = None) -> str:
    """Return the page with the form; after an error it is filled with what was sent."""
    return render_template(
        "lists.html",
        **choices_of_form(error),
        lists=services().lists.recent(_owners_listed(), LISTS_SHOWN, viewer()),
        states=_STATES,
        sent=request.form,
        most_claims=MOST_CLAIMS,
        most_characters=LONGEST,
        most_rows=services().settings.most_rows,
        room=room_for_rows(),
    )


def _changed(list_id: str, change: Callable[[str], None]) -> BaseResponse:
    refuse_others(services().lists.get(list_id).owner)
    change(list_id)
    return _see(list_id)


def _see(list_id: str) -> BaseResponse:
    return redirect(url_for("lists.claims", list_id=list_id), HTTPStatus.SEE_OTHER)
