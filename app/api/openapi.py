"""The description of every route, as OpenAPI 3.1: spectree makes it from the views and the models.

The first paragraph of a view's docstring is its summary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from pydantic import BaseModel
from spectree import Response, SpecTree

from app.api.models import Error
from retrieval.recipes.recipes import Recipe, names_of

Answer: TypeAlias = tuple[type[BaseModel] | None, str]

_ANYWHERE: dict[str, Answer] = {
    "HTTP_421": (Error, "The server does not accept this host name or address (TRUSTED_HOSTS)"),
    "HTTP_503": (Error, "The database or the queue cannot be used"),
}
_OF_JSON: dict[str, Answer] = {
    "HTTP_400": (Error, "Malformed JSON"),
    "HTTP_403": (Error, "From another site, or not allowed"),
    "HTTP_413": (Error, "Too large"),
    "HTTP_415": (Error, "Not JSON"),
}
_OF_FORM: dict[str, Answer] = {
    "HTTP_403": (None, "From another site, or not allowed"),
    "HTTP_413": (None, "Too large"),
}
# Of a form that is shown again, with what is wrong and all that was typed.
SHOWN_AGAIN: dict[str, Any] = {
    "HTTP_404": (None, "The form again: no such corpus"),
    "HTTP_415": (None, "Not a form"),
    "HTTP_422": (None, "The form again, with what is wrong"),
    "HTTP_429": (None, "The form again: too many claims; Retry-After is when to come back"),
}
description = SpecTree(
    "flask",
    title="ESOTERIC",
    version="1",
    description="Finds sentences that support or refute a claim, and gives a verdict.",
    annotations=False,
    naming_strategy=lambda model: model.__name__,
    nested_naming_strategy=lambda parent, child: child,
    # Spectree adds an answer with this status to every route; 503 is described above already.
    validation_error_status=503,
)


def document(recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    """Return the description of all routes, with the names of the recipes that are known here."""
    described = description.spec
    components = described["components"]
    # A copy of all would take longer than the rest of the application's start.
    own = {name: deepcopy(components["schemas"][name]) for name in ("Submission", "ComparisonForm")}
    own["Submission"]["properties"]["recipe"]["enum"] = [*names_of(recipes), None]
    own["ComparisonForm"]["properties"]["recipe"]["items"]["enum"] = list(recipes)
    return {**described, "components": {**components, "schemas": components["schemas"] | own}}


def describe(
    *,
    query: type[BaseModel] | None = None,
    json: type[BaseModel] | None = None,
    form: type[BaseModel] | None = None,
    **answers: Answer,
) -> Callable[..., Any]:
    """Describe the input of a view, and its answers by status (``HTTP_200``).

    Answers that all bodies of a kind have in common are added. The views themselves read the
    requests and answer wrong ones with an error.
    """
    common = _OF_JSON if json else _OF_FORM if form else {}
    return description.validate(
        query=query,
        json=json,
        form=form,
        resp=Response(**_ANYWHERE | common | answers),
        skip_validation=True,
    )
