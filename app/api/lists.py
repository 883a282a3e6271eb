"""The API of lists: submit many claims, follow them, read and export their verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from pydantic import ConfigDict, Field
from werkzeug.utils import get_content_type

from app.api.models import Error, Forget, ListedVerdict, Model, OnePage, Paged, answer
from app.api.openapi import describe
from app.claims.recipes import recipe_to_run
from app.documents.corpus import corpora_to_search
from app.http.errors import refusal
from app.http.query import asked_by_program, asked_in_json, numbers_of
from app.lists.export import ListFormat, exported, file_names
from app.lists.input import (
    ListInput,
    continue_list,
    list_input,
    stored_list,
    uploaded_file,
)
from app.lists.rows import seconds_left
from app.people.visitor import refuse_others, visitor
from app.result.export import FORMATS
from app.services import services
from retrieval.claim_lists.files import ListFile
from retrieval.errors import Problem
from retrieval.types import Whole
from worker.health import worker_health
from worker.jobs import Links, Moment, Shared
from worker.lists import MOST_CLAIMS, ClaimList, Entry, EntryState, ListState, Shown, Sort

blueprint = Blueprint("api_lists", __name__, url_prefix="/api/v1")

# An answer that stays open would hold a thread of the server for as long as the list runs.
_RETRY_MILLISECONDS = 2000
_NO_LIST = (Error, "No such list")
_NOT_ALLOWED = (Error, "From another site, or somebody else's")


class ListSubmission(Model):
    """Claims to be checked; a file can be sent as a form with the field `file` instead."""

    model_config = ConfigDict(extra="forbid")

    claims: Annotated[list[str | dict[str, Any]], Field(min_length=1, max_length=MOST_CLAIMS)]
    """The claims: texts, or objects with the key `claim`; their other keys come back."""
    name: str = ""
    """Name of the list; left out: its first claim and how many follow."""
    column: str = ""
    """The key with the claim; left out: `claim`, else `statement` or `text`."""
    recipe: str | None = None
    """Name of a recipe that can run here (`/api/v1/recipes`); left out: the default one."""
    corpora: Annotated[tuple[str, ...], Field(max_length=1000)] = ()
    """Names of the corpora (`/api/v1/corpora`); left out: the default one."""


class ListLinks(Model):
    """Addresses of a list: itself in the API, its events, its results, its export, its page."""

    self: str
    events: str
    results: str
    export: str
    page: str

    @classmethod
    def of(cls, list_id: str) -> ListLinks:
        """Return the addresses of the list with this id."""
        address = f"/api/v1/lists/{list_id}"
        return cls(
            self=address,
            events=f"{address}/events",
            results=f"{address}/results",
            export=f"{address}/export",
            page=f"/lists/{list_id}",
        )


class ListStatus(Model):
    """A list, and how far it is."""

    id: str
    """Id of the list."""
    name: str
    """Its name."""
    recipe: str
    """Name of the recipe that checks its claims."""
    shared: Shared | None
    """Who may see it beside its owner and operators, as of a claim."""
    state: ListState
    """Its state."""
    created_at: Moment
    """When it was submitted."""
    finished_at: Moment | None
    """When it ended, null before."""
    columns: tuple[str, ...]
    """The names of the other columns that came with the claims."""
    total: Whole
    """How many rows it has."""
    finished: Whole
    """How many rows have ended, with a verdict or without."""
    counts: Mapping[Shown, Whole]
    """How many rows `show` shows, by its values."""
    seconds_left: float | None
    """About how long it still takes; null where that is not known."""
    links: ListLinks
    """Addresses of the list."""


class ListEntry(Model):
    """A row of a list."""

    number: Whole
    """Its number, from 1."""
    claim: str
    """The claim as it was written."""
    state: EntryState
    """Its state; `refused`: it is no claim; `deleted`: its claim was deleted."""
    verdict: ListedVerdict | None
    """The verdict, null unless the state is done."""
    error: Problem | None
    """Why it has no verdict and gets none, else null."""
    row: dict[str, Any]
    """The values of the other columns."""
    links: Links | None
    """Addresses of the claim; null where there is none."""
    same_as: Whole | None
    """The number of the first row with the same claim, which was checked once for both; null for
    that row, and where there is no other."""


class ListResults(OnePage):
    """Some rows of a list, in their order; `total` is of those that `show` shows."""

    rows: tuple[ListEntry, ...]
    """The rows of the page."""


class ResultSearch(Paged):
    """Which rows to return."""

    show: Shown = "all"
    """`unsure`: the verdict is probable or only leans. `divided`: sentences for and against the
    claim were selected. `disputed`: somebody disagreed with the verdict. `errors`: no verdict
    comes, because the row is no claim (`refused`), its check `failed`, or it was `cancelled` or
    deleted."""
    sort: Sort = "row"
    """`verdict`: refuted ones first, then supported ones; `certainty`: the surest first."""
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    """How many rows a page has."""


class ListExportFormat(Model):
    """Which file to return."""

    format: ListFormat = "csv"
    """Format of the file. `html` is one page that needs no other file, `pdf` holds at most 1,000
    rows. `claimreview` is a graph of the verdicts, supported or refuted, that a person with a name
    has agreed with; `html` has these reviews too, and `pdf` the names."""


@blueprint.post("/lists")
@describe(
    json=ListSubmission,
    HTTP_202=(ListStatus, "Accepted; Location is its address"),
    HTTP_404=(Error, "No such corpus"),
    HTTP_413=(Error, "More than 6 MiB"),
    HTTP_415=(Error, "Neither JSON nor a form with a file"),
    HTTP_422=(Error, "This is no list of claims, or the recipe cannot run here"),
    HTTP_429=(Error, "Too many claims or rows; Retry-After is when to come back, in seconds"),
)
def submit() -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Submit a list of claims."""
    given, asked, corpora = (
        _from_form() if request.mimetype == "multipart/form-data" else _from_json()
    )
    recipe = recipe_to_run(asked)
    list_id = stored_list(
        *(given.name, recipe, given.entries, visitor(), corpora_to_search(corpora)),
        imported_from=given.imported_from,
    )
    return _status(list_id), HTTPStatus.ACCEPTED, {"Location": ListLinks.of(list_id).self}


