"""Recipes by the API: which there are, and which can run here."""

from __future__ import annotations

from flask import Blueprint, Response

from app.api.models import Recipes, answer
from app.api.openapi import describe
from app.claims.recipes import listed_recipes

blueprint = Blueprint("api_recipes", __name__, url_prefix="/api/v1")


@blueprint.get("/recipes")
@describe(HTTP_200=(Recipes, "All recipes"))
def recipes() -> Response:
    """List the recipes: which of them can run here, and why others cannot."""
    return answer(listed_recipes())
