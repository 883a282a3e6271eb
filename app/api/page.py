"""The page about the API, and what it leads to: the client in Python and the description."""

from __future__ import annotations

from pathlib import Path

import yaml
from flask import Blueprint, Response, current_app, jsonify, request

from app.api.contexts import ApiPage, Endpoint
from app.api.openapi import describe
from app.contexts import render
from app.http.guard import MOST_BYTES
from app.services import services
from retrieval.claim import LONGEST
from settings import CHECKOUT

blueprint = Blueprint("api_page", __name__)

ENDPOINTS = tuple(
    Endpoint(**one)
    for one in yaml.safe_load(Path(__file__).with_name("endpoints.yaml").read_text("utf-8"))
)


@blueprint.get("/api")
@describe(HTTP_200=(None, "The page"))
def api() -> str:
    """Show what programs can ask."""
    keep_for = services().settings.keep_for
    return render(
        ApiPage(
            address=services().settings.public_url or request.host_url.rstrip("/"),
            endpoints=ENDPOINTS,
            most_characters=LONGEST,
            most_kib=MOST_BYTES // 1024,
            claims_per_minute=services().settings.claims_per_minute or 0,
            most_rows=services().settings.most_rows or 0,
            keep_days=0 if keep_for is None else keep_for.days,
        )
    )


@blueprint.get("/api/esoteric_client.py")
@describe(HTTP_200=(None, "The file"))
def client() -> Response:
    """Return the client in Python, which needs nothing else."""
    file = CHECKOUT / "examples" / "esoteric_client.py"
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return Response(file.read_bytes(), mimetype="text/x-python", headers=headers)


@blueprint.get("/api/v1/openapi.json")
@describe(HTTP_200=(None, "This document"))
def openapi() -> Response:
    """Return the description of all routes."""
    return jsonify(current_app.extensions["openapi"])