@blueprint.get("/lists/<list_id>")
@describe(HTTP_200=(ListStatus, "The list"), HTTP_404=_NO_LIST)
def status(list_id: str) -> Response:
    """Return how far a list is."""
    return _status(list_id)


@blueprint.get("/lists/<list_id>/events")
@describe(
    HTTP_200=(None, "The event `state`"),
    HTTP_204=(None, "The list has ended, and its last state was sent"),
    HTTP_404=_NO_LIST,
)
def events(list_id: str) -> Response:
    """Send how far a list is as the server-sent event ``state``, then end (text/event-stream).

    An `EventSource` asks again every two seconds, until the list has ended.
    """
    found = services().lists.get(list_id)
    number = f"{found.state}-{found.finished}"
    if found.state in ("done", "cancelled") and request.headers.get("Last-Event-ID") == number:
        return Response(status=HTTPStatus.NO_CONTENT)
    data = _status_of(found).model_dump_json()
    text = f"retry: {_RETRY_MILLISECONDS}\nid: {number}\nevent: state\ndata: {data}\n\n"
    return Response(text, mimetype="text/event-stream")


@blueprint.get("/lists/<list_id>/results")
@describe(
    query=ResultSearch,
    HTTP_200=(ListResults, "The rows"),
    HTTP_400=(Error, "'show', 'page' or 'limit' is not one of its values"),
    HTTP_404=_NO_LIST,
)
def results(list_id: str) -> Response:
    """Return rows of a list with their verdicts, page by page."""
    asked = asked_by_program(ResultSearch)
    found = services().lists.get(list_id)
    offset = (asked.page - 1) * asked.limit
    entries = services().lists.entries(
        *(list_id, asked.show, asked.limit, offset), results=False, sort=asked.sort
    )
    numbers = numbers_of(found.counts[asked.show], asked.page, asked.limit)
    return answer(ListResults(rows=tuple(map(_entry, entries)), **numbers))


