"""What is done with the claims that are selected in the history: compare, export, delete."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Model
from app.api.openapi import describe
from app.http.errors import RequestRefused
from app.people.access import refuse_readers
from app.people.visitor import refuse_others, viewer
from app.result.claims_export import as_csv, as_json
from app.services import services
from retrieval.errors import Problem
from worker.history_store import HistoryStore

blueprint = Blueprint("selection", __name__)

_FEWEST_COMPARED = 2


class Selection(Model):
    """What to do with several claims."""

    claim: tuple[str, ...]
    """Ids of the claims."""
    do: Literal["compare", "csv", "json", "delete"]
    """`csv` and `json` answer with a file."""


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
    jobs = map(
        services().paths.hidden_in_job, HistoryStore(services().database).jobs(ids, viewer())
    )
    text = "".join(as_csv(jobs) if do == "csv" else as_json(jobs))
    return Response(
        text,
        mimetype="text/csv" if do == "csv" else "application/json",
        headers={"Content-Disposition": f'attachment; filename="claims.{do}"'},
    )


def _refused(code: str, message: str, hint: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, Problem(code, message, hint))
