"""Comparisons by the API: checks side by side, and as a file."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response, request, url_for

from app.api.models import Error, answer, download
from app.api.openapi import describe
from app.comparisons.comparison import Comparison
from app.comparisons.files import FILES
from app.comparisons.given import CANNOT_COMPARE, NONE_KNOWN, ComparedIds, compared_checks
from app.http.errors import refusal
from app.http.query import asked_by_program

blueprint = Blueprint("api_comparisons", __name__, url_prefix="/api/v1")


class ComparisonExport(ComparedIds):
    """Which file to return."""

    format: Literal["csv", "latex", "trec", "json"] = "csv"
    """Format of the file."""


@blueprint.get("/compare")
@describe(
    query=ComparedIds,
    HTTP_200=(Comparison, "The comparison"),
    HTTP_400=(Error, CANNOT_COMPARE),
    HTTP_404=(Error, NONE_KNOWN),
)
def comparison() -> Response:
    """Return checks side by side, also while some of them are pending."""
    return answer(compared_checks(request.args.get("claims", ""))[0])


@blueprint.get("/compare/export")
@describe(
    query=ComparisonExport,
    HTTP_200=(None, "The file"),
    HTTP_400=(Error, "No such format, or what the comparison refuses"),
    HTTP_404=(Error, NONE_KNOWN),
    HTTP_409=(Error, "A check is pending, or none has a result"),
)
def export() -> Response:
    """Return checks side by side as a file, once all of them have ended."""
    name = asked_by_program(ComparisonExport).format
    comparison, jobs = compared_checks(request.args.get("claims", ""))
    if comparison.pending:
        message = f"{comparison.pending} of {len(comparison.runs)} checks have not ended."
        hint = "Wait for them, or leave their ids out."
        raise refusal(HTTPStatus.CONFLICT, "not_done", message, hint)
    if not any(run.label for run in comparison.runs):
        message = "None of these checks has a result to export."
        hint = "Their pages say why. Compare the recipes again."
        raise refusal(HTTPStatus.CONFLICT, "not_done", message, hint)
    file = FILES[name]
    ids = ",".join(run.id for run in comparison.runs)
    page = url_for("compare.compare", claims=ids, _external=True)
    return download(file.write(comparison, jobs, page), file.media_type, file.name)
