"""The page about the API, and what it leads to: the client in Python and the description."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml
from flask import Blueprint, Response, current_app, jsonify, render_template, request

from app.api.models import download
from app.api.openapi import describe
from app.http.guard import MOST_BYTES
from app.services import services
from retrieval.claim import LONGEST
from settings import CHECKOUT

blueprint = Blueprint("api_page", __name__)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that the API does; ``name`` is its anchor, ``call`` its method and path."""

    name: str
    call: str
    does: str
    curl: str
    python: str


ENDPOINTS = tuple(
    Endpoint(**one)
    for one in yaml.safe_load(Path(__file__).with_name("endpoints.yaml").read_text("utf-8"))
)


@blueprint.get("/api")
@describe(HTTP_200=(None, "The page"))
def api() -> str:
    """Show what programs can ask; 0 stands for no limit."""
    settings = services().settings
    return render_template(
        "api.html",
        address=settings.public_url or request.host_url.rstrip("/"),
        endpoints=ENDPOINTS,
        most_characters=LONGEST,
        most_kib=MOST_BYTES // 1024,
        claims_per_minute=settings.claims_per_minute or 0,
        most_rows=settings.most_rows or 0,
        keep_days=settings.keep_for.days if settings.keep_for else 0,
    )


@blueprint.get("/api/esoteric_client.py")
@describe(HTTP_200=(None, "The file"))
def client() -> Response:
    """Return the client in Python, which needs nothing else."""
    file = CHECKOUT / "examples" / "esoteric_client.py"
    return download(file.read_bytes(), "text/x-python", file.name)


@blueprint.get("/api/v1/openapi.json")
@describe(HTTP_200=(None, "This document"))
def openapi() -> Response:
    """Return the description of all routes."""
    return jsonify(current_app.extensions["openapi"])
