"""Comparisons by the API: checks side by side, and as a file."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response, url_for

from app.api.models import Error, Model, answer, download
from app.api.openapi import describe
from app.comparisons.comparison import Comparison
from app.comparisons.files import FILES
from app.comparisons.given import (
    CANNOT_COMPARE,
    NONE_KNOWN,
    ComparedIds,
    compared_checks,
    comparison_to_change,
)
from app.http.errors import refusal
from app.http.query import asked_by_program
from app.services import services
from worker.comparison_store import ComparisonStore

blueprint = Blueprint("api_comparisons", __name__, url_prefix="/api/v1")


class ComparisonExport(ComparedIds):
    """Which file to return."""

    format: Literal["csv", "latex", "trec", "json"] = "csv"
    """Format of the file."""


class ComparisonEnd(Model):
    """Which comparison to stop, or to delete."""

    id: str = ""
    """Its id."""
    forget: Literal["0", "1"] = "0"
    """1: the comparison is deleted; its checks stay in the history."""


@blueprint.get("/compare")
@describe(
    query=ComparedIds,
    HTTP_200=(Comparison, "The comparison"),
    HTTP_400=(Error, CANNOT_COMPARE),
    HTTP_404=(Error, NONE_KNOWN),
)
def comparison() -> Response:
    """Return checks side by side, also while some of them are pending."""
    return answer(compared_checks(asked_by_program(ComparedIds))[0])


@blueprint.get("/compare/export")
@describe(
    query=ComparisonExport,
    HTTP_200=(None, "The file"),
    HTTP_400=(Error, "No such format, or what the comparison refuses"),
    HTTP_404=(Error, NONE_KNOWN),
    HTTP_409=(Error, "No check has a result"),
)
def export() -> Response:
    """Return checks side by side as a file; it says how many have not ended."""
    asked = asked_by_program(ComparisonExport)
    comparison, jobs = compared_checks(asked)
    if not any(run.label for run in comparison.runs):
        message = "None of these checks has a result to export."
        hint = "Wait until one has a result, or open their pages to see why there is none."
        raise refusal(HTTPStatus.CONFLICT, "not_done", message, hint)
    file = FILES[asked.format]
    page = url_for("compare.compare", **comparison.address, _external=True)
    return download(file.write(comparison, jobs, page), file.media_type, file.name)


@blueprint.delete("/compare")
@describe(
    query=ComparisonEnd,
    HTTP_200=(Comparison, "The comparison as it is now"),
    HTTP_204=(None, "Deleted"),
    HTTP_400=(Error, "No id, or 'forget' is not 0 or 1"),
    HTTP_403=(Error, "From another site, or somebody else's"),
    HTTP_404=(Error, NONE_KNOWN),
)
def stop() -> Response:
    """Make none of its checks that have not ended; with ``forget`` delete it, not its checks."""
    asked = asked_by_program(ComparisonEnd)
    comparison_to_change(asked.id)
    store = ComparisonStore(services().database)
    if asked.forget == "1":
        store.delete(asked.id)
        return Response(status=HTTPStatus.NO_CONTENT)
    store.stop(asked.id)
    return answer(compared_checks(ComparedIds(id=asked.id))[0])