@blueprint.get("/lists/<list_id>/export")
@describe(
    query=ListExportFormat,
    HTTP_200=(None, "The file"),
    HTTP_400=(Error, "No such format"),
    HTTP_404=_NO_LIST,
    HTTP_409=(Error, "Too many rows for a PDF, or no person has confirmed any for a ClaimReview"),
)
def export_list(list_id: str) -> ResponseReturnValue:
    """Return a list with its verdicts as a file, also before it is done."""
    name = asked_by_program(ListExportFormat).format
    found = services().lists.get(list_id)
    plain, whole = file_names(found, FORMATS[name].suffix)
    encoded = f"filename*=UTF-8''{quote(whole, safe='')}"
    headers = {
        "Content-Disposition": f'attachment; filename="{plain}"; {encoded}',
        "Content-Type": get_content_type(FORMATS[name].media_type, "utf-8"),
    }
    # Of a whole response ``describe`` would wait for the end.
    return exported(name, found), HTTPStatus.OK, headers


_CHANGES: dict[str, Any] = {
    "HTTP_200": (ListStatus, "The list as it is now"),
    "HTTP_403": _NOT_ALLOWED,
    "HTTP_404": _NO_LIST,
}


@blueprint.post("/lists/<list_id>/pause")
@describe(**_CHANGES)
def pause(list_id: str) -> Response:
    """Pause a running list; any other stays as it is."""
    refuse_others(services().lists.get(list_id).owner)
    services().lists.pause(list_id)
    return _status(list_id)


@blueprint.post("/lists/<list_id>/go-on")
@describe(
    **_CHANGES, HTTP_429=(Error, "Too many rows wait, so it stays paused; Retry-After says when")
)
def go_on(list_id: str) -> Response:
    """Continue a paused list; any other stays as it is."""
    refuse_others(services().lists.get(list_id).owner)
    continue_list(list_id)
    return _status(list_id)


@blueprint.delete("/lists/<list_id>")
@describe(
    query=Forget,
    HTTP_200=(ListStatus, "The list as it is now"),
    HTTP_204=(None, "Deleted"),
    HTTP_400=(Error, "'forget' is not 0 or 1"),
    HTTP_403=_NOT_ALLOWED,
    HTTP_404=_NO_LIST,
)
def cancel(list_id: str) -> Response:
    """Cancel what is left of a list, and return it; with ``forget`` delete it, not its claims."""
    refuse_others(services().lists.get(list_id).owner)
    if asked_by_program(Forget).forget == "1":
        services().lists.delete(list_id)
        return Response(status=HTTPStatus.NO_CONTENT)
    services().lists.cancel(list_id)
    return _status(list_id)


def _from_form() -> tuple[ListInput, str | None, Sequence[str]]:
    uploaded = uploaded_file()
    if uploaded is None:
        missing = ("missing_file", "There is no file in the form.", "Send it as 'file'.")
        raise refusal(HTTPStatus.UNPROCESSABLE_ENTITY, *missing)
    form = request.form
    column, name = form.get("column", ""), form.get("name", "")
    given = list_input(uploaded, column, name, least=1, uploaded=True)
    return given, form.get("recipe"), form.getlist("corpora")


def _from_json() -> tuple[ListInput, str | None, Sequence[str]]:
    asked = asked_in_json(
        ListSubmission,
        '{"claims": ["Water boils at 100 degrees.", "Ice is cold."]}',
        "bad_list",
        f'Send {{"claims": [1 to {MOST_CLAIMS:,} texts or objects with the key "claim"]}} and,'
        ' optionally, "name", "column", "recipe" and "corpora".',
    )
    file = ListFile("claims.json", json.dumps(asked.claims).encode())
    given = list_input(file, asked.column, asked.name, least=1)
    return given, asked.recipe, asked.corpora


def _status(list_id: str) -> Response:
    return answer(_status_of(services().lists.get(list_id)))


def _status_of(found: ClaimList) -> ListStatus:
    more: dict[str, Any] = {
        "seconds_left": seconds_left(found, worker_health(services().workers).workers),
        "links": ListLinks.of(found.id),
    }
    same = ListStatus.model_fields.keys() - more.keys()
    return ListStatus(**more, **{name: getattr(found, name) for name in same})


def _entry(entry: Entry) -> ListEntry:
    problem = entry.problem
    if problem is not None and entry.state == "failed":
        problem = services().paths.hidden_in_problem(problem)
    return ListEntry(
        number=entry.number,
        claim=entry.claim,
        state=entry.state,
        verdict=ListedVerdict.of(entry),
        error=problem,
        row=dict(entry.others),
        links=None if entry.claim_id is None else Links.of(entry.claim_id),
        same_as=entry.same_as,
    )
