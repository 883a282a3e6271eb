"""The pages of lists: submit many claims, follow them, pause them, and go on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from operator import itemgetter
from typing import Annotated, Any, Literal

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import BaseModel, ConfigDict, Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Paged
from app.api.openapi import SHOWN_AGAIN, describe
from app.claims.forms import REFUSED, choices_of_form
from app.claims.recipes import recipe_to_run
from app.documents.corpus import corpora_to_search
from app.filters import Badge
from app.http.errors import refusal, refused_page
from app.http.query import asked_by_person, refuse_unless_form
from app.lists.input import (
    check_again,
    continue_list,
    list_input,
    pasted,
    room_for_rows,
    stored_list,
    uploaded_file,
)
from app.lists.rows import ROWS_PER_PAGE, Edited, list_page, opened_entry
from app.people.access import lists_all
from app.people.asker import is_operator
from app.people.visitor import refuse_others, viewer, visitor, visitor_with_cookie
from app.services import services
from retrieval.checkable.given_text import MOST_SENTENCES
from retrieval.claim import LONGEST
from retrieval.claim_lists.files import ListFile
from retrieval.claim_lists.verdicts import NO_XML
from retrieval.errors import EsotericError
from worker.lists import MOST_CLAIMS, Shown, Sort

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
    facts: Literal["0", "1"] = "0"
    """1: rows that state no fact, such as opinions, are left out; each can be checked anyway."""


class ShownPage(Paged):
    """Which rows to show."""

    show: Shown = "all"
    sort: Sort = "row"
    """In which order."""


@blueprint.get("/lists")
@describe(HTTP_200=(None, "The form for a list, and the visitor's lists"))
def lists() -> str:
    """Show the form for a list and the lists so far."""
    return _lists_page()


@blueprint.post("/lists")
@describe(
    form=ListForm,
    HTTP_303=(None, "The list's page"),
    **SHOWN_AGAIN
    | {"HTTP_429": (None, "The form again: too many claims or rows; Retry-After says when")},
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
    alone = form.get("facts") == "1"
    given = list_input(file, column, name, uploaded=uploaded, facts_alone=alone)
    corpora = corpora_to_search(form.getlist("corpora"))
    list_id = stored_list(
        *(given.name, recipe, given.entries, visitor_with_cookie(), corpora),
        imported_from=given.imported_from,
    )
    return _see(list_id)


@blueprint.get("/lists/<list_id>")
@describe(query=ShownPage, HTTP_200=(None, "The page"), HTTP_404=(None, "No such list"))
def claims(list_id: str) -> str:
    """Show a list: how far it is, and its rows with their verdicts."""
    found = services().lists.get(list_id)
    asked = asked_by_person(ShownPage)
    return list_page(found, asked.show, asked.page, asked.sort)


@blueprint.get("/lists/<list_id>/rows/<int:number>")
@describe(
    HTTP_200=(None, "The piece of the page"),
    HTTP_404=(None, "No such list, no such row, or no verdict yet"),
)
def row(list_id: str, number: int) -> str:
    """Show the verdict on a row of a list in short, as its page unfolds it."""
    opened = opened_entry(list_id, number)
    if opened is None:
        raise refusal(
            HTTPStatus.NOT_FOUND,
            "no_verdict",
            "This row has no verdict to show.",
            "Reload the list; the row says what it waits for.",
        )
    return opened


class EditForm(BaseModel):
    """A row as it is to be checked again."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    claim: str
    """The claim."""
    anyway: Literal["0", "1"] = "0"
    """1: also what reads as no claim, as of a single one."""


@blueprint.post("/lists/<list_id>/rows/<int:number>")
@describe(
    form=EditForm,
    **SHOWN_AGAIN
    | {
        "HTTP_303": (None, "The list's page, at the row"),
        "HTTP_403": (None, "From another site, or somebody else's"),
        "HTTP_404": (None, "No such list, or no such row"),
        "HTTP_409": (None, "The row is being checked"),
    },
)
def edit(list_id: str, number: int) -> BaseResponse:
    """Check a row again, as it was edited, and redirect to it."""
    refuse_unless_form("From a program, send a new list to /api/v1/lists.")
    found = services().lists.get(list_id)
    refuse_others(found.owner)
    if not 0 < number <= found.total:
        said = "unknown_row", "The list has no such row.", "Go back to the list and reload it."
        raise refusal(HTTPStatus.NOT_FOUND, *said)
    claim, page = request.form.get("claim", ""), (number - 1) // ROWS_PER_PAGE + 1
    try:
        changed = check_again(list_id, number, claim, anyway=request.form.get("anyway") == "1")
    except REFUSED as error:
        edited = Edited(number, claim, error.problem)
        return refused_page(list_page(found, "all", page, edited=edited), error)
    if not changed:
        said = "row_pending", "This row is being checked.", "Wait for its verdict, then edit it."
        raise refusal(HTTPStatus.CONFLICT, *said)
    at = url_for(
        "lists.claims",
        list_id=list_id,
        page=page if page > 1 else None,
        _anchor=f"row-{number}",
    )
    return redirect(at, HTTPStatus.SEE_OTHER)


@blueprint.get("/lists/feed")
@describe(HTTP_200=(None, "The feed (application/atom+xml)"))
def feed() -> Response:
    """Name the lists that the visitor's page has and that are done, the last one first."""
    found = services().lists.recent(_owners_listed(), LISTS_SHOWN, viewer())
    done = [(one.finished_at, one) for one in found if one.finished_at is not None]
    ended = [one for _, one in sorted(done, key=itemgetter(0), reverse=True)]
    text = render_template("lists.xml", lists=ended, now=datetime.now(UTC))
    return Response(NO_XML.sub("", text), mimetype="application/atom+xml")


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


def _lists_page(error: EsotericError | None = None) -> str:
    """Return the page with the form; after an error it is filled with what was sent."""
    return render_template(
        "lists.html",
        **choices_of_form(error),
        lists=services().lists.recent(_owners_listed(), LISTS_SHOWN, viewer()),
        states=_STATES,
        sent=request.form,
        most_claims=MOST_CLAIMS,
        most_characters=LONGEST,
        most_sentences=MOST_SENTENCES,
        most_rows=services().settings.most_rows,
        room=room_for_rows(),
    )


def _changed(list_id: str, change: Callable[[str], None]) -> BaseResponse:
    refuse_others(services().lists.get(list_id).owner)
    change(list_id)
    return _see(list_id)


def _see(list_id: str) -> BaseResponse:
    return redirect(url_for("lists.claims", list_id=list_id), HTTPStatus.SEE_OTHER)
