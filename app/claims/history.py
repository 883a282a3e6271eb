"""The claims so far: the history page, the list of the API, and what is done with several."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import ClaimItem, Claims, ListedVerdict, Model, Paged
from app.api.openapi import describe
from app.http.errors import RequestRefused
from app.http.query import asked_by_person, pages_of
from app.people.access import allowed, refuse_readers
from app.people.visitor import may_change, refuse_others, viewer, visitor
from app.result.export import jobs_as_csv, jobs_as_json
from app.services import services
from retrieval.claim import LONGEST
from retrieval.errors import Problem
from retrieval.text.word_forms import nfc
from worker.history_store import ClaimFilter, HistoryStore
from worker.jobs import Links

blueprint = Blueprint("selection", __name__)

CLAIMS_PER_PAGE = 20
_FEWEST_COMPARED = 2


class HistorySearch(Paged):
    """Which claims to list; an empty value, or none, lists all."""

    q: str = ""
    """Words of the claim."""
    whose: Literal["", "yours", "all"] = ""
    """`yours`: only those that were submitted with the cookie of the request."""
    verdict: Literal["", "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"] = ""
    """The verdict."""
    level: Literal["", "settled", "probably", "leans", "unsettled"] = ""
    """How sure the verdict is."""
    recipe: str = ""
    """Name of the recipe."""
    state: Literal["", "queued", "running", "done", "failed", "cancelled"] = ""
    """The state."""


class ClaimSearch(HistorySearch):
    """Which claims to list; an empty value, or none, lists all."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """How many claims a page has."""


class Selection(Model):
    """What to do with several claims."""

    claim: tuple[str, ...]
    """Ids of the claims."""
    do: Literal["compare", "csv", "json", "delete"]
    """`csv` and `json` answer with a file."""


def listed_claims(asked: ClaimSearch) -> Claims:
    """Return one page of the claims that pass the filters.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    offset = (asked.page - 1) * asked.limit
    wanted = _filter(asked, yours=asked.whose == "yours")
    jobs, total = HistoryStore(services().database).listed(wanted, asked.limit, offset)
    return Claims(
        claims=tuple(
            ClaimItem(
                id=job.id,
                claim=job.claim,
                recipe=job.recipe,
                state=job.state,
                created_at=job.created_at,
                verdict=ListedVerdict.of(job.label, job.confidence, job.leans),
                links=Links.of(job.id),
            )
            for job in jobs
        ),
        total=total,
        page=asked.page,
        pages=pages_of(total, asked.limit),
    )


def history_page() -> str:
    """Return the page that this request asks for.

    A visitor who has a cookie first sees the own claims. After the last page comes the last page.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    search = asked_by_person(HistorySearch)
    yours = search.whose == "yours" or (not search.whose and visitor() is not None)
    wanted = _filter(search, yours=yours)
    store = HistoryStore(services().database)
    number = search.page
    groups, total = store.grouped(wanted, CLAIMS_PER_PAGE, (number - 1) * CLAIMS_PER_PAGE)
    pages = pages_of(total, CLAIMS_PER_PAGE)
    if number > pages:
        number = pages
        groups, total = store.grouped(wanted, CLAIMS_PER_PAGE, (number - 1) * CLAIMS_PER_PAGE)
    filters = search.model_dump(exclude={"page", "whose"}, exclude_defaults=True)
    return render_template(
        "history.html",
        search=search,
        yours=yours,
        owner=visitor(),
        groups=groups,
        total=total,
        filters=filters,
        may_delete=allowed("pages.delete")
        and any(may_change(run.owner) for group in groups for run in group.runs),
        number=number,
        pages=pages,
        recipes=store.recipes(),
    )


@blueprint.post("/claims/selected")
@describe(
    form=Selection,
    HTTP_200=(None, "The file"),
    HTTP_303=(None, "The comparison, or the history"),
    HTTP_403=(None, "From another site, or one of the claims is somebody else's"),
    HTTP_404=(None, "One of the claims to be deleted is gone"),
    HTTP_422=(None, "Too few claims, or nothing to do with them"),
)
def selected() -> BaseResponse:
    """Compare, export or delete the claims that are selected in the history."""
    sent = dict.fromkeys(request.form.getlist("claim"))
    ids = [one for one in sent if one.isalnum()]  # no other text can be an id
    do = request.form.get("do", "")
    if len(ids) < (_FEWEST_COMPARED if do == "compare" else 1):
        raise _refused(
            "too_few_selected",
            "Too few claims are selected.",
            "Tick one in the history to export or delete it, and two or more to compare them.",
        )
    if do == "compare":
        return redirect(url_for("compare.compare", claims=",".join(ids)), HTTPStatus.SEE_OTHER)
    if do == "delete":
        refuse_readers()
        store = services().store
        for job_id in ids:
            refuse_others(store.owner(job_id))
        for job_id in ids:
            store.delete(job_id)
        return redirect(url_for("pages.history"), HTTPStatus.SEE_OTHER)
    if do not in ("csv", "json"):
        raise _refused(
            "unknown_action",
            "It is not said what to do with the selected claims.",
            "Use one of the buttons of the history.",
        )
    # All are read before the answer begins, so that an error is still one.
    found = HistoryStore(services().database).jobs(ids, viewer())
    jobs = map(services().paths.hidden_in_job, found)
    return Response(
        "".join(jobs_as_csv(jobs) if do == "csv" else jobs_as_json(jobs)),
        mimetype="text/csv" if do == "csv" else "application/json",
        headers={"Content-Disposition": f'attachment; filename="claims.{do}"'},
    )


def _filter(search: HistorySearch, *, yours: bool) -> ClaimFilter:
    return ClaimFilter(
        # Claims are stored in NFC.
        text=nfc(search.q.strip()[:LONGEST]),
        # Nobody has "", so that a visitor without a cookie has no claims.
        owner=(visitor() or "") if yours else None,
        seen_by=viewer(),
        label=search.verdict or None,
        level=search.level or None,
        recipe=search.recipe or None,
        state=search.state or None,
    )


def _refused(code: str, message: str, hint: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, Problem(code, message, hint))
